# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same program with bf16 where it has f32, to count what it would take; not to be executed."""

from __future__ import annotations

import re

_BLOB = re.compile(r'dense<"0x([0-9A-Fa-f]+)"> : tensor<((?:\d+x)*)f32>')
# Infinities, and what is not a number.
_BITS = re.compile(r'(?<!")\b0x([0-9A-Fa-f]{4})[0-9A-Fa-f]{4}\b')
_F32 = re.compile(r"\b((?:\d+x)*)f32(?=[>,\s])")


def _shorten(match: re.Match[str]) -> str:
    """Program data of half the size. A splat, one element, stays one element."""
    digits, shape = match.groups()
    return f'dense<"0x{digits[: len(digits) // 2]}"> : tensor<{shape}bf16>'


def in_bf16(mlir: str) -> str:
    """Generic MLIR with every element type f32 replaced."""
    lines = []
    for line in _BLOB.sub(_shorten, mlir).splitlines(keepends=True):
        # Definitions of source locations are text of the user.
        lines.append(line if line.startswith("#loc") else _F32.sub(r"\1bf16", _BITS.sub(r"0x\1", line)))
    return "".join(lines)


def has_f32(mlir: str) -> bool:
    """Whether there are arrays of f32, other than scalars."""
    return re.search(r"tensor<(?:\d+x)+f32>", mlir) is not None
