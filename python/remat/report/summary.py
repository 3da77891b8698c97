# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report says in short: sentences and numbers."""

from __future__ import annotations

from remat.report.report import FunctionReport, Report
from remat.units import format_bytes, format_picoseconds

#: What adds the charts to a report.
DETAILS = (
    "'report-details=true' of the pass, 'remat optimize --details' and "
    "'remat.optimize(..., details=True)' add it"
)


def percent(part: float) -> str:
    """A part of the cost; small ones keep two digits that say something."""
    value = 100 * part
    return f"{value:.2g} %" if 0 < abs(value) < 0.1 else f"{value:.2f} %"


def headline(function: FunctionReport) -> str:
    """The outcome in a sentence."""
    if function.status == "skipped":
        return f"Was not planned: {function.json.get('reason', 'no reason is given')}."
    before, after = function.baseline_packed_bytes, function.packed_bytes
    budget = function.budget_bytes
    if function.status == "unchanged":
        if budget is None:
            return f"Needs {format_bytes(before)}. There was no budget."
        return f"Fits into {format_bytes(budget)} as it is: it needs {format_bytes(before)}."
    if function.status == "infeasible":
        limit = "the limit" if budget is None else format_bytes(budget)
        return (
            f"Does not fit into {limit}: the smallest plan that is known needs "
            f"{format_bytes(function.minimum_known_bytes)}."
        )
    goal = "Needs less" if budget is None else f"Fits into {format_bytes(budget)}"
    return (
        f"{goal}: the peak falls from {format_bytes(before)} to {format_bytes(after)} for "
        f"{percent(function.overhead)} more work."
    )


def xla_sentence(report: Report) -> str | None:
    """What XLA says of a function of JAX and of its budget; None for reports of other origin."""
    xla = report.json.get("xla")
    if xla is None:
        return None
    budget, before, after = (
        xla["budget_bytes"], xla["baseline"]["total_bytes"], xla["chosen"]["total_bytes"]
    )
    verdict = "fits into" if after <= budget else "is above"
    return (
        f"XLA reports {format_bytes(after)}, which {verdict} the budget of "
        f"{format_bytes(budget)}; the unchanged program takes {format_bytes(before)}."
    )


def facts(function: FunctionReport) -> list[tuple[str, str, str]]:
    """Name, value and remark of the headline numbers."""
    before, after = function.baseline_packed_bytes, function.packed_bytes
    budget = function.budget_bytes
    fell = f", {100 * (1 - after / before):.1f} % less" if before > after else ""
    peak = "promised peak" if function.status == "met" else "peak"
    if function.status == "infeasible":
        peak = "smallest plan known"
    bound = function.overhead_lower_bound
    least = "; no plan fits" if bound is None else ""
    if bound:
        least = f"; no plan adds less than {percent(bound)}"
    found = [
        ("budget", "none" if budget is None else format_bytes(budget), _exact(budget)),
        (peak, format_bytes(after), f"before: {format_bytes(before)}{fell}"),
        (
            "more work",
            percent(function.overhead),
            f"{format_picoseconds(function.added_cost_ps)} of "
            f"{format_picoseconds(function.cost_ps)}{least}",
        ),
        (
            "smallest budget known to work",
            format_bytes(function.minimum_known_bytes),
            f"no plan needs less than {format_bytes(function.working_set_bytes)}",
        ),
    ]
    fusion = function.json.get("fusion")
    if fusion is not None:
        found.append(("fusion model", fusion, "what is assumed to take no memory"))
    return found


def _exact(budget: int | None) -> str:
    return "" if budget is None else f"{budget:,} bytes".replace(",", "\u202f")


def obstacles(function: FunctionReport) -> list[str]:
    """Of what does not fit: what stands in the way."""
    needed, budget = function.working_set_bytes, function.budget_bytes
    place = function.peak_operation
    lines = []
    if budget is not None and needed > budget:
        lines.append(
            f"No plan can need less than {format_bytes(needed)}: the arguments, the constants, and "
            f"the most that one operation needs beside them. That is "
            f"{format_bytes(needed - budget)} more than the budget."
        )
    elif function.overhead_lower_bound is None:
        lines.append("It is proved that no plan fits.")
    else:
        lines.append(
            f"No plan was found, and it is not proved that there is none: the least that could "
            f"do is {format_bytes(needed)}."
        )
    if budget is not None and function.minimum_known_bytes > budget:
        lines.append(
            f"The smallest plan that is known needs "
            f"{format_bytes(function.minimum_known_bytes - budget)} more than the budget. "
            "All below describes this plan."
        )
    lines.append(
        f"The arguments take {format_bytes(function.argument_bytes)}, the results "
        f"{format_bytes(function.result_bytes)}, constants {format_bytes(function.constant_bytes)}."
    )
    if place is not None:
        lines.append(f"The peak is at '{place.name}' (operation {place.index}, {place.location}).")
    return lines
