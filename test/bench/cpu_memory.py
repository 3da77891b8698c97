#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the memory that processes really take when steps are executed on the CPU.

For each configuration, in one process each: the step as it is, and the step within budgets. With
the program compiled and all arguments in place, two steps are executed, and the process then tells
the most that it held at any time (VmHWM of /proc/self/status, set back before the first step)
beyond what it held before. Beside it: the temporaries that XLA promises, and the loss. Prints a
Markdown table. Exit code 1 if a process falls by less than nine tenths of what is promised, if a
budget is not kept, or if a loss differs. Only the function that is called first takes XLA:CPU's
compiler option that keeps recomputation, so it is the one that is wrapped here.

  REMAT_BUILD=build PYTHONPATH=python cpu_memory.py [--cases perceptron] [--budgets 60,40]
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

BUDGETS = (80, 60, 40)
STEPS = 2
MIB = 2**20
# What falls at least, of what is promised: libraries below XLA have memory of their own.
MIN_PART = 0.9
# Losses are sums in another order where XLA fuses other operations.
MAX_LOSS_ERROR = 1e-4
# Large arrays go back to the system when they are freed, always at the same size.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


@dataclass(frozen=True)
class Measured:
    """What one process has said. Sizes are bytes, `grown_bytes` is what it held more at most."""

    promised_bytes: int | None
    total_bytes: int
    temporary_bytes: int
    grown_bytes: int
    loss: float
    overhead: float


def _perceptron() -> tuple[Callable[..., Any], Any, Any]:
    """24 layers of 512, GELU, on 8192 rows, SGD: activations of 16 MiB, three for each layer."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    layers, width, rows = 24, 512, 8192
    generator = np.random.default_rng(0)

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return jnp.asarray(generator.standard_normal(shape, np.float32) * np.float32(scale))

    def loss(weights: list[Any], x: Any) -> Any:
        for weight in weights:
            x = jax.nn.gelu(x @ weight)
        return jnp.mean(jnp.square(x))

    def step(weights: list[Any], x: Any) -> tuple[list[Any], Any]:
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return [w - 0.1 * g for w, g in zip(weights, gradients)], value

    weights = [normal(width, width, scale=(2 / width) ** 0.5) for _ in range(layers)]
    return step, weights, normal(rows, width)


def _zoo(name: str, **overrides: Any) -> tuple[Callable[..., Any], Any, Any]:
    from remat import examples

    example = examples.get(name, size="real", **overrides)
    return example.step, example.make_state(0), example.make_batch(0)


# All stay below 4 GB and take seconds for a step.
CASES: dict[str, Callable[[], tuple[Callable[..., Any], Any, Any]]] = {
    "perceptron": _perceptron,
    "gpt2": lambda: _zoo("gpt2", layers=8, width=512, heads=8, vocabulary=8192, sequence=512),
    "unet": lambda: _zoo("unet", image=256, batch=2),
    "resnet50": lambda: _zoo("resnet50", batch=8),
}


def status_bytes(key: str) -> int:
    """A line of /proc/self/status, such as VmRSS or VmHWM."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name == key:
                return int(value.split()[0]) * 1024
    raise KeyError(key)


def measure(case: str, budget: int | None) -> Measured | str:
    """Runs a case in this process, with a budget in percent; a text says why that is refused."""
    import jax

    from remat import InfeasibleError
    from remat.jax import rematerialize
    from remat.jax.memory import memory_of
    from remat.units import resolve_budget

    step, state, batch = CASES[case]()
    promised, overhead = None, 0.0
    if budget is None:
        compiled = jax.jit(step, donate_argnums=0).lower(state, batch).compile()
    else:
        planned = rematerialize(step, f"{budget}%", donate_argnums=0, progress=False)
        try:
            report = planned.report(state, batch)
        except InfeasibleError as error:
            return str(error)
        baseline = report.json["xla"]["baseline"]["total_bytes"]
        promised = resolve_budget(f"{budget}%", baseline)
        overhead = report.function("main").overhead
        compiled = planned.lower(state, batch).compile()
    memory = memory_of(compiled)
    jax.block_until_ready((state, batch))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        # Sets VmHWM back to what the process holds now.
        file.write("5")
    before = status_bytes("VmRSS")
    for _ in range(STEPS):
        state, loss = compiled(state, batch)
    jax.block_until_ready((state, loss))
    return Measured(promised, memory.total_bytes, memory.temporary_bytes,
                    status_bytes("VmHWM") - before, float(loss), overhead)


def in_process(case: str, budget: int | None) -> Measured | str:
    """The same in a process of its own."""
    what = case if budget is None else f"{case}:{budget}"
    command = [sys.executable, os.path.abspath(__file__), "--measure", what]
    environment = {**os.environ, **ALLOCATOR, "JAX_PLATFORMS": "cpu"}
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    answer = json.loads(ended.stdout)
    return answer if isinstance(answer, str) else Measured(**answer)


def problems(measured: Measured, unchanged: Measured) -> list[str]:
    """What is not as promised."""
    found = []
    assert measured.promised_bytes is not None
    if measured.total_bytes > measured.promised_bytes:
        found.append("above the budget")
    promised_fall = unchanged.temporary_bytes - measured.temporary_bytes
    if unchanged.grown_bytes - measured.grown_bytes < MIN_PART * promised_fall:
        found.append("the process does not fall as promised")
    if abs(measured.loss - unchanged.loss) > MAX_LOSS_ERROR * abs(unchanged.loss):
        found.append(f"loss {measured.loss} and not {unchanged.loss}")
    return found


def markdown(cells: list[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES), help=f"default: {', '.join(CASES)}")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)),
                        help="in percent of what XLA reports for the unchanged step")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON")
    parser.add_argument("--measure", metavar="CASE[:BUDGET]", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        case, _, budget = options.measure.partition(":")
        answer = measure(case, int(budget) if budget else None)
        print(json.dumps(answer if isinstance(answer, str) else asdict(answer)))
        return 0
    budgets = [int(each) for each in options.budgets.split(",")]
    columns = ["case", "budget", "promised, MiB", "XLA's figure, MiB", "temporaries, MiB",
               "process grows by, MiB", "overhead", "loss", "verdict"]
    print(markdown(columns), markdown(["---"] * len(columns)), sep="\n", flush=True)
    rows, failed = [], False
    for case in options.cases.split(","):
        print(f"{case}: unchanged", file=sys.stderr, flush=True)
        unchanged = in_process(case, None)
        assert isinstance(unchanged, Measured)
        rows.append({"case": case, "budget": None, **asdict(unchanged)})
        print(markdown([case, "none", "", f"{unchanged.total_bytes / MIB:.0f}",
                        f"{unchanged.temporary_bytes / MIB:.0f}",
                        f"{unchanged.grown_bytes / MIB:.0f}", "", f"{unchanged.loss:.6g}", ""]),
              flush=True)
        for budget in budgets:
            print(f"{case}: {budget} %", file=sys.stderr, flush=True)
            answer = in_process(case, budget)
            if isinstance(answer, str):
                rows.append({"case": case, "budget": budget, "refused": answer})
                print(markdown([case, f"{budget} %", *[""] * 6, f"refused: {answer}"]), flush=True)
                continue
            wrong = problems(answer, unchanged)
            failed |= bool(wrong)
            rows.append({"case": case, "budget": budget, **asdict(answer), "problems": wrong})
            assert answer.promised_bytes is not None
            print(markdown([case, f"{budget} %", f"{answer.promised_bytes / MIB:.0f}",
                            f"{answer.total_bytes / MIB:.0f}",
                            f"{answer.temporary_bytes / MIB:.0f}",
                            f"{answer.grown_bytes / MIB:.0f}", f"{100 * answer.overhead:+.2f} %",
                            f"{answer.loss:.6g}", "; ".join(wrong) or "as promised"]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
