# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`largest_batch`: how many samples a step can take within a memory budget, by planning alone.

Whether a batch fits need not be monotone: a step may be another program for another batch, and plans are
found by a search. So an answer is always a batch that was planned, and what is above it is tried too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

import remat
from remat.errors import InfeasibleError, InvalidInputError
from remat.jax.arguments import Indices, Names
from remat.jax.step import read_step
from remat.jax.table import html_table, text_table
from remat.progress import ProgressBar
from remat.report import FunctionReport, Report
from remat.units import Budget, format_bytes, resolve_budget, resolve_overhead

#: Multiples above the largest that fits, all of which must be known not to fit.
_NEIGHBOURS = 3
# Plans at most that only look for more samples per second.
_THROUGHPUT_PLANS = 4


@dataclass(frozen=True)
class BatchRow:
    """What planning for a batch has led to. Sizes are bytes by the planner's model.

    `planned_bytes` and `overhead` are those of the cheapest plan within the budget, or of the smallest
    plan that is known where none `fits`. `samples_per_second` is by the cost model, and None where it
    does not fit.
    """

    batch: int
    unchanged_bytes: int
    planned_bytes: int
    overhead: float
    samples_per_second: float | None
    fits: bool
    report: Report = field(repr=False, compare=False)


@dataclass(frozen=True)
class LargestBatch:
    """The batches that fit. `table` has every batch that was planned, the smallest first.

    `batch` is the largest that fits, `best_throughput` the one with the most samples per second of those
    that were planned. `max_overhead` is the limit as a part of the cost, or None.
    """

    batch: int
    best_throughput: int
    budget_bytes: int
    max_overhead: float | None
    table: tuple[BatchRow, ...]

    def row(self, batch: int) -> BatchRow:
        """The row of a batch that was planned. KeyError: it was not."""
        for each in self.table:
            if each.batch == batch:
                return each
        raise KeyError(batch)

    @property
    def report(self) -> Report:
        """The plan for the largest batch."""
        return self.row(self.batch).report

    def _cells(self) -> tuple[Sequence[str], list[list[str]]]:
        heads = ["batch", "unchanged", "planned", "overhead", "samples/s", ""]
        rows = []
        for each in self.table:
            notes = [] if each.fits else ["does not fit"]
            notes += ["largest"] if each.batch == self.batch else []
            notes += ["most samples per second"] if each.batch == self.best_throughput else []
            speed = each.samples_per_second
            rows.append(
                [
                    str(each.batch),
                    format_bytes(each.unchanged_bytes),
                    format_bytes(each.planned_bytes),
                    f"{100 * each.overhead:+.1f} %",
                    "-" if speed is None else f"{speed:.4g}",
                    ", ".join(notes),
                ]
            )
        return heads, rows

    def _title(self) -> str:
        limit = "" if self.max_overhead is None else f" and +{100 * self.max_overhead:g} % of the cost"
        return f"largest batch within {format_bytes(self.budget_bytes)}{limit}: {self.batch}"

    def __str__(self) -> str:
        return f"{self._title()}\n{text_table(*self._cells(), left=[5])}"

    def _repr_html_(self) -> str:
        return f"<p>{self._title()}</p>{html_table(*self._cells(), left=[5])}"


def _search(count: int, fits: Callable[[int], bool]) -> int | None:
    """The largest of the indices below `count` that fits, as far as bisection finds it.

    Its next `_NEIGHBOURS` indices do not fit. None where the first indices do not.
    """
    low = next((i for i in range(min(1 + _NEIGHBOURS, count)) if fits(i)), None)
    if low is None:
        return None
    misses = set()

    def missing(index: int) -> bool:
        if not fits(index):
            misses.add(index)
        return index in misses

    if not missing(count - 1):
        return count - 1
    while True:
        high = min(each for each in misses if each > low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if missing(middle) else (middle, high)
        above = range(low + 1, min(low + 1 + _NEIGHBOURS, count))
        found = [i for i in above if not missing(i)]
        if not found:
            return low
        low = found[-1]


def _next_for_throughput(known: dict[int, float], last: int) -> int | None:
    """The middle of the wider gap beside the index with the most samples per second, if there is one."""
    best = max(known, key=lambda i: (known[i], -i))
    indices = sorted(i for i in known if i <= last)
    gaps = [(a, b) for a, b in zip(indices, indices[1:]) if best in (a, b) and b - a > 1]
    if not gaps:
        return None
    low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
    return (low + high) // 2


def _multiples(lo: int, hi: int, multiple_of: int) -> range:
    for name, value in (("lo", lo), ("hi", hi), ("multiple_of", multiple_of)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"expected '{name}' as int, but got {type(value).__name__}")
        if value < 1:
            raise InvalidInputError(f"expected '{name}' to be at least 1, but got {value}")
    if lo > hi:
        raise InvalidInputError(f"expected 'lo' to be at most 'hi', but got {lo} and {hi}")
    first = -(-lo // multiple_of) * multiple_of
    if first > hi:
        raise InvalidInputError(f"there is no multiple of {multiple_of} from {lo} to {hi}")
    return range(first, hi + 1, multiple_of)


def _resolve(budget: Budget, max_overhead: float | str | None) -> tuple[int, float | None]:
    if isinstance(budget, str) and budget.strip().endswith(("%", "x")):
        raise InvalidInputError(
            f"expected a budget in bytes, but got '{budget}', which is another one for each batch"
        )
    scale = 10**9
    limit = None if max_overhead is None else resolve_overhead(max_overhead, scale) / scale
    return resolve_budget(budget, 0), limit


def _plan(text: str, budget: int, options: dict[str, Any]) -> tuple[FunctionReport, Report]:
    try:
        report = remat.optimize(text, budget, **options).report
    except InfeasibleError as error:
        if error.report is None:
            raise
        report = error.report
    return report.function("main"), report


def largest_batch(
    make_step: Callable[[int], tuple[Callable[..., Any], Sequence[Any]]],
    budget: Budget,
    lo: int,
    hi: int,
    multiple_of: int = 8,
    max_overhead: float | str | None = None,
    *,
    exhaustive: bool = False,
    device: Any = None,
    static_argnums: Indices = None,
    static_argnames: Names = None,
    donate_argnums: Indices = None,
    donate_argnames: Names = None,
    progress: bool | None = None,
    effort: int = 1,
    fusion: str = "auto",
    reorder: bool = True,
    models: str | os.PathLike[str] | None = None,
    profile: str | os.PathLike[str] | None = None,
) -> LargestBatch:
    """The largest batch from `lo` to `hi` that fits into `budget`. Nothing is compiled or executed.

        def make_step(batch):
            x = jax.ShapeDtypeStruct((batch, 1024), jnp.float32)
            return train_step, (state_shapes, x)

        remat.jax.largest_batch(make_step, "8GB", 8, 512, donate_argnums=0)

    `make_step(batch)` returns a function and the tuple of its arguments: arrays, of which only the shapes
    are used, or `jax.ShapeDtypeStruct`s. The function is one that `jax.jit` takes, or the result of
    `jax.jit` or `remat.jax.rematerialize`, whose donated arguments are donated here.

    `budget` is bytes by the planner's model, which is what `rematerialize(..., calibrate=False)` keeps; it
    is no percentage. `max_overhead` (0.2 or "20%") is the most that recomputation may add to the cost.

    Batches are found by bisection, and the multiples next above the answer are tried, too; with
    `exhaustive`, every multiple is planned. A few more plans look for the batch with the most samples per
    second.

    `device` is a `jax.Device`, or "h100", "a100", "cpu" or a file (docs/models-file.md); it need not be
    there. `static_*` and `donate_*` are those of `jax.jit`, the other options those of
    `remat.jax.rematerialize`.

    Raises `InfeasibleError` with the smallest plan known where nothing fits, `UnsupportedError` for what
    cannot be planned, `InvalidInputError` for wrong ranges and options.
    """
    batches = _multiples(lo, hi, multiple_of)
    budget_bytes, limit = _resolve(budget, max_overhead)
    options: dict[str, Any] = {
        "effort": effort,
        "fusion": fusion,
        "reorder": reorder,
        "models": models,
        "profile": profile,
    }
    rows: dict[int, BatchRow] = {}

    def plan(batch: int) -> BatchRow:
        made = make_step(batch)
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise TypeError("expected make_step to return a function and the tuple of its arguments")
        fn, args = made
        step = read_step(
            fn,
            args,
            {},
            device=device,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
        )
        if not step.computes_something:
            raise InvalidInputError(f"'{step.name}' computes nothing")
        function, report = _plan(step.text(), budget_bytes, {**options, **step.target.options})
        fits = function.status != "infeasible" and function.packed_bytes <= budget_bytes
        fits = fits and (limit is None or function.overhead <= limit)
        picoseconds = function.cost_ps + function.added_cost_ps
        return BatchRow(
            batch=batch,
            unchanged_bytes=function.baseline_packed_bytes,
            planned_bytes=function.packed_bytes,
            overhead=function.overhead,
            samples_per_second=batch * 1e12 / picoseconds if fits and picoseconds else None,
            fits=fits,
            report=report,
        )

    with ProgressBar("largest batch", progress) as bar:

        def fits(index: int) -> bool:
            if index not in rows:
                bar.update(len(rows), len(batches), f"batch {batches[index]}")
                rows[index] = plan(batches[index])
            return rows[index].fits

        if exhaustive:
            largest = max((i for i in range(len(batches)) if fits(i)), default=None)
        else:
            largest = _search(len(batches), fits)
        if largest is None:
            raise _nothing_fits(list(rows.values()), budget_bytes, limit)
        for _ in range(_THROUGHPUT_PLANS):
            known = {i: row.samples_per_second or 0.0 for i, row in rows.items()}
            index = _next_for_throughput(known, largest)
            if index is None:
                break
            fits(index)
    table = tuple(rows[i] for i in sorted(rows))
    # Of equal ones the smallest.
    best = max(table, key=lambda row: (row.samples_per_second or 0.0, row.fits, -row.batch))
    return LargestBatch(batches[largest], best.batch, budget_bytes, limit, table)


def _nothing_fits(
    rows: Sequence[BatchRow], budget_bytes: int, limit: float | None
) -> InfeasibleError:
    least = min(rows, key=lambda row: (row.planned_bytes, row.batch))
    within = "" if limit is None else f" and +{100 * limit:g} % of the cost"
    return InfeasibleError(
        f"no batch that was planned, from {rows[0].batch} on, fits into the budget of {budget_bytes} bytes "
        f"({format_bytes(budget_bytes)}){within}: the smallest plan known is for batch {least.batch}, with "
        f"{least.planned_bytes} bytes ({format_bytes(least.planned_bytes)}) and "
        f"{100 * least.overhead:+.1f} % of the cost",
        report=least.report,
        minimum_bytes=least.planned_bytes,
        budget_bytes=budget_bytes,
    )
