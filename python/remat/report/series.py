# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory over time as layers that lie on each other."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from remat.report.palette import in_order


@dataclass(frozen=True)
class Layer:
    """A category: its bytes at each step of the timeline, and these plus all layers below."""

    category: str
    bytes: Sequence[int]
    tops: Sequence[int]


def stack(timeline: Mapping[str, Any]) -> list[Layer]:
    """The layers of a timeline of docs/report.md, from the bottom up."""
    layers: list[Layer] = []
    tops = [0] * len(timeline["steps"])
    for category in in_order(timeline["bytes"]):
        sizes = timeline["bytes"][category]
        tops = [top + size for top, size in zip(tops, sizes)]
        layers.append(Layer(category, sizes, tops))
    return layers


def live_bytes(timeline: Mapping[str, Any]) -> Sequence[int]:
    """All live bytes at each step of the timeline."""
    layers = stack(timeline)
    return layers[-1].tops if layers else [0] * len(timeline["steps"])


def peak_bytes(timeline: Mapping[str, Any]) -> int:
    """The live peak."""
    return max(live_bytes(timeline), default=0)


def index_at(steps: Sequence[int], step: int) -> int:
    """The position in `steps` of the last one that is not after `step`; the first, if all are."""
    return max(bisect_right(steps, step) - 1, 0)


def deltas(numbers: Sequence[int]) -> list[int]:
    """Each number less the one before it, which is shorter to write."""
    return [now - before for before, now in zip([0, *numbers], numbers)]


def elide(name: str, most: int) -> str:
    """A name of at most `most` characters; a longer one without its middle."""
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"
