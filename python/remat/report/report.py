# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JSON of docs/report.md as Python objects. Sizes are bytes, costs picoseconds."""

from __future__ import annotations

import json
import os
from typing import Any

from remat.errors import InvalidInputError
from remat.files import write_whole
from remat.record import Record
from remat.report.check import parse_json, read_json
from remat.report.front import Fronts
from remat.units import format_bytes


def page_kind(path: str | os.PathLike[str]) -> str | None:
    """"html" or "svg", by the end of the name; None for other files."""
    name = os.fspath(path).lower()
    return "html" if name.endswith((".html", ".htm")) else "svg" if name.endswith(".svg") else None


class OperationPlace(Record):
    """An operation: its name, its position in the input and its source location."""

    name: str
    index: int
    location: str


class LiveValue(Record):
    """What is live at the peak."""

    value: str
    producer: str
    bytes: int
    category: str
    reason: str
    location: str


class RecomputedOperation(Record):
    """What is executed again; `cost_ps` is that of all clones together."""

    producer: str
    clones: int
    bytes: int
    cost_ps: int
    location: str


class MovedOperation(Record):
    """What is executed elsewhere. `from` is a word of Python: `json["from"]`."""

    operation: str
    before: int
    location: str


class FunctionReport(Record):
    """What was planned for a function."""

    classes = {
        "peak_operation": OperationPlace,
        "live_at_peak": LiveValue,
        "recomputed": RecomputedOperation,
        "moved": MovedOperation,
    }

    name: str
    #: "unchanged", "met", "infeasible" or "skipped".
    status: str
    budget_bytes: int | None
    baseline_packed_bytes: int
    packed_bytes: int
    baseline_peak_bytes: int
    peak_bytes: int
    minimum_known_bytes: int
    working_set_bytes: int
    argument_bytes: int
    result_bytes: int
    constant_bytes: int
    cost_ps: int
    added_cost_ps: int
    overhead: float
    overhead_lower_bound: float | None
    peak_operation: OperationPlace | None
    categories_at_peak: dict[str, int]
    live_at_peak: list[LiveValue]
    recomputed: list[RecomputedOperation]
    moved: list[MovedOperation]

    def __str__(self) -> str:
        if self.status == "skipped":
            return f"function '{self.name}': skipped, {self.reason}"
        text = f"function '{self.name}': {self.status}"
        if self.budget_bytes is not None:
            text += f", budget {format_bytes(self.budget_bytes)}"
        text += f", packed peak {format_bytes(self.baseline_packed_bytes)}"
        if self.status != "unchanged":
            text += f" -> {format_bytes(self.packed_bytes)}, cost +{100 * self.overhead:.2f} %"
        return text


class Report(Record):
    """The report of all functions of a module, in its order."""

    classes = {"functions": FunctionReport}

    version: int
    functions: list[FunctionReport]

    @staticmethod
    def parse(text: str) -> Report:
        """Reads the text of a report."""
        return Report._of(parse_json(text, "the report"))

    @staticmethod
    def _of(root: Any) -> Report:
        if not isinstance(root, dict) or not isinstance(root.get("functions"), list):
            raise InvalidInputError("expected a report, an object with the array 'functions'")
        if root.get("version") != 1:
            raise InvalidInputError(
                f"expected a report of version 1, but got {root.get('version')}"
            )
        return Report(root)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Report:
        """Reads a file that `--rematerialize=report=FILE` or `save` has written."""
        return Report._of(read_json(path))

    def to_html(self, pareto: Fronts | None = None) -> str:
        """A page with charts and tables, in one file that needs no network. `pareto` is what
        `Result.pareto` and `read_fronts` have."""
        from remat.report.page import to_html

        return to_html(self, pareto)

    def to_svg(self) -> str:
        """Memory over time before and after, for slides. The report needs details."""
        from remat.report.picture import to_svg

        return to_svg(self)

    def save(self, path: str | os.PathLike[str], pareto: Fronts | None = None) -> None:
        """Writes the report: the page if the name ends in .html or .htm, the picture if it ends in
        .svg, JSON otherwise. A file that is there is replaced once all is written."""
        kind = page_kind(path)
        if kind == "html":
            text = self.to_html(pareto)
        elif kind == "svg":
            text = self.to_svg()
        else:
            text = json.dumps(self.json, indent=2) + "\n"
        write_whole(path, text)

    def function(self, name: str | None = None) -> FunctionReport:
        """The function of that name; without one, the only one that was planned."""
        functions = self.functions
        if name is None:
            functions = [each for each in functions if each.status != "skipped"]
        else:
            functions = [each for each in functions if each.name == name]
        if len(functions) != 1:
            names = ", ".join(f"'{each.name}'" for each in self.functions)
            raise KeyError(f"expected one of the functions {names}, but got {name!r}")
        return functions[0]

    def __str__(self) -> str:
        from remat.report.summary import xla_sentence

        # The budget of a function of JAX is about XLA's figure, the rest is the model's.
        lines = [xla_sentence(self), *(str(each) for each in self.functions)]
        return "\n".join(each for each in lines if each)

    def _repr_html_(self) -> str:
        from remat.report.notebook import to_fragment

        return to_fragment(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
