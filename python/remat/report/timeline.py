# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The chart of memory over time: a staircase for each category, on each other."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from remat.report.frame import TOP, Frame
from remat.report.palette import color, css_class, label as category_label
from remat.report.scale import Scale
from remat.report.series import index_at, live_bytes, peak_bytes, stack
from remat.report.svg import GROUND, INK, coordinate, element, escape, label
from remat.units import format_bytes

WIDTH, HEIGHT = 600, 320


def staircase(
    steps: Sequence[int], tops: Sequence[int], num_steps: int, x: Scale, y: Scale
) -> str:
    """The path around the area from 0 to `tops`; each value holds until the next step."""
    # Tenths, as whole numbers, so that differences do not add up to errors.
    across, down = round(10 * x(0)), round(10 * y(0))
    path = f"M{coordinate(across / 10)} {coordinate(down / 10)}"
    for step, top in zip(steps, tops):
        height = round(10 * y(top))
        if height != down:
            place = round(10 * x(step))
            path += f"h{coordinate((place - across) / 10)}v{coordinate((height - down) / 10)}"
            across, down = place, height
    return f"{path}H{coordinate(x(num_steps))}V{coordinate(y(0))}Z"


def _is_late(timeline: Mapping[str, Any]) -> bool:
    """Whether the peak is in the second half."""
    return bool(2 * timeline["peak_step"] >= timeline["num_steps"])


def _peak(timeline: Mapping[str, Any], frame: Frame) -> str:
    """A dot at the peak and its size, on the side where there is more room."""
    x, y = frame.x(timeline["peak_step"] + 0.5), frame.y(peak_bytes(timeline))
    left = _is_late(timeline)
    return element(
        "circle", cx=x, cy=y, r=4, fill=INK, stroke=GROUND, stroke_width=1.5, class_="peak"
    ) + label(
        x - 9 if left else x + 9,
        max(y - 5, TOP - 2),
        f"peak {format_bytes(peak_bytes(timeline))}",
        anchor="end" if left else None,
        fill=INK,
        kind="ink halo",
        weight="600",
    )


def timeline_chart(
    timeline: Mapping[str, Any], max_bytes: int, budget: int | None
) -> tuple[Frame, str]:
    """The frame and what is drawn in it. `max_bytes` is the same in charts that are compared."""
    frame = Frame(WIDTH, HEIGHT, timeline["num_steps"], max_bytes)
    parts = [frame.grid()]
    # The sum of all layers is behind the sum of all but the last, and so on.
    for layer in reversed(stack(timeline)):
        most = format_bytes(max(layer.bytes, default=0))
        title = f"{category_label(layer.category)}: up to {most}"
        parts.append(
            element(
                "path",
                element("title", escape(title)),
                d=staircase(timeline["steps"], layer.tops, timeline["num_steps"], frame.x, frame.y),
                fill=color(layer.category),
                class_=f"mark {css_class(layer.category)}",
            )
        )
    if budget is not None:
        # Its name is where the one of the peak is not.
        name = f"budget {format_bytes(budget)}"
        parts.append(frame.limit(budget, name, left=_is_late(timeline)))
    if timeline["steps"]:
        parts.append(_peak(timeline, frame))
    return frame, "".join(parts)


def describe(timeline: Mapping[str, Any], when: str) -> str:
    """The chart in words."""
    sizes = live_bytes(timeline)
    if not sizes:
        return f"Memory over time {when}: no steps"
    return (
        f"Memory over time {when}: {timeline['num_steps']} steps, from {format_bytes(sizes[0])} to "
        f"the peak of {format_bytes(max(sizes))} at step {timeline['peak_step']}, "
        f"{format_bytes(sizes[-1])} at the end"
    )


def sample(timeline: Mapping[str, Any], most: int) -> list[int]:
    """Positions in the timeline for a table of about `most` rows: evenly spaced, and the peak."""
    steps = timeline["steps"]
    if not steps:
        return []
    spread = {len(steps) * row // most for row in range(most)} | {len(steps) - 1}
    return sorted(spread | {index_at(steps, timeline["peak_step"])})
