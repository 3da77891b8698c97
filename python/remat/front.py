# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What smaller peaks cost, of a problem or of a function in MLIR."""

from __future__ import annotations

import os
from typing import Any, Mapping

from remat.errors import InvalidInputError
from remat.optimize import Source, is_text, optimize
from remat.planner import Problem, ProblemSource, solve_front
from remat.report import FrontPoint


def _is_problem(source: ProblemSource | Source) -> bool:
    if isinstance(source, (Problem, Mapping)):
        return True
    if isinstance(source, str) and is_text(source):
        return source.lstrip().startswith("{")
    with open(source, "rb") as file:
        start = file.read(1 << 16).lstrip()
    return start.startswith((b"{", b"\x1f\x8b"))


def pareto(
    source: ProblemSource | Source, points: int | None = None, **options: Any
) -> list[FrontPoint]:
    """Peaks in falling order, and what each costs at least, as far as the planner knows.

    `source` is a problem, with the options of `remat.planner.solve_front`; or MLIR, with those of
    `remat.optimize`, whose pass chooses the points. Of a module with several functions,
    `optimize(..., pareto=True).pareto` has the points of each.
    """
    if _is_problem(source):
        answers = solve_front(source, points, **options)
        return [FrontPoint(each.peak_bytes, each.added_cost_ps, each.overhead) for each in answers]
    if points is not None:
        raise InvalidInputError("'points' is an option for problems; the pass chooses its own")
    assert isinstance(source, (str, os.PathLike))
    fronts = optimize(source, pareto=True, **options).pareto
    if len(fronts) != 1:
        names = ", ".join(f"'{name}'" for name in fronts)
        raise InvalidInputError(
            f"expected one function to plan, but got {names or 'none'}; "
            "'optimize(..., pareto=True).pareto' has the points of each"
        )
    return next(iter(fronts.values()))
