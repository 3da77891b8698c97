# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The style sheets of pages and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from remat.report.palette import rules

_DARK = (
    "--ink:#e6e8ee;--muted:#9ba1ae;--grid:#30343d;--edge:#30343d;--ground:#1b1e24;"
    "--accent:#ff6b95;--link:#8ab4f8;--hover:#242830;--bad:#ff6b95"
)


def read(name: str) -> str:
    """A file of this folder."""
    return Path(__file__).with_name(name).read_text("utf-8")


def light(scope: str) -> str:
    """The rules on light ground; all of them are within the selector `scope`."""
    return read("style.css").replace("SCOPE", scope) + rules(scope, dark=False)


def dark(scopes: Sequence[str]) -> str:
    """What is different on dark ground, within these selectors."""
    return "".join(f"{scope}{{{_DARK}}}\n{rules(scope, dark=True)}" for scope in scopes)
