# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as the output of a cell of a notebook.

It has no ids, and the selectors of its style sheet begin with a class that follows from the sheet,
so that nothing of other cells, or of other versions in saved notebooks, can clash with it. Charts
have colours without the sheet, and no script.
"""

from __future__ import annotations

import hashlib

from remat.report import page, style
from remat.report.check import check_report
from remat.report.report import FunctionReport, Report
from remat.report.summary import DETAILS, headline
from remat.report.svg import element, escape

#: How JupyterLab, Visual Studio Code and Colab say that the ground is dark.
_DARK = ("[data-jp-theme-light=false] ", ".vscode-dark ", "html[theme=dark] ")


def _sheet() -> tuple[str, str]:
    """The class of the output, and its style sheet."""
    own = "SCOPE{padding:12px 16px;border-radius:8px;max-width:1240px}\n"
    own += "SCOPE p{margin:4px 0 8px}\nSCOPE .name{font-weight:600;overflow-wrap:anywhere}\n"
    own += "SCOPE .bars{max-width:640px}\nSCOPE .faint{color:var(--muted)}\n"
    text = own + style.light("SCOPE") + style.dark([f"{each}SCOPE" for each in _DARK])
    name = f"remat-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return name, text.replace("SCOPE", f".{name}")


def _function(function: FunctionReport) -> str:
    name = element("span", escape(function.name), class_="name")
    parts = [element("p", name, ": ", escape(headline(function)))]
    if function.status != "skipped":
        parts.append(element("div", page.bars_figure(function), class_="bars"))
        if "timeline" in function.json:
            parts.append(page.timeline_figures(function, tabular=False))
        else:
            note = f"Memory over time is not in the report; {DETAILS}."
            parts.append(element("p", escape(note), class_="faint"))
    return "".join(parts)


def to_fragment(report: Report) -> str:
    """HTML to be put into another page."""
    check_report(report.json)
    name, sheet = _sheet()
    return element(
        "div",
        element("style", sheet),
        *(_function(each) for each in report.functions),
        class_=name,
    )
