# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as text."""

from __future__ import annotations

from remat.report.report import FunctionReport, Report
from remat.report.summary import xla_sentence
from remat.units import format_bytes, format_picoseconds


def _function_to_text(function: FunctionReport, limit: int) -> list[str]:
    lines = [str(function)]
    if function.status == "skipped":
        return lines
    place = function.peak_operation
    at = f" is at '{place.name}' (operation {place.index})" if place else ""
    lines.append(f"  the peak of {format_bytes(function.packed_bytes)}{at}, where these are live:")
    for value in function.live_at_peak[:limit]:
        lines.append(
            f"  {format_bytes(value.bytes):>9}  {value.category:<15}  {value.producer:<24}  "
            f"{value.reason}"
        )
    rest = function.live_at_peak[limit:]
    if rest:
        size = format_bytes(sum(value.bytes for value in rest))
        lines.append(f"  {size:>9}  in {len(rest)} others")
    if function.recomputed:
        lines.append("  recomputed:")
    rows: dict[str, tuple[int, int, int]] = {}
    for each in function.recomputed:
        clones, size_sum, cost = rows.get(each.producer, (0, 0, 0))
        rows[each.producer] = (
            clones + each.clones,
            size_sum + each.clones * each.bytes,
            cost + each.cost_ps,
        )
    # The largest first; equal ones in the order of the input.
    for producer, (clones, size_sum, cost) in sorted(rows.items(), key=lambda row: -row[1][1]):
        lines.append(
            f"  {format_bytes(size_sum):>9}  {clones:>5} x  {producer:<24}  "
            f"{format_picoseconds(cost)}"
        )
    return lines


def to_text(report: Report, limit: int = 16) -> str:
    """The functions of a report: what is live at the peak, at most `limit` rows, and what is recomputed,
    summed up by the names of operations. XLA's figures come first."""
    sentence = xla_sentence(report)
    lines = [sentence] if sentence else []
    lines += [line for each in report.functions for line in _function_to_text(each, limit)]
    return "".join(line.rstrip() + "\n" for line in lines)
