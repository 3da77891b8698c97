# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The map of the arena: each buffer is a rectangle of the steps when it is live and its offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from remat.report.frame import Frame
from remat.report.palette import color, css_class, in_order
from remat.report.scale import Scale
from remat.report.svg import GROUND, INK, element, line

WIDTH, HEIGHT = 600, 380
#: Buffers that a page has, so that it stays small.
MOST = 1000
# Thinner ones cannot be seen or pointed at.
_THINNEST = 0.8
# Those that are thinner than this would be all edge.
_WITH_EDGE = 3.0


@dataclass(frozen=True)
class Rectangle:
    """`storage` is the position in the report."""

    storage: int
    x: float
    y: float
    width: float
    height: float


def largest(storages: Sequence[Mapping[str, Any]], most: int) -> Sequence[Mapping[str, Any]]:
    """The largest ones in their order; of equal ones, the first."""
    order = sorted(range(len(storages)), key=lambda index: (-storages[index]["bytes"], index))
    return [storages[index] for index in sorted(order[:most])]


def rectangles(storages: Sequence[Mapping[str, Any]], x: Scale, y: Scale) -> list[Rectangle]:
    """Those storages that have a place in the arena."""
    found = []
    for index, each in enumerate(storages):
        if each["offset"] is not None:
            top, bottom = y(each["offset"] + each["bytes"]), y(each["offset"])
            left = x(each["begin"])
            width = max(x(each["end"]) - left, _THINNEST)
            found.append(Rectangle(index, left, top, width, max(bottom - top, _THINNEST)))
    return found


def arena_chart(
    arena: Mapping[str, Any], num_steps: int, max_bytes: int
) -> tuple[Frame, str]:
    """The frame and what is drawn in it; a clone is framed. `max_bytes` is the same in charts that
    are compared."""
    frame = Frame(WIDTH, HEIGHT, num_steps, max_bytes)
    storages = arena["storages"]
    boxes = rectangles(storages, frame.x, frame.y)
    parts = [frame.grid()]
    groups: dict[tuple[str, bool, bool], list[str]] = {}
    for box in boxes:
        storage = storages[box.storage]
        thin = min(box.width, box.height) < _WITH_EDGE
        groups.setdefault((storage["category"], storage["recomputed"], thin), []).append(
            element(
                "rect", x=box.x, y=box.y, width=box.width, height=box.height, data_i=box.storage
            )
        )
    for category in in_order({category for category, _, _ in groups}):
        for recomputed, thin in ((False, True), (False, False), (True, True), (True, False)):
            group = groups.get((category, recomputed, thin))
            if group:
                stroke, kind = (INK, "clone") if recomputed else (GROUND, "box")
                parts.append(
                    element(
                        "g",
                        *group,
                        fill=color(category),
                        stroke=stroke,
                        stroke_width=(0.3 if recomputed else 0.0) if thin else 0.8,
                        class_=f"mark {css_class(category)} {kind}",
                    )
                )
    top = frame.y(arena["arena_bytes"])
    parts.append(line(frame.x.start, top, frame.x.end, top, "top", INK))
    return frame, "".join(parts)
