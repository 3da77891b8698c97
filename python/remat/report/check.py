# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether JSON is a report, as far as pages and charts rely on it.

A check is a function of a value and of the place where it is, for messages such as "expected a text
at 'functions[0].name', but got 7".
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, Callable

from remat.errors import InvalidInputError

Check = Callable[[Any, str], None]


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value of a JSON file."""
    with open(path, "rb") as file:
        return parse_json(file.read(), os.fspath(path))


def parse_json(text: str | bytes, name: str) -> Any:
    """The value of a JSON text; `name` is what messages call it."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InvalidInputError(f"{name} is not JSON that can be read: nested too deep") from error
    except ValueError as error:
        raise InvalidInputError(f"{name} is not JSON: {error}") from error


def _refuse(expected: str, where: str, value: Any) -> InvalidInputError:
    text = repr(value)
    shown = text if len(text) <= 60 else text[:60] + "…"
    return InvalidInputError(f"expected {expected} at '{where}', but got {shown}")


def text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise _refuse("a text", where, value)


def boolean(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        raise _refuse("true or false", where, value)


def count(value: Any, where: str) -> None:
    """Bytes, picoseconds, steps."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise _refuse("a whole number from 0 to 2^63-1", where, value)


def number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _refuse("a number", where, value)


def optional(check: Check) -> Check:
    def run(value: Any, where: str) -> None:
        if value is not None:
            check(value, where)

    return run


def one_of(*texts: str) -> Check:
    def run(value: Any, where: str) -> None:
        if value not in texts:
            raise _refuse(" or ".join(f"'{each}'" for each in texts), where, value)

    return run


def array(check: Check) -> Check:
    def run(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _refuse("an array", where, value)
        for index, item in enumerate(value):
            check(item, f"{where}[{index}]")

    return run


def mapping(check: Check) -> Check:
    def run(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _refuse("an object", where, value)
        for key, item in value.items():
            check(item, f"{where}.{key}")

    return run


def record(required: dict[str, Check], absent: dict[str, Check] | None = None) -> Check:
    """An object with these keys; those of `absent` may be missing, others are ignored."""

    def run(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _refuse("an object", where, value)
        for key, check in required.items():
            if key not in value:
                raise InvalidInputError(f"expected the key '{key}' in '{where}'")
            check(value[key], f"{where}.{key}")
        for key, check in (absent or {}).items():
            if key in value:
                check(value[key], f"{where}.{key}")

    return run


def _timeline(value: Any, where: str) -> None:
    record(
        {
            "num_steps": count,
            "peak_step": count,
            "steps": array(count),
            "bytes": mapping(array(count)),
        }
    )(value, where)
    steps = value["steps"]
    if any(left >= right for left, right in zip(steps, steps[1:])):
        raise InvalidInputError(f"expected rising steps at '{where}.steps'")
    if steps and steps[-1] >= value["num_steps"]:
        raise _refuse(f"less than {value['num_steps']} steps", f"{where}.steps", steps[-1])
    for category, sizes in value["bytes"].items():
        if len(sizes) != len(steps):
            raise InvalidInputError(
                f"expected {len(steps)} numbers at '{where}.bytes.{category}', but got {len(sizes)}"
            )


_PLACE = record({"name": text, "index": count, "location": text})
_STORAGE_TEXTS: dict[str, Check] = {
    key: text for key in ("value", "producer", "category", "location", "reason")
}
_STORAGE = record(
    {
        **_STORAGE_TEXTS,
        "bytes": count,
        "begin": count,
        "end": count,
        "offset": optional(count),
        "recomputed": boolean,
    }
)
_ARENA = record({"boundary_bytes": count, "arena_bytes": count, "storages": array(_STORAGE)})
_PLANNED = record(
    {
        "name": text,
        "status": one_of("unchanged", "met", "infeasible"),
        "budget_bytes": optional(count),
        **{
            key: count
            for key in (
                "baseline_packed_bytes",
                "packed_bytes",
                "minimum_known_bytes",
                "working_set_bytes",
                "argument_bytes",
                "result_bytes",
                "constant_bytes",
                "cost_ps",
                "added_cost_ps",
            )
        },
        "overhead": number,
        "overhead_lower_bound": optional(number),
        "peak_operation": optional(_PLACE),
        "categories_at_peak": mapping(count),
        "live_at_peak": array(record({**_STORAGE_TEXTS, "bytes": count})),
        "recomputed": array(
            record(
                {
                    "producer": text,
                    "clones": count,
                    "bytes": count,
                    "cost_ps": count,
                    "location": text,
                }
            )
        ),
        "moved": array(
            record({"operation": text, "from": count, "before": count, "location": text})
        ),
    },
    {
        "reason": text,
        "fusion": text,
        "timeline": record({"before": _timeline, "after": _timeline}),
        "arena": record({"before": _ARENA, "after": _ARENA}),
    },
)
_SKIPPED = record({"name": text}, {"reason": text})


def _function(value: Any, where: str) -> None:
    skipped = isinstance(value, dict) and value.get("status") == "skipped"
    (_SKIPPED if skipped else _PLANNED)(value, where)


_MEMORY = record({"total_bytes": count})
_REPORT = record(
    {"functions": array(_function)},
    {
        "xla": record({"budget_bytes": count, "baseline": _MEMORY, "chosen": _MEMORY}),
        "calibration": array(
            record(
                {
                    "target_bytes": count,
                    "predicted_bytes": count,
                    "xla_bytes": count,
                    "overhead": number,
                },
                {"compiled": boolean},
            )
        ),
    },
)


def check_report(json: Any) -> None:
    """Raises InvalidInputError where something is missing, or is not what docs/report.md says."""
    _REPORT(json, "report")
