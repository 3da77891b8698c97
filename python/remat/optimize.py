# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes training steps in MLIR fit into memory: `remat-opt` as functions.

Nothing is decided here: options are passed on, and what the tool says comes back as values, warnings
and exceptions.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

from remat.errors import InfeasibleError, InvalidInputError, RematWarning, ToolError
from remat.record import Record
from remat.report import FrontPoint, OperationPlace, Report, read_fronts
from remat.tools import Run, run_tool
from remat.units import Budget, budget_text, format_bytes, overhead_text

#: MLIR text, or the path of a file with it.
Source = str | os.PathLike[str]


@dataclass(frozen=True)
class Result:
    """A module that fits.

    `text` is MLIR in the form that the tool prints. `pareto` has the points of each function by its
    name where they were asked for, and `messages` is all that the tool printed on the side.
    """

    text: str
    report: Report
    pareto: Mapping[str, list[FrontPoint]] = field(default_factory=dict)
    messages: str = ""

    def __str__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


class MemoryProfile(Record):
    """What fills the memory of a function, see docs/memory-model.md. Sizes are bytes."""

    classes = {"peak_operation": OperationPlace}

    function: str
    operations: int
    scope: str
    alignment: int
    live_peak_bytes: int
    packed_peak_bytes: int
    working_set_bytes: int
    argument_bytes: int
    result_bytes: int
    constant_bytes: int
    peak_operation: OperationPlace | None
    live_at_peak: list[dict[str, Any]]
    categories_at_peak: dict[str, int]
    timeline: list[dict[str, int]]
    explanation: str

    def __str__(self) -> str:
        return (
            f"function '{self.function}': packed peak {format_bytes(self.packed_peak_bytes)}, "
            f"no plan below {format_bytes(self.working_set_bytes)}. {self.explanation}"
        )


def is_text(source: Source) -> bool:
    """Whether a source is text and no path.

    A str is text if it has a line break or a bracket, as every operation with a type has, and is
    not the name of a file.
    """
    if not isinstance(source, str):
        return False
    if not source or "\n" in source:
        return True
    return re.search(r"[({]", source) is not None and not os.path.exists(source)


def _input(source: Source) -> tuple[str, str]:
    """The argument of the tool, and what it reads from standard input."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected MLIR as text or a path, but got {type(source).__name__}")
    if is_text(source):
        return "-", str(source)
    path = os.fspath(source)
    # The exception of Python says what is wrong with the path.
    with open(path, "rb"):
        pass
    # What begins with a dash is no option.
    return path if not path.startswith("-") else os.path.join(os.curdir, path), ""


_PLAIN = re.compile(r"[\w./%:+,-]+")


def _file_option(path: str | os.PathLike[str] | None, folder: str) -> str | None:
    """A file as the value of an option; in `folder`, if its name has characters that mean something
    in a pipeline of passes."""
    if path is None or _PLAIN.fullmatch(os.fspath(path)) or not os.path.exists(path):
        return None if path is None else os.fspath(path)
    link = os.path.join(folder, f"option{len(os.listdir(folder))}.json")
    os.symlink(os.path.abspath(path), link)
    return link


def _option(name: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if _PLAIN.fullmatch(text):
        return f"{name}={text}"
    for quote in ("'", '"'):
        if quote not in text:
            return f"{name}={quote}{text}{quote}"
    raise InvalidInputError(f"option '{name}' cannot have both kinds of quotes: {text}")


def pass_argument(name: str, options: Mapping[str, object]) -> str:
    """A pass with its options as an argument of `remat-opt`. What is None has its default."""
    given = [_option(key, value) for key, value in options.items() if value is not None]
    return f"--{name}={' '.join(given)}" if given else f"--{name}"


_DIAGNOSTIC = re.compile(r"^.*?(?:^|: )(error|warning|remark): ", re.MULTILINE)


def _warn(messages: str, stacklevel: int) -> None:
    """Issues the warnings of a tool, each with its notes."""
    found = list(_DIAGNOSTIC.finditer(messages))
    ends = [match.start() for match in found[1:]] + [len(messages)]
    for match, end in zip(found, ends):
        if match.group(1) == "warning":
            text = messages[match.start() : end].rstrip()
            warnings.warn(text, RematWarning, stacklevel=stacklevel + 1)


def _fail(run: Run, report: Report | None) -> None:
    # A wrong option is followed by an error without a text.
    message = re.sub(r"^<unknown>:0: error:\s*$", "", run.stderr, flags=re.MULTILINE).rstrip()
    if run.returncode < 0 or run.returncode > 128:
        raise ToolError(
            f"remat-opt ended with exit code {run.returncode}\n{message}".rstrip(), report=report
        )
    if "internal error" in message:
        raise ToolError(message, report=report)
    refused = [each for each in report.functions if each.status == "infeasible"] if report else []
    if refused:
        largest = max(refused, key=lambda each: each.minimum_known_bytes)
        raise InfeasibleError(
            message,
            report=report,
            minimum_bytes=largest.minimum_known_bytes,
            budget_bytes=largest.budget_bytes,
        )
    raise InvalidInputError(message or "remat-opt failed", report=report)


def optimize(
    source: Source,
    budget: Budget | None = None,
    *,
    max_overhead: float | str | None = None,
    scope: str = "total",
    fusion: str = "auto",
    target: str | os.PathLike[str] = "h100",
    effort: int = 1,
    on_infeasible: str = "error",
    reorder: bool = True,
    alignment: int | str | None = None,
    min_bytes: int | str | None = None,
    models: str | os.PathLike[str] | None = None,
    profile: str | os.PathLike[str] | None = None,
    details: bool = False,
    pareto: bool = False,
    locations: bool = False,
) -> Result:
    """Makes every function of a module fit into `budget`, at the least cost that is found.

    `budget` is bytes as an int, or a text such as "8GB" or "80%" (of what is needed now).
    `max_overhead` asks the other question: the smallest peak that adds at most this part of the cost,
    0.05 or "5%". Without both nothing is changed, and the report says what is needed. The other
    options are those of `--rematerialize` (docs/generated/RematPasses.md); `fusion="auto"` leaves
    the choice to the pass. With `details`, the report has what charts are made of; with `pareto`,
    the result has what smaller peaks cost. With `locations`, the text says where in the source
    operations come from.

    Raises InfeasibleError where no plan fits, unless `on_infeasible="warn"`, and InvalidInputError
    where the module or an option is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="remat-") as folder:
        report_path, front_path = Path(folder, "report.json"), Path(folder, "front.json")
        options: dict[str, object] = {
            "budget": None if budget is None else budget_text(budget),
            "max-overhead": None if max_overhead is None else overhead_text(max_overhead),
            "scope": scope,
            "fusion": None if fusion == "auto" else fusion,
            "target": _file_option(target, folder),
            "effort": effort,
            "on-infeasible": on_infeasible,
            "reorder": reorder,
            "alignment": None if alignment is None else budget_text(alignment),
            "min-bytes": None if min_bytes is None else budget_text(min_bytes),
            "models": _file_option(models, folder),
            "profile": _file_option(profile, folder),
            "report": report_path,
            "report-details": details or None,
            "pareto": front_path if pareto else None,
        }
        path, text = _input(source)
        arguments = [path, pass_argument("rematerialize", options)]
        if locations:
            arguments.append("--mlir-print-debuginfo")
        run = run_tool("remat-opt", arguments, text)
        report = Report.load(report_path) if report_path.exists() else None
        if run.returncode != 0 or report is None:
            _fail(run, report)
        assert report is not None
        fronts = read_fronts(front_path) if pareto else {}
    messages = run.stderr
    if budget is None and max_overhead is None:
        messages = re.sub(r"^.*warning: rematerialize: no budget given.*\n?", "", messages)
    _warn(messages, stacklevel=2)
    return Result(run.stdout, report, fronts, messages)


def memory_profile(
    source: Source,
    *,
    functions: Sequence[str] = (),
    scope: str = "total",
    fusion: str = "auto",
    target: str | os.PathLike[str] = "h100",
    alignment: int | str | None = None,
    models: str | os.PathLike[str] | None = None,
    loss: int | None = None,
    roles: Sequence[str] = (),
) -> list[MemoryProfile]:
    """What fills the memory of each function that has a body, or of the named ones.

    `loss` is the number of the result that is the loss, `roles` says of each argument whether it is
    a "parameter", "optimizer_state" or "input"; both are inferred by default.
    """
    with tempfile.TemporaryDirectory(prefix="remat-") as folder:
        output = Path(folder, "profile.json")
        options: dict[str, object] = {
            "format": "json",
            "function": ",".join(functions) or None,
            "scope": scope,
            "fusion": None if fusion == "auto" else fusion,
            "target": _file_option(target, folder),
            "alignment": None if alignment is None else budget_text(alignment),
            "models": _file_option(models, folder),
            "loss": loss,
            "roles": ",".join(roles) or None,
            "output": output,
        }
        path, text = _input(source)
        arguments = [path, pass_argument("remat-print-memory", options), "-o", os.devnull]
        run = run_tool("remat-opt", arguments, text)
        if run.returncode != 0:
            _fail(run, None)
        profiles = json.loads(output.read_text("utf-8"))
    _warn(run.stderr, stacklevel=2)
    return [MemoryProfile(each) for each in profiles]
