# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory over time, before and after, as an SVG for slides, without style sheet and script."""

from __future__ import annotations

from remat.errors import InvalidInputError
from remat.report import timeline
from remat.report.check import check_report
from remat.report.palette import color, in_order, label as category_label
from remat.report.report import FunctionReport, Report
from remat.report.series import elide, peak_bytes
from remat.report.summary import DETAILS, headline
from remat.report.svg import GROUND, INK, drawing, element, label
from remat.units import format_bytes

_WIDTH, _MARGIN, _HEAD, _LEGEND = 1280, 30, 96, 40
_HEIGHT = _HEAD + timeline.HEIGHT + _LEGEND + _MARGIN


def _moved(x: float, y: float, *content: str) -> str:
    place = f"translate({x:g} {y:g})"
    return element("g", *content, transform=place)


def _legend(categories: list[str]) -> str:
    parts, x = [], 0.0
    for category in categories:
        name = elide(category_label(category), 24)
        parts.append(element("rect", x=x, y=0, width=12, height=12, rx=2, fill=color(category)))
        parts.append(label(x + 18, 11, name, fill=INK, size=13))
        x += 18 + 7.3 * len(name) + 22
    return "".join(parts)


def _function(function: FunctionReport) -> str:
    pair = {when: function.timeline[when] for when in ("before", "after")}
    budget = function.budget_bytes
    most = max([peak_bytes(each) for each in pair.values()] + [budget or 0])
    max_bytes = most + most // 12
    parts = [
        element("rect", width=_WIDTH, height=_HEIGHT, fill=GROUND),
        label(_MARGIN, 36, elide(function.name, 80), fill=INK, size=22, weight="600"),
        label(_MARGIN, 60, headline(function), size=15),
    ]
    for place, (when, series) in enumerate(pair.items()):
        x = 20 + place * (timeline.WIDTH + 30)
        title = f"{when}: {format_bytes(peak_bytes(series))} live, {series['num_steps']} steps"
        chart = timeline.timeline_chart(series, max_bytes, budget)[1]
        parts.append(
            _moved(x, _HEAD, label(66, 2, title, fill=INK, size=13, weight="600"), chart)
        )
    categories = in_order({name for series in pair.values() for name in series["bytes"]})
    parts.append(_moved(_MARGIN + 46, _HEAD + timeline.HEIGHT + 18, _legend(categories)))
    return "".join(parts)


def to_svg(report: Report) -> str:
    """The functions that have a timeline, below each other."""
    check_report(report.json)
    functions = [each for each in report.functions if "timeline" in each.json]
    if not functions:
        raise InvalidInputError(f"memory over time is not in the report; {DETAILS}")
    height = _HEIGHT * len(functions)
    name = " ".join(f"{each.name}: {headline(each)}" for each in functions)
    drawn = [_moved(0, place * _HEIGHT, _function(each)) for place, each in enumerate(functions)]
    return drawing(_WIDTH, height, name, *drawn, fixed=True) + "\n"
