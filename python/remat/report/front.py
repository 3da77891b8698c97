# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What smaller peaks cost: the points of a Pareto front, their JSON, and a chart of them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from remat.errors import InvalidInputError
from remat.report import check
from remat.report.frame import round_bytes
from remat.report.scale import Scale, ticks
from remat.report.svg import ACCENT, GRID, GROUND, MUTED, element, escape, label, line
from remat.units import format_bytes

WIDTH, HEIGHT = 600, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 24, 20, 40


@dataclass(frozen=True)
class FrontPoint:
    """A peak in bytes, and the picoseconds and the part of the cost that it takes to reach it."""

    peak_bytes: int
    added_cost_ps: int
    overhead: float


#: The points of functions by their names.
Fronts = Mapping[str, Sequence[FrontPoint]]

_POINT = check.record(
    {"packed_bytes": check.count, "added_cost_ps": check.count, "overhead_percent": check.number}
)
_FRONTS = check.record(
    {"functions": check.array(check.record({"name": check.text, "points": check.array(_POINT)}))}
)


def read_fronts(path: str | os.PathLike[str]) -> dict[str, list[FrontPoint]]:
    """Reads a file that `--rematerialize=pareto=FILE` or `save_fronts` has written."""
    root = check.read_json(path)
    _FRONTS(root, "front")
    return {
        function["name"]: [
            FrontPoint(
                point["packed_bytes"], point["added_cost_ps"], point["overhead_percent"] / 100
            )
            for point in function["points"]
        ]
        for function in root["functions"]
    }


def fronts_to_json(fronts: Fronts) -> str:
    """The text of such a file."""
    functions: list[dict[str, Any]] = [
        {
            "name": name,
            "points": [
                {
                    "added_cost_ps": point.added_cost_ps,
                    "overhead_percent": 100 * point.overhead,
                    "packed_bytes": point.peak_bytes,
                }
                for point in points
            ],
        }
        for name, points in fronts.items()
    ]
    return json.dumps({"functions": functions}, indent=2) + "\n"


def percent_ticks(maximum: float) -> list[float]:
    """Round percentages up to `maximum` percent."""
    scale = 1
    while maximum * scale < 10 and scale < 10**6:
        scale *= 10
    return [tick / scale for tick in ticks(int(maximum * scale), 5)]


def front_chart(
    points: Sequence[FrontPoint], chosen: tuple[int, float], budget: int | None
) -> str:
    """The points from the largest peak to the smallest; `chosen` is the peak and the overhead of
    the plan of the report."""
    most_bytes = max([point.peak_bytes for point in points] + [chosen[0], budget or 0])
    most_percent = 100 * max([point.overhead for point in points] + [chosen[1]]) or 1.0
    x = Scale(1.05 * most_bytes, _LEFT, WIDTH - _RIGHT)
    y = Scale(1.1 * most_percent, HEIGHT - _BOTTOM, _TOP)
    parts = []
    for percent in percent_ticks(1.1 * most_percent):
        parts.append(line(x.start, y(percent), x.end, y(percent), "grid", GRID))
        parts.append(label(x.start - 7, y(percent) + 4, f"{percent:g} %", anchor="end"))
    for place, size in enumerate(ticks(int(1.05 * most_bytes), 6)):
        kind = "muted minor" if place % 2 else "muted"
        parts.append(
            label(x(size), y.start + 17, round_bytes(size), anchor="middle", kind=kind)
        )
        parts.append(line(x(size), y.start, x(size), y.start + 4, "tick", MUTED))
    parts.append(label((x.start + x.end) / 2, y.start + 34, "peak memory", anchor="middle"))
    parts.append(label(8, _TOP - 7, "more work"))
    path = " ".join(
        f"{x(point.peak_bytes):.1f},{y(100 * point.overhead):.1f}" for point in points
    )
    parts.append(
        element(
            "polyline", points=path, fill="none", stroke=MUTED, stroke_width=1.5, class_="front"
        )
    )
    for point in points:
        name = f"{format_bytes(point.peak_bytes)} for {100 * point.overhead:.2f} % more work"
        parts.append(
            element(
                "circle",
                element("title", escape(name)),
                cx=x(point.peak_bytes),
                cy=y(100 * point.overhead),
                r=4,
                fill=MUTED,
                stroke=GROUND,
                class_="point",
            )
        )
    if budget is not None:
        parts.append(
            line(x(budget), y.start, x(budget), y.end, "limit", ACCENT, stroke_dasharray="5 4",
                 stroke_width="1.5")
        )
        left = x(budget) > (x.start + x.end) / 2
        parts.append(
            label(x(budget) + (-6 if left else 6), _TOP + 8, f"budget {format_bytes(budget)}",
                  anchor="end" if left else None, fill=ACCENT, kind="limit-name halo")
        )
    name = f"this plan: {format_bytes(chosen[0])} for {100 * chosen[1]:.2f} % more work"
    parts.append(
        element(
            "circle",
            element("title", escape(name)),
            cx=x(chosen[0]),
            cy=y(100 * chosen[1]),
            r=6.5,
            fill="none",
            stroke=ACCENT,
            stroke_width=2.5,
            class_="chosen",
        )
    )
    return "".join(parts)
