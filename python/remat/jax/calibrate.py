# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the internal target of the planner with which XLA's own figure keeps a budget.

The planner counts bytes by its model of XLA, XLA reports its own. `calibrate` knows neither: it asks
a function that plans for a target, compiles, and says what came out. It does not assume that a smaller
target gives a smaller figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from remat.errors import InfeasibleError

#: Programs that are compiled at most.
MAX_COMPILES = 4
#: A plan that costs something should use this part of the budget.
ENOUGH_USED = 0.95
# What a corrected target aims at, a part of the budget: in the middle of what is accepted, and lower with
# each miss, because XLA's figure is not smooth.
_AIM = 0.975
_AIM_STEP = 0.05
# How far a target is from those that were tried, a part of the gap between them.
_MARGIN = 0.1
# Targets that lead to a program that is known cost a plan, but no compilation.
_MAX_PLANS = 3 * MAX_COMPILES


@dataclass(frozen=True)
class Round:
    """What a target has led to. Sizes are bytes, `overhead` is a part of the unchanged cost.

    `minimum_bytes` is the smallest target that is known to be feasible. `compiled` is False where an
    earlier round had the same program.
    """

    target_bytes: int
    predicted_bytes: int
    xla_bytes: int
    overhead: float
    minimum_bytes: int
    compiled: bool = True


@dataclass(frozen=True)
class Point:
    """A program: what the model counts, and what XLA reports."""

    model_bytes: float
    xla_bytes: float


def _between(low: Point, high: Point, aim: float) -> float:
    """The target between two programs that leads to `aim`, if XLA's figure were linear."""
    if high.xla_bytes <= low.xla_bytes:
        part = 0.5
    else:
        part = (aim - low.xla_bytes) / (high.xla_bytes - low.xla_bytes)
    return low.model_bytes + part * (high.model_bytes - low.model_bytes)


def _points(rounds: list[Round]) -> list[Point]:
    return [Point(each.target_bytes, each.xla_bytes) for each in rounds]


def _next_target(budget: int, rounds: list[Round], unchanged: Point, fixed: Point) -> int:
    """A target between the loosest that fits and the tightest above it that does not."""
    fitting = sorted(
        _points([each for each in rounds if each.xla_bytes <= budget]),
        key=lambda each: -each.model_bytes,
    )
    # Where some target fits, a smaller one that does not says nothing about larger ones.
    missing = sorted(
        _points([each for each in rounds if each.xla_bytes > budget]),
        key=lambda each: each.model_bytes,
    )
    if fitting:
        missing = [each for each in missing if each.model_bytes > fitting[0].model_bytes]
    low = fitting[0] if fitting else fixed
    high = missing[0] if missing else unchanged
    aim = (_AIM - _AIM_STEP * max(len(missing) - 1, 0)) * budget
    target = _between(low, high, aim)
    # Two rounds on one side say more of what is near than the ends do: who is too careful goes further.
    if len(fitting) > 1 and not missing:
        target = max(target, _between(fitting[1], fitting[0], aim))
    if len(missing) > 1 and not fitting:
        target = min(target, _between(missing[0], missing[1], aim))
    # Not too close to what is known already.
    margin = _MARGIN * (high.model_bytes - low.model_bytes)
    return int(min(max(target, low.model_bytes + margin), high.model_bytes - margin))


def best_round(budget: int, rounds: list[Round]) -> Round | None:
    """The cheapest round within the budget; among equals, the one with the smallest figure."""
    fitting = [each for each in rounds if each.xla_bytes <= budget]
    return min(fitting, key=lambda each: (each.overhead, each.xla_bytes), default=None)


def calibrate(
    budget: int,
    measure: Callable[[int], Round],
    *,
    unchanged: Point,
    fixed_bytes: int,
    max_compiles: int = MAX_COMPILES,
) -> list[Round]:
    """All rounds that were needed; `best_round` is the one to use.

    `measure(target)` plans and compiles; it raises InfeasibleError where the planner knows no plan
    within the target. `unchanged` is the program as it is, which is above the budget. `fixed_bytes` is
    what no plan changes: arguments and results.
    """
    fixed = Point(fixed_bytes, fixed_bytes)
    rounds: list[Round] = []
    compiles = 0
    target = max(int(_between(fixed, unchanged, budget)), 1)
    smallest = 0
    for _ in range(_MAX_PLANS):
        if any(each.target_bytes == target for each in rounds):
            break
        try:
            latest = measure(target)
        except InfeasibleError as error:
            if error.minimum_bytes <= target:
                raise
            smallest = target = error.minimum_bytes
            continue
        rounds.append(latest)
        smallest = max(smallest, latest.minimum_bytes)
        compiles += latest.compiled
        if compiles == max_compiles:
            break
        best = best_round(budget, rounds)
        if best and (best.overhead == 0 or best.xla_bytes >= ENOUGH_USED * budget):
            break
        target = max(_next_target(budget, rounds, unchanged, fixed), smallest)
        if not best and compiles == max_compiles - 1:
            # The last chance: what the planner can do at most.
            target = smallest
    return rounds
