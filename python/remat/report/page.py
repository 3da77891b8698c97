# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as a page: one file that needs nothing else, with and without its script.

The page forbids itself all network requests, and all scripts but its own.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Mapping, Sequence

from remat.errors import InvalidInputError
from remat.report import arena, bars, front, style, tables, timeline
from remat.report.check import check_report
from remat.report.data import chart_data, script_data
from remat.report.front import FrontPoint, Fronts
from remat.report.palette import css_class, in_order, label
from remat.report.report import FunctionReport, Report
from remat.report.series import elide, peak_bytes
from remat.report.summary import DETAILS, facts, headline, obstacles, xla_sentence
from remat.report.svg import drawing, element, escape
from remat.units import format_bytes

_WHEN = ("before", "after")

_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="remat">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main class="remat">
{content}
</main>
<script>{script}</script>
</body>
</html>
"""


def legend(categories: Sequence[str], sizes: Mapping[str, int]) -> str:
    """The colours of categories, and their bytes at the peak."""
    items = []
    for category in categories:
        size = f" {format_bytes(sizes[category])}" if category in sizes else ""
        dot = element("i", " ", class_=f"swatch {css_class(category)}")
        items.append(element("li", dot, escape(label(category) + size)))
    return element("ul", *items, class_="legend", aria_label="Colours")


def _card(title: str, *content: str, kind: str = "card") -> str:
    return element("section", element("h3", escape(title)), *content, class_=kind) + "\n"


def _note(text: str) -> str:
    return element("p", escape(text), class_="note")


def figure(caption: str, remark: str, drawn: str, *below: str) -> str:
    """A chart with its caption."""
    remark = element("span", escape(remark))
    return element("figure", element("figcaption", escape(caption + " "), remark), drawn, *below)


def _behind(*content: str) -> str:
    return element("details", element("summary", "As a table"), *content)


def bars_figure(function: FunctionReport) -> str:
    """The sizes that matter."""
    height, drawn = bars.bars_chart(function)
    return drawing(bars.WIDTH, height, bars.describe(function), drawn)


def timeline_figures(function: FunctionReport, tabular: bool) -> str:
    """Memory over time before and after, with tables behind the charts."""
    pair = {when: function.timeline[when] for when in _WHEN}
    budget = function.budget_bytes
    most = max([peak_bytes(each) for each in pair.values()] + [budget or 0])
    figures = []
    for when, series in pair.items():
        frame, drawn = timeline.timeline_chart(series, most + most // 12, budget)
        svg = drawing(
            frame.width,
            frame.height,
            timeline.describe(series, when),
            drawn,
            data_chart="timeline",
            data_when=when,
        )
        remark = f"{format_bytes(peak_bytes(series))} live at the peak, {series['num_steps']} steps"
        below = [_behind(tables.timeline_table(series, when))] if tabular else []
        figures.append(figure(when.capitalize(), remark, svg, *below))
    categories = in_order({name for series in pair.values() for name in series["bytes"]})
    return legend(categories, function.categories_at_peak) + element(
        "div", *figures, class_="pair"
    )


def _arenas(function: FunctionReport) -> dict[str, dict[str, Any]]:
    return {
        when: {
            **function.arena[when],
            "storages": arena.largest(function.arena[when]["storages"], arena.MOST),
        }
        for when in _WHEN
    }


def _arena_figures(function: FunctionReport, pair: Mapping[str, Mapping[str, Any]]) -> str:
    most = max(each["arena_bytes"] for each in pair.values())
    figures = []
    for when, places in pair.items():
        steps = function.timeline[when]["num_steps"]
        frame, drawn = arena.arena_chart(places, steps, most + most // 20)
        size = format_bytes(places["arena_bytes"])
        svg = drawing(
            frame.width,
            frame.height,
            f"Map of the arena {when}: {len(places['storages'])} buffers in {size}",
            drawn,
            data_chart="arena",
            data_when=when,
        )
        table = _behind(tables.arena_table(places, when))
        remark = f"arena of {size}"
        count = len(function.arena[when]["storages"])
        if count > arena.MOST:
            remark += f". The {arena.MOST:,} largest of {count:,} are drawn."
        figures.append(figure(when.capitalize(), remark, svg, table))
    return element("div", *figures, class_="pair")


def _charts(function: FunctionReport, folder: str) -> str:
    if "timeline" not in function.json or "arena" not in function.json:
        return _card(
            "Memory over time and the arena",
            _note(f"The report does not have what these charts are made of; {DETAILS}."),
        )
    pair = _arenas(function)
    boundary = format_bytes(function.arena["after"]["boundary_bytes"])
    data = element(
        "script",
        script_data(chart_data(function.timeline, pair, folder)),
        type="application/json",
        class_="data",
    )
    return (
        _card(
            "Memory over time",
            _note(
                "Live bytes at each step, clones included; sizes beside the colours are those at "
                "the peak of the plan. Point at a chart to see what is live; arrow keys move, too."
            ),
            timeline_figures(function, tabular=True),
        )
        + _card(
            "Map of the arena",
            _note(
                "Each buffer is a rectangle: the steps when it is live, and its offsets. Framed "
                f"ones hold what is recomputed. Arguments and constants ({boundary}) are live "
                "throughout and have no place in the arena."
            ),
            _arena_figures(function, pair),
        )
        + data
    )


def _peak(function: FunctionReport, folder: str) -> str:
    place = function.peak_operation
    where = ""
    if place is not None:
        where = f" The peak is at '{place.name}' (operation {place.index})."
    return _card(
        "What is live at the peak, and why it stays",
        _note(f"Largest first; together {format_bytes(function.packed_bytes)}.{where}"),
        tables.live_table(function, folder),
    )


def _recomputed(function: FunctionReport, folder: str) -> str:
    if not function.recomputed:
        if function.status == "unchanged":
            return ""
        return _card("What is recomputed", _note("Nothing."))
    clones = sum(each.clones for each in function.recomputed)
    return _card(
        "What is recomputed",
        _note(f"Executions added: {clones}. The most expensive are first."),
        tables.recomputed_table(function, folder),
    )


def _moved(function: FunctionReport, folder: str) -> str:
    if not function.moved:
        return ""
    note = _note("Executed once, but later than in the input, where the results are needed.")
    return _card("What is moved", note, tables.moved_table(function, folder))


def _front(function: FunctionReport, points: Sequence[FrontPoint] | None) -> str:
    if not points:
        return ""
    chosen = function.packed_bytes, function.overhead
    drawn = front.front_chart(points, chosen, function.budget_bytes)
    name = (
        f"What smaller peaks cost: {len(points)} plans, from {format_bytes(points[0].peak_bytes)} "
        f"to {format_bytes(points[-1].peak_bytes)}"
    )
    svg = drawing(front.WIDTH, front.HEIGHT, name, drawn)
    return _card(
        "What smaller peaks cost",
        _note("Each point is a plan that was found; the ring is the plan of this page."),
        element("div", svg, class_="bars"),
        _behind(tables.front_table(points)),
    )


def _function(
    function: FunctionReport, place: int, folder: str, points: Sequence[FrontPoint] | None
) -> str:
    name = element("h2", "Function ", element("code", escape(function.name)))
    parts = [
        element("div", name, tables.badge(function.status), class_="function-head"),
        element("p", escape(headline(function)), class_="lead"),
    ]
    if function.status != "skipped":
        numbers = [
            element(
                "div",
                element("dt", escape(name)),
                element(
                    "dd",
                    element("span", escape(value), class_="value"),
                    element("span", escape(remark), class_="remark"),
                ),
            )
            for name, value, remark in facts(function)
        ]
        parts.append(
            element(
                "section",
                element("dl", *numbers, class_="facts"),
                element("div", bars_figure(function), class_="bars"),
                class_="card",
                aria_label="Headline numbers",
            )
        )
        if function.status == "infeasible":
            lines = [element("li", escape(each)) for each in obstacles(function)]
            parts.append(
                _card("What stands in the way", element("ul", *lines), kind="card obstacle")
            )
        parts.append(_charts(function, folder))
        parts.append(_peak(function, folder))
        parts.append(_recomputed(function, folder))
        parts.append(_moved(function, folder))
        parts.append(_front(function, points))
    return element(
        "article", *parts, class_="function", id=f"function-{place}", aria_label=function.name
    )


def _xla(report: Report) -> str:
    """What the front end for JAX adds."""
    xla, rounds = report.json.get("xla"), report.json.get("calibration")
    if xla is None and rounds is None:
        return ""
    budget = xla["budget_bytes"] if xla else None
    fits = xla is None or xla["chosen"]["total_bytes"] <= xla["budget_bytes"]
    sentence = xla_sentence(report)
    lines = [sentence] if sentence else []
    if not rounds:
        lines += ["No plan was needed."] if fits else []
        return _card("XLA's figures", _note(" ".join(lines)))
    lines.append("Each plan was compiled, and XLA's figure corrected the target of the next.")
    return _card(
        "XLA's figures", _note(" ".join(lines)), tables.calibration_table(rounds, budget)
    )


def _locations(functions: Sequence[FunctionReport]) -> list[str]:
    found = []
    for function in functions:
        if function.status == "skipped":
            continue
        for key in ("live_at_peak", "recomputed", "moved"):
            found += [row["location"] for row in function.json[key]]
        for places in function.json.get("arena", {}).values():
            found += [row["location"] for row in places["storages"]]
    return found


def check_fronts(report: Report, fronts: Fronts) -> None:
    """Raises InvalidInputError if these are the fronts of another module."""
    names = {function.name for function in report.functions}
    for name in fronts:
        if name not in names:
            raise InvalidInputError(f"the front of function '{name}' is not one of the report")


def to_html(report: Report, fronts: Fronts | None = None) -> str:
    """The page as text. `fronts` has the Pareto fronts of functions by their names."""
    check_report(report.json)
    fronts = fronts or {}
    check_fronts(report, fronts)
    functions = report.functions
    folder = tables.common_folder(_locations(functions))
    names = [elide(each.name, 60) for each in functions]
    title = f"Memory of '{names[0]}'" if len(names) == 1 else f"Memory of {len(names)} functions"
    parts = [
        element("header", element("h1", "Remat: what fits, and what it costs")),
        _xla(report),
    ]
    if len(functions) > 1:
        parts.append(_card("Functions", tables.functions_table(functions)))
    parts += [
        _function(function, place, folder, fronts.get(function.name))
        for place, function in enumerate(functions)
    ]
    if folder:
        parts.append(element("footer", "Locations are relative to ", tables.code(folder)))
    sheet = (
        style.light(".remat")
        + style.read("page.css")
        + "@media screen and (prefers-color-scheme: dark) {\n"
        + style.dark([".remat"])
        + "}\n"
    )
    script = style.read("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _TEMPLATE.format(
        title=escape(title),
        style=sheet,
        content="\n".join(part for part in parts if part),
        script=script,
        digest=digest,
    )
