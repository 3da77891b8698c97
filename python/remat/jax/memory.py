# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What XLA says about the memory of a compiled program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from remat.jax.unsupported import UnsupportedError


@dataclass(frozen=True)
class Memory:
    """Bytes of one device. `total_bytes` is what a budget is about."""

    argument_bytes: int
    result_bytes: int
    temporary_bytes: int
    aliased_bytes: int

    @property
    def fixed_bytes(self) -> int:
        """Arguments and results: what no plan changes."""
        return self.argument_bytes + self.result_bytes - self.aliased_bytes

    @property
    def total_bytes(self) -> int:
        return self.fixed_bytes + self.temporary_bytes

    def json(self) -> dict[str, int]:
        """For reports."""
        return {
            "aliased_bytes": self.aliased_bytes,
            "argument_bytes": self.argument_bytes,
            "result_bytes": self.result_bytes,
            "temporary_bytes": self.temporary_bytes,
            "total_bytes": self.total_bytes,
        }


def alignment_of(platform: str) -> int:
    """Bytes: XLA's buffers begin at multiples of this."""
    return 256 if platform in ("cuda", "gpu", "rocm") else 64


def memory_of(compiled: Any) -> Memory:
    """Reads `memory_analysis()` of a compiled function."""
    stats = compiled.memory_analysis()
    if stats is None:
        raise UnsupportedError(
            "this device does not say how much memory a program takes; use calibrate=False"
        )
    return Memory(
        argument_bytes=stats.argument_size_in_bytes,
        result_bytes=stats.output_size_in_bytes,
        temporary_bytes=stats.temp_size_in_bytes,
        aliased_bytes=stats.alias_size_in_bytes,
    )
