#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs --rematerialize on captured training graphs at several budgets and checks every promise.

For each graph and budget: met, or refused with a minimum that a second run then meets; the live
peak of the printed output, recounted by test/integration/recount.py, equals the reported one; the
packed peak is within the budget; costs fall and peaks rise with the budget. Prints a Markdown
table (packed peak, overhead, seconds and memory of the whole process). Exit code 1 if anything is
wrong.

  training_graphs.py REMAT_OPT GRAPH.mlir... [--budgets 95,90,...] [--output FILE]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

RECOUNT = os.path.join(os.path.dirname(__file__), "..", "integration", "recount.py")


def run(command):
    """Exit code, standard error, seconds and peak memory in bytes of a process."""
    started = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, errors, time.monotonic() - started, usage.ru_maxrss * 1024


class Graph:
    def __init__(self, tool, path, options):
        self.tool, self.path, self.options = tool, path, options
        self.name = os.path.basename(path).removesuffix(".mlir")
        self.failures = []

    def plan(self, budget, directory):
        """The function's report, seconds and memory; the output's live peak is recounted."""
        report, output = (os.path.join(directory, name) for name in ("report.json", "out.mlir"))
        for old in (report, output):
            if os.path.exists(old):
                os.remove(old)
        code, errors, seconds, memory = run(
            [self.tool, self.path, "-o", output,
             f"--rematerialize=fusion=none budget={budget} report={report} {self.options}"])
        if not os.path.exists(report):
            self.fail(budget, f"no report, exit code {code}: {errors[:500]}")
            return None, seconds, memory
        with open(report) as file:
            main = next(f for f in json.load(file)["functions"] if f["status"] != "skipped")
        if (code == 0) != (main["status"] in ("met", "unchanged")):
            self.fail(budget, f"exit code {code} with status {main['status']}: {errors[:500]}")
        elif code == 0:
            counted = subprocess.run([sys.executable, RECOUNT, output], capture_output=True,
                                     text=True)
            if counted.stdout.strip() != str(main["peak_bytes"]):
                self.fail(budget, f"reported {main['peak_bytes']}, recounted "
                                  f"{counted.stdout.strip() or counted.stderr}")
            if main["packed_bytes"] > main["budget_bytes"]:
                self.fail(budget, "over the budget")
        elif str(main["minimum_known_bytes"]) not in errors:
            self.fail(budget, "the error does not name the minimum")
        return main, seconds, memory

    def fail(self, budget, message):
        self.failures.append(f"{self.name} at {budget}: {message}")


def sweep(graph, budgets, directory):
    rows, minimum, last = [], None, None
    for percent in budgets:
        main, seconds, memory = graph.plan(f"{percent}%", directory)
        if main is None:
            continue
        if minimum is not None and main["minimum_known_bytes"] != minimum:
            graph.fail(f"{percent}%", "the minimum depends on the budget")
        minimum = main["minimum_known_bytes"]
        if main["status"] == "infeasible":
            cell = f"refused, minimum {minimum / 1e9:.3f} GB"
            if last != "infeasible":
                second, *_ = graph.plan(f"{minimum}B", directory)
                if second is None or second["status"] == "infeasible":
                    graph.fail(f"{percent}%", "the minimum is refused as well")
                else:
                    cell += f", met at +{100 * second['overhead']:.2f} %"
            last = "infeasible"
        else:
            if last == "infeasible":
                graph.fail(f"{percent}%", "met below a refused budget")
            if last and (main["added_cost_ps"] < last["added_cost_ps"]
                         or main["packed_bytes"] > last["packed_bytes"]):
                graph.fail(f"{percent}%", "not monotone")
            cell = f"{main['packed_bytes'] / 1e9:.3f} GB, +{100 * main['overhead']:.2f} %"
            last = main
        rows.append((graph.name, percent, main["baseline_packed_bytes"], cell, seconds, memory))
        print(f"{graph.name} {percent}%: {cell}, {seconds:.1f} s", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--budgets", default="95,90,80,70,60,50,40")
    parser.add_argument("--options", default="", help="more options of the pass")
    parser.add_argument("--output", help="write the table to this file")
    arguments = parser.parse_args()
    budgets = sorted((int(text) for text in arguments.budgets.split(",")), reverse=True)

    failures = []
    lines = ["| graph | unchanged | " + " | ".join(f"{b} %" for b in budgets)
             + " | seconds | memory |",
             "| --- " * (len(budgets) + 4) + "|"]
    with tempfile.TemporaryDirectory() as directory:
        for path in arguments.graphs:
            graph = Graph(arguments.tool, path, arguments.options)
            rows = sweep(graph, budgets, directory)
            failures += graph.failures
            if rows:
                lines.append(f"| {graph.name} | {rows[0][2] / 1e9:.3f} GB | "
                             + " | ".join(row[3] for row in rows)
                             + f" | {max(row[4] for row in rows):.1f}"
                             + f" | {max(row[5] for row in rows) / 1e6:.0f} MB |")
    table = "\n".join(lines) + "\n"
    print(table)
    if arguments.output:
        with open(arguments.output, "w") as file:
            file.write(table)
    for failure in failures:
        print("FAILED", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
