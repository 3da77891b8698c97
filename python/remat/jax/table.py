# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import Sequence

Rows = Sequence[Sequence[str]]


def text_table(heads: Sequence[str], rows: Rows, left: Sequence[int] = ()) -> str:
    """Lines of columns, each as wide as it has to be. The columns in `left` are flush left."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = []
    for row in [heads, *rows]:
        cells = [
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(heads: Sequence[str], rows: Rows, left: Sequence[int] = ()) -> str:
    """The same as an element of HTML."""

    def line(tag: str, cells: Sequence[str]) -> str:
        styled = (
            f'<{tag} style="text-align:{"left" if i in left else "right"}">{escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(styled)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', heads)}</thead><tbody>{body}</tbody></table>"
