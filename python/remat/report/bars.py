# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chart of the sizes that matter, below each other, and the budget across them."""

from __future__ import annotations

from remat.report.palette import color, css_class, in_order
from remat.report.report import FunctionReport
from remat.report.scale import Scale
from remat.report.svg import ACCENT, INK, MUTED, element, label, line
from remat.units import format_bytes

WIDTH = 600
_LEFT, _RIGHT, _ROW, _BAR = 128, 70, 27, 15


def _rows(function: FunctionReport) -> list[tuple[str, int]]:
    planned = "smallest known" if function.status == "infeasible" else "after"
    rows = [("before", function.baseline_packed_bytes)]
    if function.status != "unchanged":
        rows.append((planned, function.packed_bytes))
    if function.status == "met":
        rows.append(("smallest known", function.minimum_known_bytes))
    rows.append(("no plan below", function.working_set_bytes))
    return rows


def describe(function: FunctionReport) -> str:
    """The chart in words."""
    rows = ", ".join(f"{name} {format_bytes(size)}" for name, size in _rows(function))
    budget = function.budget_bytes
    return rows if budget is None else f"{rows}; budget {format_bytes(budget)}"


def bars_chart(function: FunctionReport) -> tuple[float, str]:
    """The height, and what is drawn. The plan is divided into its categories."""
    rows = _rows(function)
    budget = function.budget_bytes
    scale = Scale(max([size for _, size in rows] + [budget or 0]), _LEFT, WIDTH - _RIGHT)
    top = 18 if budget is not None else 2
    parts, names = [], []
    for place, (name, size) in enumerate(rows):
        y = top + place * _ROW + (_ROW - _BAR) / 2
        planned = size == function.packed_bytes and place == (function.status != "unchanged")
        names.append(label(_LEFT - 10, y + 12, name, anchor="end"))
        sizes = function.categories_at_peak if planned else {}
        left = scale(0)
        for category in in_order(sizes):
            width = scale(sizes[category]) - scale(0)
            parts.append(
                element("rect", x=left, y=y, width=width, height=_BAR, fill=color(category),
                        class_=f"mark {css_class(category)}")
            )
            left += width
        if scale(size) > left:
            parts.append(
                element("rect", x=left, y=y, width=scale(size) - left, height=_BAR, fill=MUTED,
                        opacity=0.45, class_="bar")
            )
        names.append(
            label(scale(size) + 7, y + 12, format_bytes(size), fill=INK, kind="ink halo",
                  weight="600")
        )
    height = top + len(rows) * _ROW + 2
    if budget is not None:
        x = scale(budget)
        right = x > (scale.start + scale.end) / 2
        parts.append(
            line(x, top - 2, x, height, "limit", ACCENT, stroke_dasharray="5 4", stroke_width="1.5")
        )
        parts.append(
            label(x, 11, f"budget {format_bytes(budget)}", anchor="end" if right else "start",
                  fill=ACCENT, kind="limit-name")
        )
    return height, "".join(parts + names)
