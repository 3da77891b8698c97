# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes, picoseconds and budgets as people write them.

The same texts mean the same here and in the tools (include/Remat/Support/ByteCount.h).
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Union

from remat.errors import InvalidInputError

#: Bytes, or a text such as "4GB", "4.5GiB" or "80%".
Budget = Union[int, str]

_UNITS = {
    **{unit: 1000**power for power, unit in enumerate(("b", "kb", "mb", "gb", "tb"))},
    **{unit: 1024**power for power, unit in enumerate(("kib", "mib", "gib", "tib"), 1)},
}
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_BYTES = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z]*)\s*", re.ASCII)
_PERCENT = re.compile(rf"\s*({_NUMBER})\s*%\s*", re.ASCII)
_MAX_BYTES = 2**63 - 1
# Percentages have up to six decimals.
_PERCENT_SCALE = 10**6


def _format(value: int, units: tuple[str, ...]) -> str:
    scaled = abs(float(value))
    unit = 0
    while unit + 1 < len(units) and scaled >= 999.5:
        scaled /= 1000
        unit += 1
    decimals = 0 if unit == 0 or scaled >= 99.95 else 1 if scaled >= 9.995 else 2
    return f"{'-' if value < 0 else ''}{scaled:.{decimals}f} {units[unit]}"


def format_bytes(count: int) -> str:
    """Three significant digits and the unit that fits: `17.4 GB`."""
    return _format(count, ("B", "KB", "MB", "GB", "TB", "PB", "EB"))


def format_picoseconds(count: int) -> str:
    """Three significant digits and the unit that fits: `1.25 ms`."""
    return _format(count, ("ps", "ns", "us", "ms", "s"))


def parse_bytes(text: str) -> int:
    """The bytes of a text such as `4GB` (4e9), `4.5GiB` or `1e9B`. A unit is needed."""
    match = _BYTES.fullmatch(text)
    if not match:
        raise InvalidInputError(
            f"expected a byte count such as '4GB' or '512MiB', but got '{text}'"
        )
    number, unit = match.groups()
    scale = _UNITS.get(unit.lower())
    if scale is None:
        problem = f"the unknown unit '{unit}'" if unit else "no unit"
        raise InvalidInputError(
            f"byte count '{text}' has {problem}; "
            "expected a unit: B, KB, MB, GB, TB, KiB, MiB, GiB or TiB"
        )
    count = Fraction(Decimal(number)) * scale
    if count.denominator != 1 or count > _MAX_BYTES:
        raise InvalidInputError(
            f"byte count '{text}' is not a whole number of bytes below 2^63"
        )
    return int(count)


def _parse_percent(text: str) -> Fraction | None:
    match = _PERCENT.fullmatch(text)
    percent = Fraction(Decimal(match.group(1))) if match else None
    if percent is None or (percent * _PERCENT_SCALE).denominator != 1:
        return None
    return percent


def resolve_budget(budget: Budget, peak_bytes: int) -> int:
    """The bytes of a budget where the unchanged peak is `peak_bytes`.

    `80%` and `0.8x` are of that peak, rounded up.
    """
    if isinstance(budget, int) and not isinstance(budget, bool):
        if not 0 <= budget <= _MAX_BYTES:
            raise InvalidInputError(f"expected a budget from 0 to 2^63-1 bytes, but got {budget}")
        return budget
    if not isinstance(budget, str):
        raise TypeError(f"expected a budget as int or str, but got {type(budget).__name__}")
    text = budget.strip()
    if re.fullmatch(_NUMBER + "x", text):
        text = f"{Decimal(text[:-1]) * 100:f}%"
    if not text.endswith("%"):
        return parse_bytes(text)
    percent = _parse_percent(text)
    if percent is None or not 0 < percent <= 100:
        raise InvalidInputError(
            f"expected a percentage above 0% and at most 100%, but got '{budget}'"
        )
    return -(-peak_bytes * percent.numerator // (100 * percent.denominator))


def budget_text(budget: Budget) -> str:
    """A budget in the words of the tools: `4000000000B` for an int, texts as they are."""
    return budget if isinstance(budget, str) else f"{resolve_budget(budget, 0)}B"


def overhead_text(overhead: float | str) -> str:
    """A part of the cost in the words of the tools: `5%` for 0.05, texts as they are."""
    if isinstance(overhead, str):
        return overhead
    return f"{Decimal(repr(float(overhead))) * 100:f}%"


def resolve_overhead(overhead: float | str, cost_ps: int) -> int:
    """The picoseconds that may be added where the unchanged cost is `cost_ps`, rounded down."""
    percent = _parse_percent(overhead_text(overhead))
    if percent is None or percent > 10**6:
        raise InvalidInputError(
            f"expected a percentage from 0% to 1000000%, such as '5%', but got '{overhead}'"
        )
    return min(int(cost_ps * percent / 100), _MAX_BYTES)
