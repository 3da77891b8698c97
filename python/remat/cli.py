# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `remat`.

Exit code 0: done; 1: it does not fit; 2: bad input or options; 130: interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from typing import Callable, NoReturn, Sequence, TextIO

import remat
from remat.errors import InfeasibleError, InvalidInputError, RematError, RematWarning
from remat.files import write_whole
from remat.planner import Answer
from remat.report.check import check_report
from remat.report.front import fronts_to_json, read_fronts
from remat.report.report import page_kind
from remat.report.text import to_text
from remat.units import format_bytes, format_picoseconds

_INFEASIBLE = 1
_BAD_INPUT = 2
_INTERRUPTED = 130


def _read(path: str) -> str | os.PathLike[str]:
    """What is in standard input for `-`."""
    return sys.stdin.read() + "\n" if path == "-" else path


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def _optimize(arguments: argparse.Namespace) -> int:
    try:
        result = remat.optimize(
            _read(arguments.input),
            arguments.budget,
            max_overhead=arguments.max_overhead,
            scope=arguments.scope,
            fusion=arguments.fusion,
            target=arguments.target,
            effort=arguments.effort,
            on_infeasible=arguments.on_infeasible,
            reorder=not arguments.no_reorder,
            alignment=arguments.alignment,
            min_bytes=arguments.min_bytes,
            models=arguments.models,
            profile=arguments.profile,
            details=arguments.details or page_kind(arguments.report or "") is not None,
            pareto=arguments.pareto is not None,
        )
    except RematError as error:
        if arguments.report and error.report:
            error.report.save(arguments.report)
        raise
    if arguments.report:
        result.report.save(arguments.report, result.pareto)
    if arguments.pareto:
        write_whole(arguments.pareto, fronts_to_json(result.pareto))
    _write(arguments.output, result.text)
    print(result.report, file=sys.stderr)
    return 0


def _profile(arguments: argparse.Namespace) -> int:
    profiles = remat.memory_profile(
        _read(arguments.input),
        functions=arguments.function,
        scope=arguments.scope,
        fusion=arguments.fusion,
        target=arguments.target,
        alignment=arguments.alignment,
        models=arguments.models,
    )
    if arguments.json:
        _write(arguments.output, json.dumps([each.json for each in profiles], indent=2) + "\n")
        return 0
    lines = []
    for each in profiles:
        lines.append(str(each))
        for category, size in sorted(each.categories_at_peak.items(), key=lambda item: -item[1]):
            if size:
                lines.append(f"  {format_bytes(size):>8}  {category}")
    _write(arguments.output, "".join(line + "\n" for line in lines))
    return 0


def _report(arguments: argparse.Namespace) -> int:
    report = remat.Report.load(arguments.report)
    fronts = read_fronts(arguments.pareto) if arguments.pareto and arguments.output else None
    if arguments.output is None:
        if arguments.pareto:
            raise InvalidInputError("'--pareto' needs '--output'")
        check_report(report.json)
        sys.stdout.write(to_text(report, arguments.limit))
    elif page_kind(arguments.output) is None:
        raise InvalidInputError(
            f"expected a name that ends in '.html' or '.svg', but got '{arguments.output}'"
        )
    else:
        report.save(arguments.output, fronts)
    return 0


def _describe(answer: Answer) -> str:
    bound = answer.added_cost_lower_bound_ps
    lines = [("status", answer.status)]
    if answer.budget_bytes is not None:
        lines.append(("budget", f"{answer.budget_bytes} B"))
    lines += [
        ("packed peak", f"{answer.packed_peak_bytes} B ({format_bytes(answer.packed_peak_bytes)})"),
        ("live peak", f"{answer.live_peak_bytes} B ({format_bytes(answer.live_peak_bytes)})"),
        (
            "added cost",
            f"{format_picoseconds(answer.added_cost_ps)} ({100 * answer.overhead:.4f} %)",
        ),
        ("lower bound", "no plan fits" if bound is None else format_picoseconds(bound)),
    ]
    return "".join(f"{name:<12} {text}\n" for name, text in lines)


def _plan(arguments: argparse.Namespace) -> int:
    source = _read(arguments.problem)
    answer = remat.plan(
        source,
        arguments.budget,
        max_overhead=arguments.max_overhead,
        packed=not arguments.live,
        reorder=not arguments.no_reorder,
        solver=arguments.solver,
        effort=arguments.effort,
        seeds=arguments.seeds,
        threads=arguments.threads,
        time_limit=arguments.time_limit,
        on_infeasible=arguments.on_infeasible,
    )
    if arguments.output:
        _write(arguments.output, answer.plan.to_json() + "\n")
    sys.stdout.write(answer.to_text() if arguments.steps else _describe(answer))
    return 0


def _add_budget(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", help="bytes with a unit (8GB, 4.5GiB), or a percentage (80%%)")
    parser.add_argument(
        "--max-overhead", metavar="PERCENT", help="the smallest peak that adds at most this cost"
    )
    parser.add_argument(
        "--on-infeasible", choices=["error", "warn"], default="error", help="default: %(default)s"
    )
    parser.add_argument("--no-reorder", action="store_true", help="operations keep their places")


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", default="total", help="total or temporaries")
    parser.add_argument("--fusion", default="auto", help="model of the later fusion")
    parser.add_argument("--target", default="h100", help="cost model: h100, a100, cpu or a file")
    parser.add_argument("--alignment", metavar="BYTES", help="of every buffer, such as 64B")
    parser.add_argument("--models", metavar="FILE", help="describes further dialects")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="remat", description="Makes training steps fit into memory.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"remat {remat.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=help, allow_abbrev=False)
        command.set_defaults(run=run)
        return command

    command = add("optimize", _optimize, "make a module in MLIR fit into a budget")
    command.add_argument("input", help="MLIR file, - for standard input")
    _add_budget(command)
    _add_model(command)
    command.add_argument("--min-bytes", metavar="BYTES", help="smaller values are never dropped")
    command.add_argument("--profile", metavar="FILE", help="measured costs")
    command.add_argument("--effort", type=int, default=1, help="work of the search, 0 to 10")
    command.add_argument("-o", "--output", default="-", help="file, default: standard output")
    command.add_argument("--report", metavar="FILE", help="as JSON, or as a page (.html, .svg)")
    command.add_argument("--details", action="store_true", help="with what charts are made of")
    command.add_argument("--pareto", metavar="FILE", help="write what smaller peaks cost as JSON")

    command = add("profile", _profile, "show what fills the memory of a module in MLIR")
    command.add_argument("input", help="MLIR file, - for standard input")
    command.add_argument("--function", action="append", default=[], help="one of several functions")
    _add_model(command)
    command.add_argument("--json", action="store_true", help="everything that is known, as JSON")
    command.add_argument("-o", "--output", default="-", help="file, default: standard output")

    command = add("report", _report, "show what is in a report")
    command.add_argument("report", help="JSON file that 'remat optimize --report' has written")
    command.add_argument("--limit", type=int, default=16, metavar="ROWS", help="default: 16")
    command.add_argument("-o", "--output", metavar="FILE", help="a page (.html) or chart (.svg)")
    command.add_argument("--pareto", metavar="FILE", help="what smaller peaks cost, for the page")

    command = add("plan", _plan, "plan a graph or a problem in JSON")
    command.add_argument("problem", help="JSON file, - for standard input")
    _add_budget(command)
    command.add_argument("--live", action="store_true", help="the budget is for the live peak")
    command.add_argument("--solver", default="auto", help="auto, greedy, chain, anneal or exact")
    command.add_argument("--effort", type=int, default=2, help="work of the search, 0 to 10")
    command.add_argument("--seeds", type=int, default=2, help="runs of the local search")
    command.add_argument("--threads", type=int, help="runs at a time, default: as many as cores")
    command.add_argument("--time-limit", type=float, default=0, metavar="SECONDS")
    command.add_argument("--steps", action="store_true", help="print the plan step by step")
    command.add_argument("-o", "--output", metavar="FILE", help="write the plan as JSON")
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(message, file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments, by default those of the process."""
    options = _parser().parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("always", RematWarning)
        warnings.showwarning = _show_warning
        try:
            code: int = options.run(options)
            return code
        except InfeasibleError as error:
            print(_message(error), file=sys.stderr)
            return _INFEASIBLE
        except (RematError, OSError) as error:
            print(_message(error), file=sys.stderr)
            return _BAD_INPUT
        except KeyboardInterrupt:
            return _INTERRUPTED


def run() -> NoReturn:
    """The console script."""
    code = main()
    if code == _INTERRUPTED:
        # A search may take a while to notice.
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _message(error: Exception) -> str:
    """The message, marked as an error where the tool has not done so."""
    if isinstance(error, OSError):
        return f"error: {error.filename or 'cannot write'}: {error.strerror}"
    text = str(error)
    return text if "error: " in text else f"error: {text}"
