#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains every model of the zoo on the CPU with and without a budget, and compares.

For each model, dtype and budget (a percentage of what XLA reports for the unchanged step): XLA's
figure of the compiled step is within the budget, and after each of some steps the loss and every
array of the state have the same bits as without; or the budget is refused with the least that XLA
reported for a plan, which lies between the budget and the unchanged figure. bf16 is mixed
precision, on both sides without the excess precision that XLA allows itself by default. Prints a
Markdown table. Exit code 1 if a promise is broken.

  REMAT_BUILD=build PYTHONPATH=python jax_zoo.py [--models gpt2,unet] [--budgets 100,80,60,40]
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


def xla_flags() -> list[str]:
    """Flags with which XLA:CPU rounds an operation in the same way whatever is around it.

    Otherwise it does not: products and sums are fused where they meet in a loop (without AVX2 there
    is no such instruction), LLVM vectorises sums in an order that depends on what is summed, and
    libraries take over products and sums together with what is around them.
    """
    flags = ["--xla_cpu_max_isa=AVX", "--xla_backend_optimization_level=0"]
    if tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2])) >= (0, 10):
        flags.append("--xla_cpu_experimental_ynn_fusion_type=")
    return flags


# Before JAX starts; two devices for the data-parallel model.
os.environ["XLA_FLAGS"] = " ".join([
    os.environ.get("XLA_FLAGS", ""), *xla_flags(), "--xla_force_host_platform_device_count=2"])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from remat import InfeasibleError, examples  # noqa: E402
from remat.jax import UnsupportedError, rematerialize  # noqa: E402
from remat.jax.calibrate import MAX_COMPILES  # noqa: E402
from remat.jax.memory import memory_of  # noqa: E402
from remat.report import Report  # noqa: E402
from remat.units import format_bytes, resolve_budget  # noqa: E402

DTYPES = {"f32": "float32", "bf16": "bfloat16"}
BUDGETS = (100, 80, 60, 40)
STEPS = 3
# The unchanged step, and those that calibration may try.
COMPILES = 1 + MAX_COMPILES
COLUMNS = ("model", "dtype", "budget", "promised", "XLA's figure", "overhead", "compiles",
           "promise", "bits")

Leaf = tuple[str, bytes]


@dataclass(frozen=True)
class Row:
    """What became of a budget. Sizes are bytes, `overhead` is a part of the unchanged cost.

    `promise` is "kept", "refused", "unsupported" or "broken"; `xla_bytes` is the figure of what was
    compiled, or the least that was reported where the budget is refused.
    """

    model: str
    dtype: str
    budget_percent: int
    promised_bytes: int
    xla_bytes: int | None
    overhead: float | None
    compiles: int
    promise: str
    bits: str
    problem: str = ""

    def cells(self) -> list[str]:
        """In the order of `COLUMNS`."""
        figure = "" if self.xla_bytes is None else format_bytes(self.xla_bytes)
        return [
            self.model, self.dtype, f"{self.budget_percent} %", format_bytes(self.promised_bytes),
            f"least {figure}" if self.promise == "refused" else figure,
            "" if self.overhead is None else f"{100 * self.overhead:+.2f} %",
            str(self.compiles), self.promise + (f": {self.problem}" if self.problem else ""),
            self.bits,
        ]


def markdown(cells: list[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |"


def leaves(tree: Any) -> list[Leaf]:
    """The path and the bytes of every array of a tree, so that equal means identical."""

    def data(leaf: Any) -> bytes:
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf).tobytes()

    found, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [(jax.tree_util.keystr(path), data(leaf)) for path, leaf in found]


def train(step: Any, example: examples.Example, steps: int) -> list[list[Leaf]]:
    """The loss and the state after each step."""
    state, batch = example.make_state(0), example.make_batch(0)
    history = []
    for _ in range(steps):
        state, loss = step(state, batch)
        history.append(leaves({"loss": loss, "state": state}))
    return history


def first_difference(expected: list[list[Leaf]], actual: list[list[Leaf]]) -> str:
    """Where two trainings part, or nothing if they have the same bits."""
    if len(expected) != len(actual):
        return f"{len(actual)} steps and not {len(expected)}"
    for number, (before, after) in enumerate(zip(expected, actual), 1):
        if [path for path, _ in before] != [path for path, _ in after]:
            return f"step {number}: another structure"
        differing = [path for (path, old), (_, new) in zip(before, after) if old != new]
        if differing:
            return f"step {number}: {differing[0]} and {len(differing) - 1} more of {len(before)}"
    return ""


def compiles_of(report: Report | None) -> int:
    """How many programs were compiled for a plan; the first is the unchanged one."""
    rounds = report.json.get("calibration", []) if report else []
    return 1 + len([each for each in rounds if each["compiled"]])


def refusal_problem(error: InfeasibleError, promised: int, baseline: int) -> str:
    """What is wrong with a refusal, or nothing."""
    if error.budget_bytes != promised:
        return f"refused {error.budget_bytes} and not {promised} bytes"
    if not promised < error.minimum_bytes <= baseline:
        return (f"the least, {error.minimum_bytes} bytes, is not above {promised} and at most "
                f"{baseline}")
    if compiles_of(error.report) > COMPILES:
        return f"{compiles_of(error.report)} programs were compiled"
    return ""


class Case:
    """A model with a dtype, trained without a budget."""

    def __init__(self, model: str, dtype: str, steps: int) -> None:
        self.model, self.dtype, self.steps = model, dtype, steps
        overrides = {} if dtype == "f32" else {"compute_dtype": DTYPES[dtype]}
        self.example = examples.get(model, **overrides)
        self.options: dict[str, Any] = {"donate_argnums": 0}
        if dtype == "bf16":
            self.options["compiler_options"] = {"xla_allow_excess_precision": False}
        plain = jax.jit(self.example.step, **self.options)
        arguments = (self.example.make_state(0), self.example.make_batch(0))
        self.baseline = memory_of(plain.lower(*arguments).compile()).total_bytes
        self.history = train(plain, self.example, steps)

    def row(self, percent: int) -> Row:
        """Plans, measures and trains within a budget."""
        promised = resolve_budget(f"{percent}%", self.baseline)

        def make(figure: int | None, overhead: float | None, compiles: int, promise: str,
                 bits: str = "", problem: str = "") -> Row:
            return Row(self.model, self.dtype, percent, promised, figure, overhead, compiles,
                       promise, bits, problem)

        planned = rematerialize(self.example.step, f"{percent}%", progress=False, **self.options)
        arguments = (self.example.make_state(0), self.example.make_batch(0))
        try:
            report = planned.report(*arguments)
        except InfeasibleError as error:
            problem = refusal_problem(error, promised, self.baseline)
            return make(error.minimum_bytes, None, compiles_of(error.report),
                        "broken" if problem else "refused", problem=problem)
        except UnsupportedError as error:
            return make(None, None, 0, "unsupported", problem=str(error))
        figure = memory_of(planned.lower(*arguments).compile()).total_bytes
        difference = first_difference(self.history, train(planned, self.example, self.steps))
        compiles = compiles_of(report)
        problems = []
        if figure > promised:
            problems.append(f"{figure - promised} bytes above the budget")
        if figure != report.json["xla"]["chosen"]["total_bytes"]:
            problems.append("the report has another figure than what is compiled")
        if compiles > COMPILES:
            problems.append(f"{compiles} programs were compiled")
        broken = bool(problems or difference)
        return make(figure, report.function("main").overhead, compiles,
                    "broken" if broken else "kept", difference or "equal", "; ".join(problems))


def has_dtype(model: str, dtype: str) -> bool:
    """Whether a model can be trained so."""
    fields = [field.name for field in dataclasses.fields(examples.get(model).config)]
    return dtype == "f32" or "compute_dtype" in fields


def rows(models: list[str], dtypes: list[str], budgets: list[int], steps: int = STEPS
         ) -> Iterator[Row]:
    """All rows. What a model throws is a broken promise of that model, and no end of the others."""
    for model in models:
        for dtype in dtypes:
            if not has_dtype(model, dtype):
                continue
            case = Case(model, dtype, steps)
            for budget in budgets:
                try:
                    yield case.row(budget)
                except Exception as error:  # noqa: BLE001
                    promised = resolve_budget(f"{budget}%", case.baseline)
                    text = " ".join(f"{type(error).__name__}: {error}".split())
                    yield Row(model, dtype, budget, promised, None, None, 0, "broken", "", text)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(examples.names()), help="default: all")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)),
                        help="in percent of what XLA reports for the unchanged step")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON")
    options = parser.parse_args()
    found = []
    print(markdown(list(COLUMNS)))
    print(markdown(["---"] * len(COLUMNS)))
    for row in rows(options.models.split(","), options.dtypes.split(","),
                    [int(each) for each in options.budgets.split(",")], options.steps):
        found.append(row)
        print(markdown(row.cells()), flush=True)
    counts = {promise: sum(row.promise == promise for row in found)
              for promise in ("kept", "refused", "unsupported", "broken")}
    print("\n" + ", ".join(f"{count} {promise}" for promise, count in counts.items()) + ".")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([dataclasses.asdict(row) for row in found], file, indent=1)
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
