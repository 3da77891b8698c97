# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What categories are called, their order in a stack, and their colours on light and dark ground.

What is live throughout is at the bottom and blue; what recomputation can free is on top and warm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable


@dataclass(frozen=True)
class Look:
    label: str
    light: str
    dark: str


_LOOKS = {
    "parameters": Look("parameters", "#3d5a9e", "#5a7bc9"),
    "optimizer_state": Look("optimizer state", "#8094cf", "#8fa1dc"),
    "constants": Look("constants", "#5f8c99", "#5f93a2"),
    "inputs": Look("inputs", "#9ab8c4", "#8eb2c0"),
    "gradients": Look("gradients", "#2d9384", "#3aa896"),
    "activations": Look("activations", "#e8793a", "#ee8a4f"),
    "temporaries": Look("temporaries", "#f3c14f", "#e0b24a"),
    "workspace": Look("workspace", "#b56a8f", "#c27a9d"),
}
#: Of categories that a later version adds.
_OTHER = Look("other", "#8d8d94", "#9a9aa2")


def in_order(categories: Iterable[str]) -> list[str]:
    """Categories from the bottom of a stack to its top; unknown ones are last, by name."""
    places = {category: place for place, category in enumerate(_LOOKS)}
    return sorted(categories, key=lambda each: (places.get(each, len(places)), each))


def label(category: str) -> str:
    """The name for people."""
    return _LOOKS[category].label if category in _LOOKS else category


def color(category: str) -> str:
    """The colour on light ground."""
    return _LOOKS.get(category, _OTHER).light


def css_class(category: str) -> str:
    """The class that has the colour as its variable `--c`."""
    return f"c-{category}" if category in _LOOKS else "c-other"


def rules(scope: str, dark: bool) -> str:
    """The style sheet of the classes, within the selector `scope`."""
    looks = [*_LOOKS.items(), ("other", _OTHER)]
    return "".join(
        f"{scope} .c-{name}{{--c:{look.dark if dark else look.light}}}\n" for name, look in looks
    )
