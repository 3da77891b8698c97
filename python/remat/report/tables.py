# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from remat.report.front import FrontPoint
from remat.report.palette import css_class, in_order, label
from remat.report.report import FunctionReport
from remat.report.series import live_bytes
from remat.report.summary import percent
from remat.report.svg import element, escape
from remat.report.timeline import sample
from remat.units import format_bytes, format_picoseconds

#: Rows that are shown at once, and rows that are shown at all; the rest is summed up.
FIRST, MOST = 12, 150
# Names with more characters are broken into lines.
_LONG = 36


@dataclass(frozen=True)
class Column:
    name: str
    #: Numbers are on the right.
    number: bool = False
    #: "text" for sentences, which take several lines.
    kind: str | None = None


def common_folder(locations: Iterable[str]) -> str:
    """The folder that all locations with a path are in, with its slash at the end."""
    paths = [each for each in locations if "/" in each]
    if not paths:
        return ""
    prefix = os.path.commonprefix([min(paths), max(paths)])
    return prefix[: prefix.rfind("/") + 1]


def _rows(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    return "".join(
        element(
            "tr",
            *(
                element("td", cell or " ", class_="n" if column.number else column.kind)
                for column, cell in zip(columns, row)
            ),
        )
        for row in rows
    )


def table(
    caption: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], rest: str = ""
) -> str:
    """A table of cells that are markup. What is more than `FIRST` rows opens on demand; `rest` says
    what is left out."""
    head = element(
        "thead",
        element(
            "tr",
            *(
                element("th", escape(each.name), scope="col", class_="n" if each.number else None)
                for each in columns
            ),
        ),
    )

    def whole(part: Sequence[Sequence[str]], name: str) -> str:
        inner = element("caption", escape(name), class_="unseen") + head
        return element(
            "div",
            element("table", inner, element("tbody", _rows(columns, part))),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label=name,
        )

    text = whole(rows[:FIRST], caption)
    if len(rows) > FIRST:
        more = rows[FIRST:]
        name = f"{len(more)} more"
        text += element(
            "details", element("summary", escape(name)), whole(more, f"{caption}, {name}")
        )
    return text + (element("p", escape(rest), class_="rest") if rest else "")


def swatch(category: str) -> str:
    """A category with its colour."""
    if not category:
        return ""
    dot = element("i", " ", class_=f"swatch {css_class(category)}")
    return element("span", dot, escape(label(category)), class_="category")


def code(text: str) -> str:
    """A name from a program."""
    if not text:
        return ""
    return element("code", escape(text), class_="long" if len(text) > _LONG else None)


def _bar(size: int, most: int) -> str:
    width = f"{100 * size / most:.1f}%" if most else "0"
    return escape(format_bytes(size)) + element(
        "i", " ", class_="length", style=f"width:{width}", aria_hidden="true"
    )


def _rest(left_out: Sequence[int], what: str) -> str:
    if not left_out:
        return ""
    return f"{len(left_out)} smaller {what} are not listed: {format_bytes(sum(left_out))}."


def live_table(function: FunctionReport, folder: str) -> str:
    """What is live at the peak, and why it stays."""
    values = function.live_at_peak
    most = max([each.bytes for each in values], default=0)
    rows = [
        [
            _bar(each.bytes, most),
            swatch(each.category),
            code(each.value),
            code(each.producer),
            escape(each.reason),
            code(each.location.removeprefix(folder)),
        ]
        for each in values[:MOST]
    ]
    columns = [Column("bytes", True), Column("category"), Column("value"), Column("made by")]
    columns += [Column("why it is live", kind="text"), Column("location")]
    rest = _rest([each.bytes for each in values[MOST:]], "values")
    return table("What is live at the peak", columns, rows, rest)


def recomputed_table(function: FunctionReport, folder: str) -> str:
    """What is executed again, the most expensive first."""
    found = sorted(function.recomputed, key=lambda each: -each.cost_ps)
    rows = [
        [
            code(each.producer),
            str(each.clones),
            format_bytes(each.bytes),
            format_picoseconds(each.cost_ps),
            percent(each.cost_ps / function.cost_ps) if function.cost_ps else "",
            code(each.location.removeprefix(folder)),
        ]
        for each in found[:MOST]
    ]
    columns = [
        Column("operation"),
        Column("times", True),
        Column("bytes each", True),
        Column("cost", True),
        Column("more work", True),
        Column("location"),
    ]
    left = found[MOST:]
    rest = ""
    if left:
        cost = format_picoseconds(sum(each.cost_ps for each in left))
        rest = f"{len(left)} cheaper ones are not listed: {cost}."
    return table("What is recomputed", columns, rows, rest)


def moved_table(function: FunctionReport, folder: str) -> str:
    """What is executed later than in the input."""
    rows = [
        [
            code(each.operation),
            str(each.json["from"]),
            str(each.before),
            code(each.location.removeprefix(folder)),
        ]
        for each in function.moved[:MOST]
    ]
    columns = [
        Column("operation"),
        Column("from position", True),
        Column("to before", True),
        Column("location"),
    ]
    left = len(function.moved) - len(rows)
    return table("What is moved", columns, rows, f"{left} more are not listed." if left else "")


def timeline_table(timeline: Mapping[str, Any], when: str) -> str:
    """The chart of memory over time in numbers."""
    sizes = live_bytes(timeline)
    categories = in_order(timeline["bytes"])
    columns = [Column("step", True), Column("live", True)]
    columns += [Column(label(each), True) for each in categories]
    rows = [
        [str(timeline["steps"][index]), format_bytes(sizes[index])]
        + [format_bytes(timeline["bytes"][each][index]) for each in categories]
        for index in sample(timeline, FIRST - 2)
    ]
    return table(f"Memory over time {when}", columns, rows)


def arena_table(arena: Mapping[str, Any], when: str) -> str:
    """The largest buffers of the map of the arena."""
    placed = [each for each in arena["storages"] if each["offset"] is not None]
    placed.sort(key=lambda each: -each["bytes"])
    columns = [Column("bytes", True), Column("offset", True), Column("steps", True)]
    columns += [Column("category"), Column("value"), Column("made by")]
    rows = [
        [
            format_bytes(each["bytes"]),
            format_bytes(each["offset"]),
            f"{each['begin']}–{each['end']}",
            swatch(each["category"]),
            code(each["value"]),
            code(each["producer"]) + (" again" if each["recomputed"] else ""),
        ]
        for each in placed[:FIRST]
    ]
    rest = _rest([each["bytes"] for each in placed[FIRST:]], "buffers")
    return table(f"Largest buffers {when}", columns, rows, rest)


def front_table(points: Sequence[FrontPoint]) -> str:
    """The points of a front."""
    rows = [
        [
            format_bytes(each.peak_bytes),
            percent(each.overhead),
            format_picoseconds(each.added_cost_ps),
        ]
        for each in points[:MOST]
    ]
    columns = [Column("peak", True), Column("more work", True), Column("added cost", True)]
    return table("What smaller peaks cost", columns, rows)


def calibration_table(rounds: Sequence[Mapping[str, Any]], budget: int | None) -> str:
    """What was tried until XLA's figure was right."""
    rows = []
    for place, each in enumerate(rounds, 1):
        size = each["xla_bytes"]
        verdict = "" if budget is None else "fits" if size <= budget else "too large"
        if not each.get("compiled", True):
            verdict += ", same program as before"
        rows.append(
            [
                str(place),
                format_bytes(each["target_bytes"]),
                format_bytes(each["predicted_bytes"]),
                format_bytes(size),
                percent(each["overhead"]),
                verdict.removeprefix(", "),
            ]
        )
    columns = [Column("plan", True)]
    columns += [Column(name, True) for name in ("internal target", "predicted", "XLA", "more work")]
    return table("Calibration", [*columns, Column("")], rows)


def functions_table(functions: Sequence[FunctionReport]) -> str:
    """An overview of several functions; each links to its part of the page."""
    rows = []
    for place, each in enumerate(functions):
        row = [element("a", escape(each.name), href=f"#function-{place}"), badge(each.status)]
        if each.status == "skipped":
            row += 4 * [""]
        else:
            budget = each.budget_bytes
            row += [
                "" if budget is None else format_bytes(budget),
                format_bytes(each.baseline_packed_bytes),
                format_bytes(each.packed_bytes),
                percent(each.overhead),
            ]
        rows.append(row)
    columns = [Column("function"), Column("status")]
    columns += [Column(name, True) for name in ("budget", "before", "after", "more work")]
    return table("Functions", columns, rows)


def badge(status: str) -> str:
    """The status as a word with a colour."""
    return element("span", escape(status), class_=f"badge {status}")
