# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The axes of a chart whose horizontal axis has steps and whose vertical axis has bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from remat.report.scale import Scale, ticks
from remat.report.svg import ACCENT, GRID, MUTED, label, line
from remat.units import format_bytes

LEFT, RIGHT, TOP, BOTTOM = 66, 12, 14, 34


def round_bytes(size: int) -> str:
    """A round number of bytes, without decimals that are zero."""
    return re.sub(r"\.0+(?= )", "", format_bytes(size))


@dataclass(frozen=True)
class Frame:
    """A chart of `width` by `height`, with `num_steps` steps and 0 to `max_bytes` bytes."""

    width: float
    height: float
    num_steps: int
    max_bytes: int

    @property
    def x(self) -> Scale:
        return Scale(self.num_steps, LEFT, self.width - RIGHT)

    @property
    def y(self) -> Scale:
        return Scale(self.max_bytes, self.height - BOTTOM, TOP)

    def grid(self) -> str:
        """Lines and names of round numbers."""
        x, y = self.x, self.y
        parts = []
        for size in ticks(self.max_bytes, 6):
            parts.append(line(x.start, y(size), x.end, y(size), "grid", GRID))
            parts.append(label(x.start - 7, y(size) + 4, round_bytes(size), anchor="end"))
        steps = ticks(self.num_steps, 6)
        for place, step in enumerate(steps):
            # Two names would touch at the end; every second one has no room on narrow screens.
            room = place == 0 or x(step) <= x.end - 12
            kind = "muted minor" if place % 2 else "muted"
            if room:
                parts.append(
                    label(x(step), y.start + 17, f"{step:,}".replace(",", "\u202f"),
                          anchor="middle", kind=kind)
                )
            parts.append(line(x(step), y.start, x(step), y.start + 4, "tick", MUTED))
        parts.append(label((x.start + x.end) / 2, y.start + 31, "step", anchor="middle"))
        return "".join(parts)

    def limit(self, size: int, name: str, left: bool) -> str:
        """A line over the whole chart, named on its left or right end."""
        x, y = self.x, self.y(size)
        above = y - 6 if y - 18 >= 0 else y + 15
        return line(
            x.start, y, x.end, y, "limit", ACCENT, stroke_dasharray="5 4", stroke_width="1.5"
        ) + label(
            x.start + 4 if left else x.end - 4,
            above,
            name,
            anchor=None if left else "end",
            fill=ACCENT,
            kind="limit-name halo",
        )
