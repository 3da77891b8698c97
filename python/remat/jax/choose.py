# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chooses the program that keeps a budget: the function as it is, or the cheapest plan that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping

import remat
from remat.errors import InfeasibleError
from remat.jax.calibrate import MAX_COMPILES, Point, Round, best_round, calibrate
from remat.jax.memory import Memory
from remat.progress import ProgressBar
from remat.report import Report
from remat.units import Budget, format_bytes, resolve_budget


@dataclass(frozen=True)
class Choice:
    """A program: the text of a module, or None for the function as it is."""

    text: str | None
    report: Report | None = None


#: The function as it is.
UNCHANGED = Choice(None)


@dataclass(frozen=True)
class Settings:
    """How functions are planned. `options` are those of `remat.optimize`."""

    budget: Budget
    calibrate: bool
    progress: bool | None
    options: Mapping[str, Any]


def choose_by_model(text: str, settings: Settings) -> Choice:
    """Plans without a compiler: the budget is one of the model's bytes."""
    result = remat.optimize(text, settings.budget, **settings.options)
    unchanged = all(each.status in ("unchanged", "skipped") for each in result.report.functions)
    return Choice(None if unchanged else result.text, result.report)


def choose_by_measuring(
    name: str, text: str, settings: Settings, measure: Callable[[Choice], Memory]
) -> Choice:
    """Plans until `measure`, which compiles a choice, says that it is within the budget."""
    with ProgressBar(f"rematerialize {name}", settings.progress) as bar:
        compiled: list[Memory] = []

        def compile_and_measure(choice: Choice) -> Memory:
            bar.update(len(compiled), MAX_COMPILES + 1, "compiling")
            compiled.append(measure(choice))
            return compiled[-1]

        return _choose(name, text, settings, compile_and_measure)


def _choose(
    name: str, text: str, settings: Settings, measure: Callable[[Choice], Memory]
) -> Choice:
    baseline = measure(UNCHANGED)
    budget = resolve_budget(settings.budget, baseline.total_bytes)
    as_it_is = remat.optimize(text, None, **settings.options).report
    if baseline.total_bytes <= budget:
        return Choice(None, _report(as_it_is, budget, baseline, baseline, []))
    candidates: dict[int, Choice] = {}
    measured: dict[str | None, Memory] = {None: baseline}

    def measure_target(target: int) -> Round:
        choice = choose_by_model(
            text, Settings(target, False, settings.progress, settings.options)
        )
        assert choice.report is not None
        known = choice.text in measured
        if not known:
            measured[choice.text] = measure(choice)
        candidates[target] = choice
        function = choice.report.function("main")
        return Round(
            target_bytes=target,
            predicted_bytes=function.packed_bytes,
            xla_bytes=measured[choice.text].total_bytes,
            overhead=function.overhead,
            # Some plans are smaller than what the planner promises for every budget.
            minimum_bytes=min(function.minimum_known_bytes, function.packed_bytes),
            compiled=not known,
        )

    rounds = calibrate(
        budget,
        measure_target,
        unchanged=Point(as_it_is.function("main").packed_bytes, baseline.total_bytes),
        fixed_bytes=baseline.fixed_bytes,
    )
    best = best_round(budget, rounds)
    chosen = best or min(rounds, key=lambda each: each.xla_bytes)
    choice = candidates[chosen.target_bytes]
    assert choice.report is not None
    report = _report(choice.report, budget, baseline, measured[choice.text], rounds)
    if best is None:
        smallest = min(chosen.xla_bytes, baseline.total_bytes)
        raise InfeasibleError(
            f"'{name}' does not fit into the budget of {budget} bytes ({format_bytes(budget)}): the least "
            f"that XLA reported is {smallest} bytes ({format_bytes(smallest)}), of which arguments and "
            f"results take {baseline.fixed_bytes} bytes; unchanged it takes {baseline.total_bytes} bytes",
            report=report,
            minimum_bytes=smallest,
            budget_bytes=budget,
        )
    return Choice(choice.text, report)


def _report(
    planned: Report, budget: int, baseline: Memory, chosen: Memory, rounds: list[Round]
) -> Report:
    """The report of a plan, with what XLA said. Its keys are in docs/report.md."""
    return Report(
        {
            **planned.json,
            "xla": {
                "baseline": baseline.json(),
                "budget_bytes": budget,
                "chosen": chosen.json(),
            },
            "calibration": [vars(each) for each in rounds],
        }
    )
