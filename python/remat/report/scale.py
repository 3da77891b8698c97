# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where numbers are on an axis, and which of them it names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps the numbers from 0 to `maximum` to the coordinates from `start` to `end`."""

    maximum: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if not self.maximum:
            return self.start
        return self.start + (self.end - self.start) * value / self.maximum


def ticks(maximum: int, most: int) -> list[int]:
    """At most `most` + 1 round numbers from 0 to `maximum`, 1, 2 or 5 times a power of ten apart."""
    distance, factor = 1, 0
    while maximum > distance * most:
        distance = (1, 2, 5)[(factor + 1) % 3] * 10 ** ((factor + 1) // 3)
        factor += 1
    return list(range(0, maximum + 1, distance))
