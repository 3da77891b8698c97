# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of SVG and HTML as text. Everything that comes from a report passes through `escape`.

Colours are attributes, for programs that know no style sheets, and classes, by which a style sheet
changes them on dark ground.
"""

from __future__ import annotations

import re

# What XML forbids, and half a character of UTF-16, which has no UTF-8.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)

#: Colours of what is no data, on light ground, and their classes.
INK = "#23262d"
MUTED = "#6a6f7a"
GRID = "#e3e5ea"
ACCENT = "#c2255c"
GROUND = "#ffffff"


def escape(text: str) -> str:
    """Text as the content of an element, or as an attribute in quotes."""
    return _FORBIDDEN.sub("\ufffd", text).translate(_ENTITIES)


def coordinate(value: float) -> str:
    """At most two decimals, and none that are zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, *content: str, **attributes: str | float | None) -> str:
    """An element. `content` is markup. An underscore in the name of an attribute is a dash, one at
    its end is left out; attributes that are None are left out."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            written = escape(value) if isinstance(value, str) else coordinate(value)
            parts.append(f'{key.rstrip("_").replace("_", "-")}="{written}"')
    start = " ".join(parts)
    inner = "".join(content)
    return f"<{start}>{inner}</{name}>" if inner else f"<{start}/>"


def label(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str | None = None,
    fill: str = MUTED,
    kind: str = "muted",
    size: float | None = None,
    weight: str | None = None,
) -> str:
    """A line of text."""
    return element(
        "text",
        escape(text),
        x=x,
        y=y,
        text_anchor=anchor,
        fill=fill,
        class_=kind,
        font_size=size,
        font_weight=weight,
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str, stroke: str, **more: str) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, stroke=stroke, **more)


def drawing(
    width: float, height: float, name: str, *content: str, fixed: bool = False, **attributes: str
) -> str:
    """An image with a name for those who do not see it. One that is not `fixed` fills its place."""
    return element(
        "svg",
        *content,
        xmlns="http://www.w3.org/2000/svg",
        width=width if fixed else None,
        height=height if fixed else None,
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        font_family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
        font_size="12",
        role="img",
        aria_label=name,
        **attributes,
    )
