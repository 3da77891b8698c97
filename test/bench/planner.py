#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs remat-plan on public and generated instances, and compares it with what is known of them.

Prints a Markdown table for each group of instances: the cost that the plan adds, the lower bound
and the gap in percent of the unchanged cost, the status, the seconds (median of the repetitions)
and the peak memory of the whole process. Every answer is counted again by replay.py from the
input and the sequence of executions, and is the same in all repetitions. The last column says
whether the row's target is reached; exit code 1 if one is not, or if any answer is wrong.

  planner.py REMAT_PLAN [--group fixed,reorder,...] [--rows REGEX] [--repeat 3] [--data DIR]
             [--markdown FILE] [--csv FILE] [--options=--effort=3] [--sweep-options=--effort=1]
             [--problems DIR [--plain-annealer PROGRAM]]

With --markdown each table replaces what is between `<!-- begin GROUP -->` and `<!-- end GROUP -->`
in that file.
"""

import argparse
import csv
import dataclasses
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from fractions import Fraction

from replay import Graph, WrongPlan, read_instance, require

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "..", "shared", "data")

GRAPHS = {"CM1": "fcn8-vgg-b32-train", "CM2": "resnet50-b256-train", "UNET": "unet-vgg-b32-train",
          "SEG": "segnet-b32-train", "RL1": "random-layered-n100", "RL2": "random-layered-n250",
          "RL3": "random-layered-n500", "RL4": "random-layered-n1000"}

# Percent of the unchanged cost that the cheapest plans add in which first computations keep the
# input order; proven optima (shared/data/README.md), of which the last digit may be off by one.
OPTIMA = {("CM1", 90): 0.0294, ("CM1", 80): 0.1362, ("CM1", 70): 0.8915, ("CM1", 65): 1.6173,
          ("UNET", 90): 1.1289, ("UNET", 80): 1.9836, ("UNET", 70): 2.9673, ("UNET", 60): 4.4509,
          ("UNET", 50): 6.9666,
          ("SEG", 90): 0.1030, ("SEG", 80): 0.2067, ("SEG", 70): 0.3111, ("SEG", 60): 0.4233}
ROUNDING = 0.0001
# What the plan may add beyond the optimum, in percentage points.
SLACK = 0.05

# Published by FastSA (NeurIPS 2023), as printed there; nodes may move. RL1 and RL3 at 70 % are
# above the budget.
FASTSA = {("CM1", 90): "0.1", ("CM1", 80): "0.1", ("CM1", 70): "3.0",
          ("CM2", 90): "0.2", ("CM2", 80): "0.4", ("CM2", 70): "0.8",
          ("RL1", 90): "0.0", ("RL1", 80): "0.3", ("RL1", 70): "2.2 (over budget)",
          ("RL2", 90): "0.0", ("RL2", 80): "0.0", ("RL2", 70): "2.6",
          ("RL3", 90): "0.03", ("RL3", 80): "2.3", ("RL3", 70): "4.8 (over budget)",
          ("RL4", 90): "0.4", ("RL4", 80): "2.5", ("RL4", 70): "7.4"}
# The least that was measured elsewhere (shared/data/README.md).
MEASURED = {("CM2", 90): 0.1208, ("CM2", 80): 0.3180, ("CM2", 70): 0.6027, ("CM2", 60): 1.1758,
            ("CM2", 50): 1.7440}
CM2_TARGETS = {90: 0.13, 80: 0.33, 70: 0.65, 60: 1.2, 50: 1.8}

CHAIN_LAYERS = (1, 2, 3, 7, 16, 33, 64, 200, 512, 1024)
CHAIN_BUDGETS = (3, 4, 8, 16, 64)
# Forward operations of the long chain: 100,001 operations in all.
LONG_CHAIN = 50_000

# Nodes, seeds, seconds.
LAYERED = ((10_000, (1, 2, 3), 10), (50_000, (1, 2), 30), (100_000, (1,), 60))
LAYERED_MEMORY = 4_000_000_000

ARENA_BYTES = 1_048_576

# Seconds of the processor after which a process is killed.
CPU_LIMIT = 3600

# The peak memory of a process includes that of the one which it was made from, so that is a small
# one. Prints exit code, seconds, seconds of the processor and peak bytes.
LAUNCHER = f"""
import os, resource, subprocess, sys, time
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_LIMIT}, {CPU_LIMIT}))
output = open(sys.argv[1], "w")
started = time.monotonic()
process = subprocess.Popen(sys.argv[2:], stdout=output)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(process.returncode, time.monotonic() - started, usage.ru_utime + usage.ru_stime,
      usage.ru_maxrss * 1024)
"""


@dataclasses.dataclass
class Run:
    code: int
    seconds: float
    cpu_seconds: float
    memory: int
    errors: str


def run(command, output=os.devnull):
    launched = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, output] + command,
                              capture_output=True, text=True, check=True)
    code, seconds, cpu_seconds, memory = launched.stdout.split()
    return Run(int(code), float(seconds), float(cpu_seconds), int(memory), launched.stderr)


@dataclasses.dataclass
class Row:
    """One instance with one budget; what is known of it; what the answer has to reach."""
    instance: str
    budget: str
    path: str
    options: tuple = ()
    known: str = ""
    # The optimum in percent, exact up to ROUNDING.
    optimum: float = None
    # Targets: percent, seconds, bytes; whether the budget has to be met.
    most: float = None
    seconds: float = None
    memory: int = None
    must_fit: bool = False
    # Filled by measure().
    answer: dict = None
    taken_seconds: float = None
    taken_cpu_seconds: float = None
    taken_memory: int = None
    wrong: list = dataclasses.field(default_factory=list)
    missed: list = dataclasses.field(default_factory=list)

    @property
    def is_met(self):
        return self.answer is not None and self.answer["status"] in ("optimal", "feasible")

    @property
    def status(self):
        if self.answer is None:
            return "no answer"
        if self.is_met:
            return self.answer["status"]
        return "none found" if self.bound is not None else "none fits"

    @property
    def has_target(self):
        return self.must_fit or (self.most, self.seconds, self.memory) != (None, None, None)

    def percent(self, cost):
        return 100 * cost / self.answer["cost"] if self.answer["cost"] else 0.0

    @property
    def overhead(self):
        return self.percent(self.answer["added_cost"]) if self.is_met else None

    @property
    def bound(self):
        if self.answer is None or self.answer["added_cost_lower_bound"] is None:
            return None
        return self.percent(self.answer["added_cost_lower_bound"])

    def verdict(self):
        parts = [f"**wrong**: {text}" for text in self.wrong]
        parts += [f"missed: {text}" for text in self.missed]
        return "; ".join(parts) or ("reached" if self.has_target else "")


@dataclasses.dataclass
class Table:
    header: list
    lines: list
    notes: list = dataclasses.field(default_factory=list)
    records: list = dataclasses.field(default_factory=list)
    failures: list = dataclasses.field(default_factory=list)

    def text(self):
        lines = ["| " + " | ".join(self.header) + " |", "| --- " * len(self.header) + "|"]
        lines += ["| " + " | ".join(cells) + " |" for cells in self.lines]
        return "\n".join(lines + [""] + self.notes if self.notes else lines) + "\n"


def format_percent(value):
    return "" if value is None else f"{value:.4f}"


def format_seconds(value):
    return "" if value is None else f"{value:.2f}"


def format_memory(value):
    return "" if value is None else f"{value / 1e6:.0f} MB"


def rounded(text):
    """The largest number that is printed like that, or as less."""
    _, _, digits = text.partition(".")
    return float(text) + 0.5 / 10 ** len(digits)


def resolve(budget, peak):
    """Bytes of a budget such as '80%' or '4B'."""
    if budget.endswith("%"):
        return math.ceil(Fraction(budget[:-1]) * peak / 100)
    return int(budget.removesuffix("B"))


def solve(tool, row, directory, repeat):
    """Answers a row several times; None without an answer."""
    runs, texts = [], set()
    path = os.path.join(directory, "answer.json")
    for _ in range(repeat):
        if os.path.exists(path):
            os.remove(path)
        done = run([tool, "solve", row.path, f"--budget={row.budget}", f"--output={path}",
                    *row.options])
        if done.code not in (0, 2) or not os.path.exists(path):
            row.wrong.append(f"exit code {done.code}: {done.errors.strip()[-200:]}")
            return None
        runs.append(done)
        with open(path, encoding="utf-8") as file:
            texts.add(file.read())
    row.taken_seconds = statistics.median(done.seconds for done in runs)
    row.taken_cpu_seconds = statistics.median(done.cpu_seconds for done in runs)
    row.taken_memory = max(done.memory for done in runs)
    if len(texts) > 1:
        row.wrong.append("two runs differ")
    answer = json.loads(texts.pop())
    if (runs[-1].code == 0) != (answer["status"] != "infeasible"):
        row.wrong.append(f"exit code {runs[-1].code} with status {answer['status']}")
    return answer


def check(row, instance):
    """Compares an answer with its recount. The packed peak is not counted again: an answer has no
    offsets."""
    answer, is_packed = row.answer, "--packed" in row.options
    unchanged = instance.replay_unchanged()
    peak = answer["unchanged_peak_bytes"]
    require(answer["cost"] == instance.total_cost, "the unchanged cost")
    if is_packed:
        require(peak >= unchanged.live_peak, "the unchanged packed peak is below the live one")
        require(answer["peak_bytes"] == answer["packed_bytes"], "the peak is not the packed one")
    else:
        require(peak == unchanged.live_peak, f"unchanged peak {peak}, not {unchanged.live_peak}")
    require(answer["budget_bytes"] == resolve(row.budget, peak), "the budget")
    taken = instance.replay_answer(answer, in_order="--reorder=off" in row.options)
    require(taken.added_cost == answer["added_cost"],
            f"added cost {answer['added_cost']}, not {taken.added_cost}")
    # A schedule does not say which of two computations is read; a plan does.
    reported = answer["live_peak_bytes"]
    require(taken.live_peak == reported or (isinstance(instance, Graph)
                                            and taken.live_peak < reported),
            f"live peak {reported}, not {taken.live_peak}")
    require(reported <= answer["packed_bytes"], "the packed peak is below the live one")
    if row.is_met:
        require(max(taken.live_peak, answer["peak_bytes"]) <= answer["budget_bytes"],
                f"over the budget: {taken.live_peak}")
        bound = answer["added_cost_lower_bound"]
        require(bound is not None and bound <= taken.added_cost, "the lower bound")
        require((answer["status"] == "optimal") == (bound == taken.added_cost), "the status")
    if row.optimum is not None:
        require(row.bound is not None and row.bound <= row.optimum + ROUNDING,
                f"lower bound {row.bound} above the optimum")
        require(not row.is_met or row.overhead >= row.optimum - ROUNDING,
                f"overhead {row.overhead} below the optimum")


def measure(tool, row, directory, repeat, instance=None):
    row.answer = solve(tool, row, directory, repeat)
    if row.answer is not None:
        try:
            check(row, instance or read_instance(row.path))
        except WrongPlan as error:
            row.wrong.append(str(error))
    if row.must_fit and not row.is_met:
        row.missed.append("the budget is not met")
    if row.most is not None and not (row.is_met and row.overhead <= row.most):
        row.missed.append(f"at most {row.most:.4g} %")
    if row.seconds is not None and not (row.taken_seconds or math.inf) <= row.seconds:
        row.missed.append(f"within {row.seconds:g} s")
    if row.memory is not None and not (row.taken_memory or math.inf) < row.memory:
        row.missed.append(f"below {format_memory(row.memory)}")


class Benchmark:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.tool, self.data = options.tool, options.data

    def is_chosen(self, *words):
        return not self.options.rows or re.search(self.options.rows, " ".join(words))

    def tell(self, text):
        print(text, file=sys.stderr, flush=True)

    def graph(self, name):
        return os.path.join(self.data, "graphs", GRAPHS[name] + ".json")

    def measure(self, group, rows, instance=None, repeat=None):
        """The rows that are chosen, measured."""
        chosen = [row for row in rows if self.is_chosen(group, row.instance, row.budget)]
        for row in chosen:
            row.options = (*row.options, *self.options.options)
            measure(self.tool, row, self.directory, repeat or self.options.repeat, instance)
            self.tell(f"{group} {row.instance} {row.budget}: {format_percent(row.overhead)} % "
                      f"{format_seconds(row.taken_seconds)} s "
                      f"(processor {format_seconds(row.taken_cpu_seconds)} s) {row.verdict()}")
        return chosen

    def generate(self, *arguments):
        path = os.path.join(self.directory, "-".join(arguments).replace("=", "-") + ".json")
        if not os.path.exists(path):
            subprocess.run([self.tool, "generate", *arguments, f"--output={path}"], check=True)
        return path

    def table(self, group, rows, known=None, extra=None):
        """A table with a line for each row. `known` is the title of what is known of the rows,
        `extra` maps titles to more cells."""
        extra = extra or {}
        if known:
            extra = {known: [row.known for row in rows], **extra}
        table = Table(["instance", "budget", *extra, "overhead, %", "lower bound, %",
                       "gap, points", "status", "seconds", "memory", "target"], [])
        for number, row in enumerate(rows):
            gap = row.overhead - row.bound if row.is_met and row.bound is not None else None
            table.lines.append([row.instance, row.budget,
                                *(cells[number] for cells in extra.values()),
                                format_percent(row.overhead), format_percent(row.bound),
                                format_percent(gap), row.status, format_seconds(row.taken_seconds),
                                format_memory(row.taken_memory), row.verdict()])
            self.record(table, group, row)
        return table

    def record(self, table, group, row):
        answer = row.answer or {}
        table.records.append(
            {"group": group, "instance": row.instance, "budget": row.budget, "known": row.known,
             "budget_bytes": answer.get("budget_bytes"), "peak_bytes": answer.get("peak_bytes"),
             "added_cost": answer.get("added_cost"), "overhead_percent": row.overhead,
             "lower_bound_percent": row.bound, "status": row.status,
             "seconds": row.taken_seconds, "cpu_seconds": row.taken_cpu_seconds,
             "memory_bytes": row.taken_memory,
             "verdict": row.verdict()})
        if row.wrong or row.missed:
            table.failures.append(f"{group} {row.instance} {row.budget}: {row.verdict()}")

    # ---- Groups ----------------------------------------------------------------------------------

    def fixed(self):
        rows = []
        for (name, percent), optimum in OPTIMA.items():
            known = f"{optimum:.4f} optimal"
            if (name, percent) in FASTSA:
                known += f"; FastSA {FASTSA[name, percent]}, free order"
            most = optimum + SLACK
            if (name, percent) == ("CM1", 70):
                most = min(most, 1.0)
            rows.append(Row(name, f"{percent}%", self.graph(name), ("--reorder=off",), known,
                            optimum, most, seconds=10, must_fit=True))
        rows.append(Row("SEG", "50%", self.graph("SEG"), ("--reorder=off",), "optimum ≥ 0.6405",
                        most=40.7, seconds=30, must_fit=True))
        rows = self.measure("fixed", rows)
        table = self.table("fixed", rows, "known, %")
        proven = [row for row in rows if row.optimum is not None]
        if proven and not self.options.rows:
            strong = sum(row.bound is not None and row.bound >= row.optimum / 2 for row in proven)
            is_reached = 2 * strong >= len(proven)
            table.notes.append(
                f"The lower bound is at least half of the optimum in {strong} of {len(proven)} "
                f"rows; target: half of them, {'reached' if is_reached else 'missed'}.")
            if not is_reached:
                table.failures.append("fixed: the lower bounds are too weak")
        return table

    def reorder(self):
        rows = []
        for percent, most in CM2_TARGETS.items():
            known = f"{MEASURED['CM2', percent]:.4f} measured"
            if ("CM2", percent) in FASTSA:
                known += f"; FastSA {FASTSA['CM2', percent]}"
            rows.append(Row("CM2", f"{percent}%", self.graph("CM2"), (), known, most=most,
                            seconds=30, must_fit=True))
        for name in ("RL1", "RL2", "RL3", "RL4"):
            for percent in (90, 80, 70):
                published = FASTSA[name, percent]
                row = Row(name, f"{percent}%", self.graph(name), (), f"FastSA {published}",
                          seconds=30)
                if percent > 70:
                    row.most = rounded(published)
                elif name == "RL4":
                    row.most = float(published)
                row.must_fit = (name, percent) != ("RL2", 70)
                rows.append(row)
        return self.table("reorder", self.measure("reorder", rows), "known, %")

    def chains(self):
        table = Table(["chain", "budget", "operations executed", "seconds", "memory", "target"],
                      [])
        for layers in CHAIN_LAYERS:
            rows = []
            for budget in sorted({*(size for size in CHAIN_BUDGETS if size < layers + 2),
                                  layers + 2}):
                cost = 2 * layers + 1 + revolve(layers + 1, budget - 2) - layers
                rows.append(Row(f"L = {layers}", f"{budget}B", "", ("--solver=chain",), str(cost),
                                must_fit=True))
            if not any(self.is_chosen("chains", row.instance, row.budget) for row in rows):
                continue
            path = self.generate("chain", f"--layers={layers}")
            for row in rows:
                row.path = path
            rows = self.measure("chains", rows, read_instance(path), repeat=1)
            for row in rows:
                if row.is_met and row.answer["cost"] + row.answer["added_cost"] != int(row.known):
                    row.missed.append(f"closed form {row.known}")
                self.record(table, "chains", row)
            bad = [f"{row.budget}: {row.verdict()}" for row in rows if row.wrong or row.missed]
            table.lines.append([
                rows[0].instance, ", ".join(row.budget.removesuffix("B") for row in rows) + " B",
                ", ".join(str(row.answer["cost"] + row.answer["added_cost"]) if row.is_met else "?"
                          for row in rows),
                format_seconds(max(row.taken_seconds or 0 for row in rows)),
                format_memory(max(row.taken_memory or 0 for row in rows)),
                "; ".join(bad) or "all equal the closed form"])
        row = Row(f"L = {LONG_CHAIN}", "50%", "", seconds=5, must_fit=True)
        if self.is_chosen("chains", row.instance, row.budget):
            row.path = self.generate("chain", f"--layers={LONG_CHAIN}")
            self.measure("chains", [row])
            self.record(table, "chains", row)
            executed, least = "?", "?"
            if row.is_met:
                executed = row.answer["cost"] + row.answer["added_cost"]
                least = 1 + LONG_CHAIN + revolve(LONG_CHAIN + 1, row.answer["budget_bytes"] - 2)
            table.lines.append([row.instance, row.budget, f"{executed} (closed form {least})",
                                format_seconds(row.taken_seconds),
                                format_memory(row.taken_memory), row.verdict()])
        return table

    def layered(self):
        measured, greedy = [], []
        for nodes, seeds, seconds in LAYERED:
            for seed in seeds:
                row = Row(f"{nodes} nodes, seed {seed}", "80%", "", (), seconds=seconds,
                          memory=LAYERED_MEMORY, must_fit=True)
                if not self.is_chosen("layered", row.instance, row.budget):
                    continue
                row.path = self.generate("random-layered", f"--nodes={nodes}", f"--seed={seed}")
                instance = read_instance(row.path)
                other = Row(row.instance + ", greedy", row.budget, row.path, ("--solver=greedy",))
                measure(self.tool, other, self.directory, 1, instance)
                self.measure("layered", [row], instance)
                row.wrong += [f"greedy: {text}" for text in other.wrong]
                if other.is_met:
                    row.known = f"{other.overhead:.4f}"
                    if not (row.is_met and row.overhead <= other.overhead):
                        row.missed.append("no worse than the greedy run")
                else:
                    row.known = "not met"
                measured.append(row)
                greedy.append(format_seconds(other.taken_seconds))
        return self.table("layered", measured, "greedy, %", {"greedy, seconds": greedy})

    def arena(self):
        table = Table(["instance", "buffers", "capacity", "arena", "seconds", "memory", "target"],
                      [])
        output = os.path.join(self.directory, "offsets.csv")
        for path in sorted(glob.glob(os.path.join(self.data, "arena", "*.csv"))):
            name = os.path.basename(path).partition(".")[0]
            if not self.is_chosen("arena", name):
                continue
            verdict, runs, texts = [], [], set()
            for _ in range(self.options.repeat):
                if os.path.exists(output):
                    os.remove(output)
                runs.append(run([self.tool, "pack", path, f"--capacity={ARENA_BYTES}",
                                 f"--output={output}"]))
                if os.path.exists(output):
                    with open(output, encoding="utf-8") as file:
                        texts.add(file.read())
            seconds = statistics.median(done.seconds for done in runs)
            count, arena = 0, 0
            try:
                require(len(texts) == 1, "two runs differ, or there is no answer")
                count, arena = check_offsets(path, output)
                require((runs[0].code == 0) == (arena <= ARENA_BYTES), "the exit code")
            except WrongPlan as error:
                verdict.append(f"**wrong**: {error}")
            if arena > ARENA_BYTES:
                verdict.append("missed: the capacity")
            if seconds > 60:
                verdict.append("missed: within 60 s")
            memory = max(done.memory for done in runs)
            text = "; ".join(verdict) or "reached"
            table.lines.append([name, str(count), str(ARENA_BYTES), str(arena),
                                format_seconds(seconds), format_memory(memory), text])
            table.records.append({"group": "arena", "instance": name, "budget": ARENA_BYTES,
                                  "peak_bytes": arena, "seconds": seconds, "memory_bytes": memory,
                                  "verdict": text})
            table.failures += [f"arena {name}: {item}" for item in verdict]
            self.tell(f"arena {name}: {arena} {seconds:.2f} s {text}")
        return table

    def sweep(self):
        shown = (90, 80, 70, 60, 50, 40, 30)
        table = Table(["instance", "budgets met", *(f"{percent} %" for percent in shown),
                       "smallest met", "seconds", "memory", "target"], [])
        for name in GRAPHS:
            if self.is_chosen("sweep", name):
                self.sweep_graph(table, name, shown)
        return table

    def sweep_graph(self, table, name, shown):
        graph = read_instance(self.graph(name))
        peak = graph.replay_unchanged().live_peak
        percents = [percent for percent in range(100, 0, -5)
                    if resolve(f"{percent}%", peak) >= graph.working_set()]
        output = os.path.join(self.directory, "sweep.json")
        runs, texts, verdict, points = [], set(), [], []
        for threads in (2, 2, 1):
            if os.path.exists(output):
                os.remove(output)
            runs.append(run([self.tool, "pareto", self.graph(name), f"--threads={threads}",
                             "--budgets=" + ",".join(f"{percent}%" for percent in percents),
                             f"--output={output}", *self.options.options,
                             *self.options.sweep_options]))
            if os.path.exists(output):
                with open(output, encoding="utf-8") as file:
                    texts.add(file.read())
        try:
            require(all(done.code in (0, 2) for done in runs),
                    f"exit code {runs[0].code}: {runs[0].errors.strip()[-200:]}")
            require(len(texts) == 1, "runs differ, or there is no answer")
            points = json.loads(texts.pop())["points"]
            check_sweep(graph, peak, percents, points)
        except WrongPlan as error:
            verdict.append(f"**wrong**: {error}")
        met = {percent: point for percent, point in zip(percents, points)
               if point["status"] == "met"}
        cells = [f"{met[percent]['overhead_percent']:.4f}" if percent in met else "—"
                 for percent in shown]
        smallest = min(met) if met else None
        text = "; ".join(verdict) or "reached"
        table.lines.append([
            name, f"{len(met)} of {len(percents)}", *cells,
            f"{smallest} %: {met[smallest]['overhead_percent']:.4f}" if met else "none",
            format_seconds(runs[0].seconds), format_memory(max(done.memory for done in runs)),
            text])
        for percent, point in zip(percents, points):
            table.records.append({"group": "sweep", "instance": name, "budget": f"{percent}%",
                                  "budget_bytes": point["budget_bytes"],
                                  "peak_bytes": point["peak_bytes"],
                                  "added_cost": point["added_cost"], "status": point["status"],
                                  "overhead_percent": point["overhead_percent"], "verdict": text})
        table.failures += [f"sweep {name}: {item}" for item in verdict]
        self.tell(f"sweep {name}: {len(met)} of {len(percents)} met, {runs[0].seconds:.1f} s "
                  f"{text}")

    def traces(self):
        rows = [Row(os.path.basename(path).removesuffix(".log.gz"), f"{percent}%", path)
                for path in sorted(glob.glob(os.path.join(self.data, "traces", "*.log.gz")))
                for percent in range(90, 20, -10)]
        return self.table("traces", self.measure("traces", rows))

    def problems(self):
        rows = [Row(os.path.basename(path).removesuffix(".json"), f"{percent}%", path,
                    ("--packed",))
                for path in sorted(glob.glob(os.path.join(self.options.problems, "*.json")))
                for percent in (80, 60, 40)]
        rows = self.measure("problems", rows)
        if not self.options.plain_annealer:
            return self.table("problems", rows)
        for row in rows:
            row.known = self.anneal(row)
        return self.table("problems", rows, "plain annealing, %")

    def anneal(self, row):
        """What a plain annealer adds in ten times the time; "none" if it finds nothing."""
        if row.answer is None:
            return ""
        seconds = max(1, math.ceil(10 * row.taken_seconds))
        output = os.path.join(self.directory, "annealer.txt")
        done = run([self.options.plain_annealer, row.path,
                    f"--budget={row.answer['budget_bytes']}", "--packed", f"--seconds={seconds}",
                    "--seed=1"], output)
        with open(output, encoding="utf-8") as file:
            added = re.search(r"added cost\s+(\d+)", file.read())
        self.tell(f"problems {row.instance} {row.budget}: plain annealing, {seconds} s, "
                  f"exit code {done.code}")
        if done.code == 0 and added:
            return f"{row.percent(int(added[1])):.4f}"
        if done.code != 2:
            row.wrong.append(f"plain annealing, exit code {done.code}: {done.errors[-200:]}")
        return "none"


def revolve(steps, checkpoints):
    """Forward steps that reversing takes (Griewank and Walther, Revolve, 2000)."""
    repeats = 0
    while math.comb(checkpoints + repeats, checkpoints) < steps:
        repeats += 1
    return repeats * steps - math.comb(checkpoints + repeats, checkpoints + 1)


def check_offsets(given, packed):
    """The number of buffers, and the end of the highest one."""
    columns = ("id", "lower", "upper", "size")
    with open(given, newline="", encoding="utf-8") as file:
        buffers = [tuple(row[name] for name in columns) for row in csv.DictReader(file)]
    with open(packed, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    require([tuple(row[name] for name in columns) for row in rows] == buffers, "other buffers")
    places = [tuple(int(row[name]) for name in (*columns[1:], "offset")) for row in rows]
    for number, (lower, upper, size, offset) in enumerate(places):
        require(offset >= 0, f"buffer {number} below 0")
        for other_lower, other_upper, other_size, other_offset in places[:number]:
            require(upper <= other_lower or other_upper <= lower or offset + size <= other_offset
                    or other_offset + other_size <= offset, f"buffer {number} overlaps")
    return len(places), max(size + offset for _, _, size, offset in places)


def check_sweep(graph, peak, percents, points):
    """Whether the answers are right, and rise and fall with the budgets."""
    require(len(points) == len(percents), "the number of answers")
    before = None
    for percent, point in zip(percents, points):
        taken = graph.replay(point["schedule"], in_order=False)
        require(point["budget_bytes"] == resolve(f"{percent}%", peak), f"budget at {percent} %")
        require(taken.added_cost == point["added_cost"], f"added cost at {percent} %")
        require(taken.live_peak <= point["peak_bytes"], f"peak at {percent} %")
        if point["status"] != "met":
            before = point
            continue
        require(point["peak_bytes"] <= point["budget_bytes"], f"over the budget at {percent} %")
        if before:
            require(before["status"] == "met", f"met at {percent} %, but not above")
            require(before["peak_bytes"] >= point["peak_bytes"], f"peaks rise at {percent} %")
            require(before["added_cost"] <= point["added_cost"], f"costs fall at {percent} %")
        before = point


GROUPS = ("fixed", "reorder", "chains", "layered", "arena", "sweep", "traces", "problems")


def write_markdown(path, tables):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for group, table in tables.items():
        begin, end = f"<!-- begin {group} -->\n", f"<!-- end {group} -->"
        if begin not in text or end not in text:
            sys.exit(f"{path} has no place for the table '{group}'")
        head, _, rest = text.partition(begin)
        text = head + begin + table.text() + end + rest.partition(end)[2]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool", metavar="REMAT_PLAN")
    parser.add_argument("--data", default=DATA, help="with graphs/, arena/ and traces/")
    parser.add_argument("--group", help="some of " + ",".join(GROUPS))
    parser.add_argument("--rows", help="only rows 'group instance budget' that this matches")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--options", type=str.split, default=[],
                        help="more options of solve and pareto")
    parser.add_argument("--sweep-options", type=str.split, default=["--effort=1"],
                        help="more options of pareto")
    parser.add_argument("--problems", help="directory of problems as JSON")
    parser.add_argument("--plain-annealer", help="program to compare with on --problems")
    parser.add_argument("--markdown", help="file whose tables are replaced")
    parser.add_argument("--csv", help="file for all rows")
    options = parser.parse_args()
    if options.group is None:
        options.group = ",".join(group for group in GROUPS
                                 if group != "problems" or options.problems)
    options.group = options.group.split(",")
    if unknown := set(options.group) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    if "problems" in options.group and not options.problems:
        parser.error("the group 'problems' needs --problems")
    if options.markdown and options.rows:
        parser.error("--markdown takes whole groups, not --rows")
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    return options


def main():
    options = parse_arguments()
    tables = {}
    with tempfile.TemporaryDirectory() as directory:
        benchmark = Benchmark(options, directory)
        for group in options.group:
            tables[group] = getattr(benchmark, group)()
            print(f"{group}\n\n{tables[group].text()}", flush=True)
    if options.csv:
        records = [record for table in tables.values() for record in table.records]
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            names = list(dict.fromkeys(name for record in records for name in record))
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(records)
    if options.markdown:
        write_markdown(options.markdown, tables)
    failures = [failure for table in tables.values() for failure in table.failures]
    for failure in failures:
        print("FAILED", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
