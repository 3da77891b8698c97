# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`explain`: where the memory of a training step goes, and what would lower it.

Whatever can be traced is traced and counted; what would need another function is estimated, and says so.
Nothing is compiled or executed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence

import remat
from remat.errors import InfeasibleError, InvalidInputError
from remat.jax.arguments import Indices, Names
from remat.jax.explanation import Advice, Explanation, advise, categories_of
from remat.jax.half_precision import has_f32, in_bf16
from remat.jax.step import Operand, Step, Target, read_step
from remat.optimize import MemoryProfile
from remat.progress import ProgressBar
from remat.report import FunctionReport, OperationPlace
from remat.units import Budget, format_bytes, resolve_budget

#: What recomputation may add to the cost, where it is tried.
OVERHEADS = (0.05, 0.10, 0.30)
# Into how many parts a batch is divided.
_PARTS = (2, 4)
_STATE = ("parameters", "optimizer_state")


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@dataclass(frozen=True)
class _Counter:
    """Profiles and plans of programs."""

    target: Target
    effort: int
    fusion: str
    models: str | os.PathLike[str] | None

    def profile(self, text: str) -> MemoryProfile:
        profiles = remat.memory_profile(
            text,
            functions=["main"],
            fusion=self.fusion,
            models=self.models,
            **self.target.options,
        )
        return profiles[0]

    def plan(self, text: str, **limit: Any) -> FunctionReport:
        """A plan within `limit`, or the smallest one where there is none."""
        try:
            report = remat.optimize(
                text,
                effort=self.effort,
                fusion=self.fusion,
                models=self.models,
                **self.target.options,
                **limit,
            ).report
        except InfeasibleError as error:
            if error.report is None:
                raise
            report = error.report
        return report.function("main")


def _place_text(place: OperationPlace) -> str:
    """An operation and the line of the user's code, without the folder."""
    line = re.search(r"([^/() ]+:\d+):\d+\)?$", place.location)
    return f"'{place.name}'" + (f" of {line.group(1)}" if line else "")


def _fixed_bytes(profile: MemoryProfile) -> int:
    """What lives throughout: arguments, and results that take no argument's memory."""
    return profile.argument_bytes + profile.result_bytes


class _Explainer:
    """One step, unchanged, and the changes of it."""

    def __init__(self, step: Step, counter: _Counter) -> None:
        self.step = step
        self.counter = counter
        self.text = step.text()
        self.profile = counter.profile(self.text)
        self.peak = self.profile.packed_peak_bytes
        self.categories: list[str] = self.profile.argument_categories
        self.notes: list[str] = []

    def _operands(self, *categories: str) -> list[Operand]:
        return [
            operand
            for operand, category in zip(self.step.operands, self.categories)
            if category in categories
        ]

    def donation(self) -> Iterator[Advice]:
        """All state that a result can be written into."""
        state = [category in _STATE for category in self.categories]
        # Where there is no loss, everything is an input.
        flags = self.step.donatable(state if any(state) else [True] * len(state))
        added = [
            operand for operand, flag in zip(self.step.operands, flags) if flag > operand.donated
        ]
        if not added:
            donated = sum(each.bytes for each in self.step.operands if each.donated)
            self.notes.append(
                f"donation: nothing is left to donate; {format_bytes(donated)} of arguments are donated"
            )
            return
        whole = [
            parameter
            for parameter in dict.fromkeys(each.parameter for each in added)
            if all(
                flag
                for operand, flag in zip(self.step.operands, flags)
                if operand.parameter == parameter
            )
        ]
        names = whole + [each.path for each in added if each.parameter not in whole]
        after = self.counter.profile(self.step.text(flags)).packed_peak_bytes
        size = format_bytes(sum(each.bytes for each in added))
        yield advise(
            "donate",
            f"donate {_shorten(names)}",
            self.peak,
            after,
            f"results are written into {len(added)} arguments of {size} (donate_argnums of jax.jit and of "
            "rematerialize); the caller must not use the old arrays again",
            overhead=0.0,
        )

    def recomputation(self, overheads: Sequence[float], budget: int | None) -> Iterator[Advice]:
        """The smallest plan, and those that cost less."""
        smallest = self.counter.plan(self.text, budget=1)
        gains = smallest.packed_bytes < self.peak
        if gains:
            for overhead in sorted(overheads):
                if smallest.overhead > overhead:
                    plan = self.counter.plan(self.text, max_overhead=overhead)
                    yield self._recompute(f"recompute for at most {100 * overhead:+g} %", plan)
            if budget is not None and smallest.packed_bytes <= budget < self.peak:
                plan = self.counter.plan(self.text, budget=budget)
                yield self._recompute("recompute for the budget", plan)
        yield self._recompute("recompute for the smallest peak", smallest)

    def _recompute(self, action: str, plan: FunctionReport) -> Advice:
        clones = sum(row.clones for row in plan.recomputed)
        after, overhead = plan.packed_bytes, plan.overhead
        if after >= self.peak:
            # The program as it is, is a plan.
            after, overhead, clones = self.peak, 0.0, 0
        if clones:
            how = "an operation is" if clones == 1 else f"{clones} operations are"
            how += " executed again"
        elif after < self.peak:
            how = "operations are executed in another order"
        else:
            how = "there is no smaller plan"
        return advise("recompute", action, self.peak, after, how, overhead=overhead)

    def batches(
        self, batch: int | None, make_step: Callable[[int], Step] | None
    ) -> Iterator[Advice]:
        """Parts of the batch, alone and with accumulated gradients."""
        inputs = [each for each in self._operands("inputs") if each.leaf is not None and each.shape]
        if batch is None:
            largest = max(inputs, key=lambda each: each.bytes, default=None)
            if largest is None:
                self.notes.append("batch: no argument looks like a batch")
                return
            batch = largest.shape[0]
        leaves = [each.leaf for each in inputs if each.shape[0] == batch and each.leaf is not None]
        if not leaves and make_step is None:
            raise InvalidInputError(
                f"no input of '{self.step.name}' has the first dimension {batch}; give make_step="
            )
        parts = [part for part in _PARTS if batch % part == 0]
        if not parts:
            self.notes.append(f"batch: {batch} cannot be divided by {_PARTS[0]}")
        unchanged = self.counter.plan(self.text)
        accumulated: list[Advice] = []
        for part in parts:
            length = batch // part
            try:
                step = make_step(length) if make_step else self.step.resized(leaves, length)
            except (TypeError, ValueError) as error:
                first = str(error).partition("\n")[0]
                self.notes.append(
                    f"batch: the step cannot be traced for a batch of {length} instead of {batch} "
                    f"({first}); give batch= or make_step="
                )
                break
            text = step.text()
            profile, plan = self.counter.profile(text), self.counter.plan(text)
            cost = plan.cost_ps * part / unchanged.cost_ps - 1 if unchanged.cost_ps else None
            after = profile.packed_peak_bytes
            yield advise(
                "batch",
                f"batch {length} instead of {batch}",
                self.peak,
                after,
                "traced again; the cost is that of a sample",
                overhead=cost,
            )
            gradients = sum(each.bytes for each in self._operands("parameters"))
            if not gradients:
                continue
            temporaries = after - _fixed_bytes(profile)
            accumulate = advise(
                "accumulate",
                f"accumulate over {part} microbatches of {length}",
                self.peak,
                _fixed_bytes(self.profile) + temporaries + gradients,
                f"temporaries of a batch of {length}, the arguments and results of now, and "
                f"{format_bytes(gradients)} for the sum of the gradients",
                counted=False,
            )
            accumulated.append(accumulate)
        yield from accumulated

    def half_precision(self) -> Iterator[Advice]:
        """Computation in bf16, with arguments and results as they are."""
        if not has_f32(self.text):
            self.notes.append("bf16: nothing is computed in f32")
            return
        try:
            halved = self.counter.profile(in_bf16(self.text))
        except InvalidInputError as error:
            self.notes.append(f"bf16: the program cannot be written in bf16 ({error})")
            return
        temporaries = halved.packed_peak_bytes - _fixed_bytes(halved)
        parameters = [each for each in self._operands("parameters") if str(each.dtype) == "float32"]
        copies = sum(each.bytes for each in parameters) // 2
        yield advise(
            "bf16",
            "compute in bf16",
            self.peak,
            _fixed_bytes(self.profile) + temporaries + copies,
            "temporaries of this program with bf16 in place of f32, the arguments and results of now, and "
            f"{format_bytes(copies)} for bf16 copies of the parameters; what stays in f32, such as sums "
            "and losses, comes on top",
            counted=False,
        )


def explain(
    fn: Callable[..., Any],
    *args: Any,
    budget: Budget | None = None,
    batch: int | None = None,
    make_step: Callable[[int], tuple[Callable[..., Any], Sequence[Any]]] | None = None,
    overheads: Sequence[float] = OVERHEADS,
    kwargs: Mapping[str, Any] | None = None,
    device: Any = None,
    static_argnums: Indices = None,
    static_argnames: Names = None,
    donate_argnums: Indices = None,
    donate_argnames: Names = None,
    progress: bool | None = None,
    effort: int = 0,
    fusion: str = "auto",
    models: str | os.PathLike[str] | None = None,
) -> Explanation:
    """Where the memory of `fn(*args, **kwargs)` goes, and what would lower its peak, with numbers.

        print(remat.jax.explain(train_step, state, batch, donate_argnums=0))

    `fn` is a function that `jax.jit` takes, or the result of `jax.jit` or `remat.jax.rematerialize`, of which
    the unchanged function is explained; arguments may be `jax.ShapeDtypeStruct`s. Nothing is compiled.

    Counted, which means that the program is traced and its memory is counted by the model of
    docs/memory-model.md: the peak; donation of all state that a result has the type of; plans that
    recompute for each of `overheads` (parts of the cost), for the `budget` if there is one, and for the
    smallest peak; a half and a quarter of the batch. Estimated: accumulation of gradients over
    microbatches, and computation in bf16; each says of what.

    `batch` is the first dimension of the inputs that is the batch; by default that of the largest input.
    `make_step(batch)`, as in `largest_batch`, makes the step for another batch where it is more than
    inputs of another length. `effort` is that of the search for plans.

    The other arguments, and what is raised, are as in `remat.jax.rematerialize`.
    """
    options: dict[str, Any] = {
        "device": device,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
    }
    step = read_step(fn, args, kwargs or {}, **options)
    if not step.computes_something:
        raise InvalidInputError(f"'{step.name}' computes nothing")
    if make_step is not None and batch is None:
        raise InvalidInputError("make_step needs to know the batch of the arguments: give batch=")

    def another_step(length: int) -> Step:
        assert make_step is not None
        other, arguments = make_step(length)
        return read_step(other, arguments, {}, **options)

    with ProgressBar(f"explain {step.name}", progress) as bar:
        bar.update(0, 4, "memory")
        explainer = _Explainer(step, _Counter(step.target, effort, fusion, models))
        limit = None if budget is None else resolve_budget(budget, explainer.peak)
        advice = list(explainer.donation())
        bar.update(1, 4, "recomputation")
        advice += explainer.recomputation(overheads, limit)
        bar.update(2, 4, "batches")
        advice += explainer.batches(batch, another_step if make_step else None)
        bar.update(3, 4, "bf16")
        advice += explainer.half_precision()
    profile = explainer.profile
    place = profile.peak_operation
    return Explanation(
        name=step.name,
        peak_bytes=explainer.peak,
        argument_bytes=profile.argument_bytes,
        categories=categories_of(profile),
        peak_operation=_place_text(place) if place else "no operation",
        profile=profile,
        advice=tuple(advice),
        notes=tuple(explainer.notes),
        budget_bytes=limit,
    )
