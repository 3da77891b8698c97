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
#: What a corrected target aims at: in the middle of what is accepted.
_AIM = 0.975
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
    # Not too close to what is known already.
    part = min(max(part, 0.1), 0.9)
    return low.model_bytes + part * (high.model_bytes - low.model_bytes)


def _next_target(budget: int, rounds: list[Round], unchanged: Point, fixed: Point) -> int:
    fitting = [each for each in rounds if each.xla_bytes <= budget]
    low = fixed
    if fitting:
        loosest = max(fitting, key=lambda each: each.target_bytes)
        low = Point(loosest.target_bytes, loosest.xla_bytes)
    # Where some target fits, a smaller one that does not says nothing about larger ones.
    missing = [
        each
        for each in rounds
        if each.xla_bytes > budget and (not fitting or each.target_bytes > low.model_bytes)
    ]
    high = unchanged
    if missing:
        tightest = min(missing, key=lambda each: each.target_bytes)
        high = Point(tightest.target_bytes, tightest.xla_bytes)
    return int(_between(low, high, _AIM * budget))


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
