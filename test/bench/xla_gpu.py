#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares plans with what XLA:GPU compiles for an H200, and with other ways to save memory.

Nothing is executed and no GPU is needed. For models of the zoo at real size, with donated state:

  baseline  temporaries of the unchanged step, predicted and as XLA reports them: at most 3 % apart
  budgets   plans within parts of what XLA reports for the unchanged step, calibrated: never above
  peers     XLA's own pass (it works towards the memory of the device, here several limits), and
            jax.checkpoint on every layer, also with the policies that save products; for each the
            plan with the same temporaries, which should add no more work; and half of the baseline,
            where a plan should add less than a third of what jax.checkpoint adds

Prints Markdown tables, and what is not as it should be. Exit code 1 if there is any such thing.
Work is counted in the compiled program (hlo.py); costs are those of our cost model, which cannot
read what XLA's own pass makes. The compiler (400 MB) is installed into --plugin if it is not there;
what has been compiled is looked up in --cache.

  REMAT_BUILD=build PYTHONPATH=python xla_gpu.py --plugin DIR [--cache DIR] [--json FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gpu_topology
import hlo

if TYPE_CHECKING:
    from gpu_compiler import Figures
    from remat.jax.memory import Memory
    from remat.report import FunctionReport

BUDGETS = (80, 60, 50, 40)
# Memory of the device for XLA's own pass, in percent of what the unchanged step takes.
LIMITS = (100, 80, 65, 50, 40)
PARTS = ("baseline", "budgets", "peers")
MAX_ERROR = 0.03
CHECKPOINT = "jax.checkpoint"
POLICIES = ("dots_saveable", "dots_with_no_batch_dims_saveable")
MIB = 2**20


@dataclass(frozen=True)
class Model:
    """A model of the zoo: fields of its configuration, and options of XLA that it needs."""

    example: str
    overrides: dict[str, Any] = dataclasses.field(default_factory=dict)
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


MODELS = {
    "gpt2": Model("gpt2"),
    "gpt2-bf16": Model("gpt2", {"compute_dtype": "bfloat16"}),
    "resnet50": Model("resnet50"),
    "unet": Model("unet"),
    # Without a GPU, the compiler of Triton fails on products of this model.
    "vit": Model("vit", options={"xla_gpu_enable_triton_gemm": False}),
    "yolo": Model("yolo"),
}


@dataclass(frozen=True)
class Point:
    """A compiled program. Sizes are bytes.

    `overhead` is what it adds to the unchanged cost by our cost model, None where that cannot be
    known. `predicted_bytes` are temporaries by the model of XLA, of plans and unchanged steps.
    """

    name: str
    temporary_bytes: int
    total_bytes: int
    counts: hlo.Counts
    overhead: float | None = None
    predicted_bytes: int | None = None
    compiles: int = 1

    @property
    def error(self) -> float | None:
        """How far the prediction of temporaries is from XLA's figure, a part of the latter."""
        if self.predicted_bytes is None:
            return None
        return self.predicted_bytes / self.temporary_bytes - 1


@dataclass(frozen=True)
class Refusal:
    """No plan within a budget: the least that XLA reported, in all and for temporaries."""

    name: str
    least_bytes: int
    least_temporary_bytes: int


#: What came of a budget, and what holds memory at the peak of the plan.
Plan = tuple[Point | Refusal, str]


@dataclass(frozen=True)
class Added:
    """Work of a program beyond the unchanged one; `cost` is None where it is not known."""

    products: int
    convolutions: int
    cost: float | None


def added(point: Point, unchanged: Point) -> Added:
    """What a program does more than another."""
    return Added(point.counts.products - unchanged.counts.products,
                 point.counts.convolutions - unchanged.counts.convolutions, point.overhead)


def exceeding(ours: Added, theirs: Added) -> list[str]:
    """Of what we add more than they do."""
    return [
        field.name for field in dataclasses.fields(Added)
        if None not in (mine := getattr(ours, field.name), other := getattr(theirs, field.name))
        and mine > other
    ]


def not_below_a_third(ours: Added, theirs: Added) -> list[str]:
    """Of what they add and we add a third or more; nothing should be added that they do not add."""
    wrong = []
    for field in dataclasses.fields(Added):
        mine, other = getattr(ours, field.name), getattr(theirs, field.name)
        if None in (mine, other):
            continue
        if 3 * mine >= other if other > 0 else mine > 0:
            wrong.append(field.name)
    return wrong


class Bench:
    """One model: its unchanged step, plans for it, and its peers."""

    def __init__(self, name: str, overrides: dict[str, Any], cache: str | None,
                 say: Callable[[str], None]) -> None:
        from gpu_compiler import Compiler

        self.name, self._say = name, say
        self._model, self._overrides = MODELS[name], overrides
        self._compiler = Compiler(cache, self._model.options, say)
        self._step = self._lower()
        self._figures = self._measure("unchanged", self._step)
        self._report = self._plan_nothing(self._step.text)
        self._plans: dict[int, Plan] = {}
        self.fixed_bytes = self._figures.memory.fixed_bytes
        self.unchanged = Point(
            "unchanged", self._figures.memory.temporary_bytes, self._figures.memory.total_bytes,
            self._figures.counts, 0.0, _predicted_temporaries(self._report))

    def _lower(self, memory_bytes: int = gpu_topology.H200_MEMORY, **overrides: Any) -> Any:
        from gpu_compiler import Step

        from remat import examples

        fields = {**self._model.overrides, **self._overrides, **overrides}
        example = examples.get(self._model.example, size="real", **fields)
        description = gpu_topology.h200(memory_bytes)
        return Step(example, gpu_topology.device(description), description)

    def _measure(self, what: str, step: Any, text: str | None = None) -> Figures:
        self._say(f"{self.name}: {what}")
        return self._compiler.figures(step, text)

    def _plan_nothing(self, text: str) -> FunctionReport:
        import remat

        return remat.optimize(text, None, target="h100").report.function("main")

    def ours(self, name: str, budget_bytes: int) -> Plan:
        """The plan within a budget of all bytes, made once."""
        if budget_bytes not in self._plans:
            self._plans[budget_bytes] = self._make_plan(name, budget_bytes)
        return self._plans[budget_bytes]

    def part_of_unchanged(self, percent: int) -> int:
        """Bytes of a budget in percent."""
        return -(-self.unchanged.total_bytes * percent // 100)

    def _make_plan(self, name: str, budget_bytes: int) -> Plan:
        from remat import InfeasibleError
        from remat.jax.choose import Choice, Settings, choose_by_measuring

        def measure(choice: Choice) -> Memory:
            return self._measure(f"plan for {name}", self._step, choice.text).memory

        settings = Settings(budget_bytes, True, False, {"target": "h100"})
        try:
            choice = choose_by_measuring(self.name, self._step.text, settings, measure)
        except InfeasibleError as error:
            assert error.report is not None
            return (Refusal(name, error.minimum_bytes, error.minimum_bytes - self.fixed_bytes),
                    _holders(error.report.function("main")))
        assert choice.report is not None
        figures = self._compiler.figures(self._step, choice.text)
        planned = choice.report.function("main")
        compiles = 1 + sum(each["compiled"] for each in choice.report.json["calibration"])
        point = Point(name, figures.memory.temporary_bytes, figures.memory.total_bytes,
                      figures.counts, planned.overhead, _predicted_temporaries(planned), compiles)
        return point, _holders(planned)

    def limited(self, percent: int) -> Point:
        """XLA's own pass, which works towards a part of what the unchanged step takes."""
        limit = self.unchanged.total_bytes * percent // 100
        figures = self._measure(f"XLA's own pass, {percent} %", self._lower(limit))
        return Point(f"XLA, {percent} % = {limit / MIB:.0f} MiB", figures.memory.temporary_bytes,
                     figures.memory.total_bytes, figures.counts)

    def checkpointed(self, policy: str | None) -> Point:
        """jax.checkpoint on every layer."""
        name = f"{CHECKPOINT}, {policy}" if policy else CHECKPOINT
        step = self._lower(remat_layers=True, remat_policy=policy)
        figures = self._measure(name, step)
        cost = self._plan_nothing(step.text).cost_ps
        return Point(name, figures.memory.temporary_bytes, figures.memory.total_bytes,
                     figures.counts, cost / self._report.cost_ps - 1)


def _predicted_temporaries(planned: FunctionReport) -> int:
    return planned.packed_bytes - planned.argument_bytes - planned.result_bytes


def _holders(planned: FunctionReport) -> str:
    """What fills memory at the peak: the largest categories, without what is always there."""
    categories = sorted(planned.categories_at_peak.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {size / MIB:.0f} MiB" for name, size in categories[:4])


class Table:
    """A table of Markdown."""

    def __init__(self, *columns: str) -> None:
        self._lines = [self._line(columns), self._line(["---"] * len(columns))]

    def add(self, *cells: object) -> None:
        """A row."""
        self._lines.append(self._line([str(each) for each in cells]))

    @staticmethod
    def _line(cells: Any) -> str:
        return "| " + " | ".join(cells) + " |"

    def __str__(self) -> str:
        return "\n".join(self._lines)


def _mib(size: int | None) -> str:
    return "" if size is None else f"{size / MIB:.0f}"


def _percent(part: float | None) -> str:
    return "not known" if part is None else f"{100 * part:+.2f} %"


def _work(point: Point, unchanged: Point | None = None) -> list[str]:
    """Products, convolutions, fusions and gigabytes of traffic, or what is added of them."""
    counts, base = point.counts, unchanged.counts if unchanged else hlo.Counts()
    sign = "+" if unchanged else ""
    return [f"{counts.products - base.products:{sign}d}",
            f"{counts.convolutions - base.convolutions:{sign}d}",
            f"{counts.fusions - base.fusions:{sign}d}",
            f"{(counts.traffic_bytes - base.traffic_bytes) / 1e9:{sign}.1f}"]


class Results:
    """All tables, the same as JSON, and what is not as it should be."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.json: dict[str, Any] = {}
        self._baselines = Table("model", "arguments and results, MiB", "temporaries, MiB",
                                "predicted, MiB", "error", "products", "convolutions", "fusions",
                                "traffic, GB")
        self._budgets = Table("model", "budget", "promised, MiB", "XLA's figure, MiB",
                              "temporaries, MiB", "predicted, MiB", "error", "compiles",
                              "predicted overhead", "products", "convolutions", "fusions",
                              "traffic, GB")
        self._peers = Table("model", "peer", "temporaries, MiB", "products", "convolutions",
                            "fusions", "traffic, GB", "cost", "ours: temporaries, MiB",
                            "products", "convolutions", "fusions", "traffic, GB", "cost", "verdict")
        self._halves = Table("model", "what is added", "jax.checkpoint", "ours at half", "part")
        self._notes: list[str] = []

    def __str__(self) -> str:
        parts = [("Baselines", self._baselines), ("Budgets", self._budgets),
                 ("Peers, and plans with the same temporaries", self._peers),
                 ("Half of the baseline", self._halves)]
        text = "\n\n".join(f"### {title}\n\n{table}" for title, table in parts)
        if self._notes:
            text += "\n\nWhat holds the memory of plans that add more:\n\n" + "\n".join(self._notes)
        wrong = "\n".join(f"* {each}" for each in self.failures) or "All is as it should be."
        return f"{text}\n\n### Not as it should be\n\n{wrong}\n"

    def fail(self, text: str) -> None:
        """Adds something that is not as it should be."""
        self.failures.append(text)

    def _record(self, bench: Bench, part: str, *points: Point | Refusal) -> None:
        rows = self.json.setdefault(bench.name, {}).setdefault(part, [])
        rows.append([dataclasses.asdict(each) for each in points])

    def add_baseline(self, bench: Bench) -> None:
        """The unchanged step."""
        point = bench.unchanged
        self._record(bench, "baseline", point)
        self._baselines.add(bench.name, _mib(bench.fixed_bytes), _mib(point.temporary_bytes),
                            _mib(point.predicted_bytes), _percent(point.error), *_work(point))
        if point.error is None or abs(point.error) > MAX_ERROR:
            self.fail(f"{bench.name}: predicted {_percent(point.error)} off")

    def add_budget(self, bench: Bench, percent: int) -> None:
        """A plan within a part of the baseline."""
        promised = bench.part_of_unchanged(percent)
        plan, _ = bench.ours(f"{percent} %", promised)
        self._record(bench, "budgets", plan)
        if isinstance(plan, Refusal):
            refused = f"refused, least {_mib(plan.least_bytes)}"
            self._budgets.add(bench.name, f"{percent} %", _mib(promised), refused, *[""] * 9)
            return
        self._budgets.add(bench.name, f"{percent} %", _mib(promised), _mib(plan.total_bytes),
                          _mib(plan.temporary_bytes), _mib(plan.predicted_bytes),
                          _percent(plan.error), plan.compiles, _percent(plan.overhead),
                          *_work(plan))
        if plan.total_bytes > promised:
            self.fail(f"{bench.name}, {percent} %: {plan.total_bytes - promised} bytes above")

    def add_peer(self, bench: Bench, peer: Point) -> None:
        """Another way to save memory, and the plan with the same temporaries."""
        plan, holders = bench.ours(f"temporaries of {peer.name}",
                                   bench.fixed_bytes + peer.temporary_bytes)
        self._record(bench, "peers", peer, plan)
        cells = [bench.name, peer.name, _mib(peer.temporary_bytes), *_work(peer, bench.unchanged),
                 _percent(peer.overhead)]
        if isinstance(plan, Refusal):
            verdict = f"not reached, least {_mib(plan.least_temporary_bytes)}"
            self._peers.add(*cells, *[""] * 6, verdict)
            wrong = [verdict]
        else:
            wrong = exceeding(added(plan, bench.unchanged), added(peer, bench.unchanged))
            self._peers.add(*cells, _mib(plan.temporary_bytes), *_work(plan, bench.unchanged),
                            _percent(plan.overhead),
                            "more " + ", ".join(wrong) if wrong else "no more")
        if wrong:
            self._notes.append(f"* {bench.name}, at the temporaries of {peer.name}: {holders}")
            self.fail(f"{bench.name}, at the temporaries of {peer.name}: {', '.join(wrong)}")

    def add_half(self, bench: Bench, checkpoint: Point) -> None:
        """Half of the baseline, beside what jax.checkpoint adds."""
        plan, _ = bench.ours("50 %", bench.part_of_unchanged(50))
        self._record(bench, "half", checkpoint, plan)
        if isinstance(plan, Refusal):
            self.fail(f"{bench.name}: half of the baseline is refused")
            return
        ours, theirs = added(plan, bench.unchanged), added(checkpoint, bench.unchanged)
        for field in dataclasses.fields(Added):
            mine, other = getattr(ours, field.name), getattr(theirs, field.name)
            show = _percent if field.name == "cost" else str
            part = f"{mine / other:.2f}" if other else ""
            self._halves.add(bench.name, field.name, show(other), show(mine), part)
        for each in not_below_a_third(ours, theirs):
            self.fail(f"{bench.name}, half of the baseline: {each} not below a third of "
                      "jax.checkpoint")


def run(bench: Bench, parts: list[str], budgets: list[int], limits: list[int],
        results: Results) -> None:
    """All parts for one model."""
    if "baseline" in parts:
        results.add_baseline(bench)
    if "budgets" in parts:
        for percent in budgets:
            results.add_budget(bench, percent)
    if "peers" in parts:
        for percent in limits:
            results.add_peer(bench, bench.limited(percent))
        checkpoint = bench.checkpointed(None)
        results.add_peer(bench, checkpoint)
        for policy in POLICIES:
            results.add_peer(bench, bench.checkpointed(policy))
        results.add_half(bench, checkpoint)


SELFTEST = """HloModule test, entry_computation_layout={(f32[8,8]{1,0})->f32[8,8]{1,0}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}

%nested (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  ROOT %exp = f32[8,8]{1,0} exponential(%p)
}

%with_dot (p0: f32[8,8], p1: f32[8,8]) -> f32[8,8] {
  %p0 = f32[8,8]{1,0} parameter(0)
  %p1 = f32[8,8]{1,0} parameter(1)
  %inner = f32[8,8]{1,0} fusion(%p0), kind=kLoop, calls=%nested
  ROOT %dot = f32[8,8]{1,0} dot(%inner, %p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

%cudnn_fusion (p2: f32[1,8,8,1], p3: f32[3,3,1,1]) -> f32[1,8,8,1] {
  %p2 = f32[1,8,8,1]{3,2,1,0} parameter(0)
  %p3 = f32[3,3,1,1]{3,2,1,0} parameter(1)
  ROOT %c = f32[1,8,8,1]{3,2,1,0} convolution(%p2, %p3), window={size=3x3 pad=1_1x1_1}
}

%adds (p4: f32[8,8]) -> f32[8,8] {
  %p4 = f32[8,8]{1,0} parameter(0)
  ROOT %twice = f32[8,8]{1,0} add(%p4, %p4)
}

%body (p5: (f32[8,8])) -> (f32[8,8]) {
  %p5 = (f32[8,8]{1,0}) parameter(0)
  %x5 = f32[8,8]{1,0} get-tuple-element(%p5), index=0
  %fused5 = f32[8,8]{1,0} fusion(%x5), kind=kLoop, calls=%adds
  ROOT %t5 = (f32[8,8]{1,0}) tuple(%fused5)
}

%condition (p6: (f32[8,8])) -> pred[] {
  %p6 = (f32[8,8]{1,0}) parameter(0)
  ROOT %true = pred[] constant(true)
}

%commands (p7: f32[8,8]) -> f32[8,8] {
  %p7 = f32[8,8]{1,0} parameter(0)
  %gemm = (f32[8,8]{1,0}, s8[64]{0}) custom-call(%p7, %p7), custom_call_target="__cublas$matmul"
  ROOT %g = f32[8,8]{1,0} get-tuple-element(%gemm), index=0
}

%wrapped (p8: f32[8,8]) -> f32[8,8] {
  %p8 = f32[8,8]{1,0} parameter(0)
  ROOT %r8 = f32[8,8]{1,0} custom-call(%p8), custom_call_target="__cublas$gemm"
}

ENTRY %main.1 (x: f32[8,8]) -> f32[8,8] {
  %x = f32[8,8]{1,0} parameter(0), metadata={op_name="convolution(dot(x))"}
  %triton = f32[8,8]{1,0} fusion(%x, %x), kind=kCustom, calls=%with_dot
  %again = f32[8,8]{1,0} fusion(%triton, %x), kind=kCustom, calls=%with_dot
  %loop = f32[8,8]{1,0} fusion(%again), kind=kLoop, calls=%adds
  %called = f32[8,8]{1,0} call(%loop), to_apply=%commands
  %start = ((f32[8,8]{1,0}), f32[8,8]{1,0}) async-start(%called), calls=%wrapped
  %done = f32[8,8]{1,0} async-done(%start), calls=%wrapped
  %image = f32[1,8,8,1]{3,2,1,0} bitcast(%done)
  %kernel = f32[3,3,1,1]{3,2,1,0} constant({...})
  %conv = (f32[1,8,8,1], u8[16]{0}) custom-call(%image, %kernel), custom_call_target="__cudnn$conv"
  %fused_conv = f32[1,8,8,1]{3,2,1,0} fusion(%image, %kernel), kind=kCustom, calls=%cudnn_fusion
  %attention = f32[8,8]{1,0} custom-call(%done), custom_call_target="__cudnn$fmhaSoftmax"
  %state = (f32[8,8]{1,0}) tuple(%attention)
  %looped = (f32[8,8]{1,0}) while(%state), condition=%condition, body=%body
  %zero = f32[] constant(0)
  %reduced = f32[8]{0} reduce(%done, %zero), dimensions={1}, to_apply=%sum
  ROOT %plain = f32[8,8]{1,0} dot(%done, %attention), lhs_contracting_dims={1}
}
"""


def selftest() -> None:
    """Checks what is counted and how it is judged, without a compiler."""

    def expect(what: str, actual: object, expected: object) -> None:
        if actual != expected:
            raise SystemExit(f"selftest: {what}: expected {expected}, but got {actual}")

    counts = hlo.count(SELFTEST)
    # Two fusions of Triton, two custom calls (one of them asynchronous) and one operation.
    expect("products", counts.products, 5)
    expect("convolutions", counts.convolutions, 2)
    # In the function and in the body of the loop; none inside of fusions.
    expect("fusions", counts.fusions, 2)
    matrix, kernel = 8 * 8 * 4, 3 * 3 * 4
    expect("traffic", counts.traffic_bytes, sum([
        3 * matrix, 3 * matrix,  # the fusions of Triton
        2 * matrix, 2 * matrix,  # elementwise, also in the loop
        3 * matrix + 64,  # called, with scratch memory
        2 * matrix,  # asynchronous
        2 * matrix + kernel + 16, 2 * matrix + kernel,  # convolutions
        2 * matrix,  # attention
        matrix + 4 + 32,  # reduction
        3 * matrix,  # product
    ]))
    for text, size in (("f32[2,3]{1,0}", 24), ("bf16[5]", 10), ("pred[3]{0}", 3), ("s4[3]{0}", 2),
                       ("f8e4m3fn[7]", 7), ("f32[]", 4), ("token[]", 0), ("c64[2]", 16),
                       ("(f32[2]{0}, /*index=1*/(u8[3]{0}, s64[]))", 19)):
        expect(f"bytes of {text}", hlo.type_bytes(text), size)
    try:
        hlo.count("module {}")
    except ValueError:
        pass
    else:
        raise SystemExit("selftest: expected that MLIR is refused")

    expect("more", exceeding(Added(3, 0, 0.2), Added(2, 0, 0.3)), ["products"])
    expect("more of an unknown cost", exceeding(Added(2, 1, 0.2), Added(2, 1, None)), [])
    expect("a third", not_below_a_third(Added(1, 1, 0.1), Added(3, 0, 0.31)),
           ["products", "convolutions"])
    expect("less than a third", not_below_a_third(Added(0, -1, 0.1), Added(3, 0, 0.31)), [])


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _value(text: str) -> Any:
    """A number or a truth value as JSON has them, or the text."""
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except ValueError:
        return text


def _parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS), help=f"default: {', '.join(MODELS)}")
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--budgets", type=_numbers, default=list(BUDGETS), metavar="PERCENT,...",
                        help="in percent of what the unchanged step takes")
    parser.add_argument("--limits", type=_numbers, default=list(LIMITS), metavar="PERCENT,...",
                        help="of XLA's own pass, in percent of what the unchanged step takes")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE",
                        help="another value of a field of all models, such as layers=2")
    parser.add_argument("--plugin", default=os.environ.get("REMAT_XLA_GPU_PLUGIN"), metavar="DIR",
                        help="folder of the compiler (default: $REMAT_XLA_GPU_PLUGIN)")
    parser.add_argument("--cache", metavar="DIR", help="folder of what has been compiled before")
    parser.add_argument("--json", metavar="FILE", help="also write all points as JSON")
    parser.add_argument("--selftest", action="store_true",
                        help="check the counting and the verdicts, and do nothing else")
    options = parser.parse_args(arguments)
    options.models, options.only = options.models.split(","), options.only.split(",")
    for given, known in ((options.models, list(MODELS)), (options.only, list(PARTS))):
        for each in given:
            if each not in known:
                parser.error(f"there is no '{each}': there are {', '.join(known)}")
    if not all("=" in each for each in options.set):
        parser.error("expected --set FIELD=VALUE")
    options.set = {name: _value(value)
                   for name, value in (each.split("=", 1) for each in options.set)}
    if not options.selftest and not options.plugin:
        parser.error("expected --plugin, or the environment variable REMAT_XLA_GPU_PLUGIN")
    return options


def main() -> int:
    options = _parse()
    if options.selftest:
        selftest()
        return 0
    os.environ["JAX_PLATFORMS"] = "cpu"
    gpu_topology.install_plugin(options.plugin)
    results = Results()
    for name in options.models:
        bench = Bench(name, options.set, options.cache,
                      lambda text: print(text, file=sys.stderr, flush=True))
        run(bench, options.only, options.budgets, options.limits, results)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(results.json, file, indent=1)
    print(results)
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
