#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a report of --rematerialize as lines for FileCheck, after checking that it is sound.

Each line begins with the function's name; bytes are in MiB, with the rest in bytes:

  step status: met
  step packed: 162 MiB + 64 B -> 98 MiB + 64 B
  step live: 162 MiB + 16 B -> 98 MiB + 16 B
  step minimum: 98 MiB + 64 B
  step added cost: 22719147
  step recomputed: 1 x math.exp, 64 MiB
  step moved: math.exp from 3 to 7
  step at peak: 96 MiB, test.big, needed by this operation

With the printed output of the pass as second argument, the live peak of each function is recounted
by test/integration/recount.py and must be the reported one. Exit code 1 if anything does not add
up.
"""

import argparse
import json
import os
import subprocess
import sys

MIB = 1 << 20
RECOUNT = os.path.join(os.path.dirname(__file__), "..", "..", "integration", "recount.py")


def size(count):
    mib, rest = divmod(count, MIB)
    parts = [f"{mib} MiB"] if mib else []
    return " + ".join(parts + [f"{rest} B"] if rest or not parts else parts)


def check(function, infeasible_is_applied, output, fail):
    """Calls `fail` with everything in the report that contradicts something else."""
    status, budget, packed = function["status"], function["budget_bytes"], function["packed_bytes"]
    if packed > function["baseline_packed_bytes"] and status != "infeasible":
        fail("the packed peak has grown")
    if function["peak_bytes"] > packed:
        fail("the live peak is above the packed peak")
    if function["working_set_bytes"] > function["minimum_known_bytes"]:
        fail("the minimum is below the largest working set")
    if budget is not None and status in ("met", "unchanged") and packed > budget:
        fail("the packed peak is above the budget")
    if status == "infeasible" and function["minimum_known_bytes"] <= budget:
        fail("infeasible, although the minimum is within the budget")
    if status == "unchanged" and (function["recomputed"] or function["moved"]):
        fail("unchanged, but something is recomputed or moved")
    rows = [row["bytes"] for row in function["live_at_peak"]]
    if min(rows, default=1) <= 0:
        fail("a row at the peak without bytes")
    if sum(rows) != packed:
        fail(f"the rows at the peak add up to {sum(rows)} bytes, not to {packed}")
    if sum(row["cost_ps"] for row in function["recomputed"]) != function["added_cost_ps"]:
        fail("the costs of what is recomputed do not add up to the added cost")
    bound, overhead = function["overhead_lower_bound"], function["overhead"]
    if bound is None and status != "infeasible":
        fail("no lower bound of the overhead, although there is a plan")
    if bound is not None and bound > overhead + 1e-9 and status != "infeasible":
        fail(f"the overhead {overhead} is below its lower bound {bound}")
    if output is None or status == "infeasible" and not infeasible_is_applied:
        return
    counted = subprocess.run(
        [sys.executable, RECOUNT, output, "--json", "--function", function["name"]],
        capture_output=True, text=True, check=False)
    if counted.returncode != 0:
        fail(f"recount.py: {counted.stderr.strip()}")
    elif json.loads(counted.stdout)["live_peak_bytes"] != function["peak_bytes"]:
        fail(f"live peak {function['peak_bytes']}, but the output has "
             f"{json.loads(counted.stdout)['live_peak_bytes']} bytes")


def facts(function, peak):
    yield "status", function["status"]
    if function["status"] == "skipped":
        yield "reason", function["reason"]
        return
    if function["budget_bytes"] is not None:
        yield "budget", size(function["budget_bytes"])
    for name, key in (("packed", "packed_bytes"), ("live", "peak_bytes")):
        yield name, f"{size(function['baseline_' + key])} -> {size(function[key])}"
    yield "minimum", size(function["minimum_known_bytes"])
    yield "arguments", size(function["argument_bytes"])
    yield "results", size(function["result_bytes"])
    yield "constants", size(function["constant_bytes"])
    yield "added cost", function["added_cost_ps"]
    for row in function["recomputed"]:
        yield "recomputed", f"{row['clones']} x {row['producer']}, {size(row['bytes'])}"
    for row in function["moved"]:
        yield "moved", f"{row['operation']} from {row['from']} to {row['before']}"
    place = function["peak_operation"]
    yield "peak at", f"{place['name']}, operation {place['index']}"
    if peak:
        for row in function["live_at_peak"]:
            yield "at peak", f"{size(row['bytes'])}, {row['producer']}, {row['reason']}"
        for name, count in sorted(function["categories_at_peak"].items()):
            yield "category", f"{name} {size(count)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("report")
    parser.add_argument("output", nargs="?")
    parser.add_argument("--peak", action="store_true", help="list what is live at the peak")
    parser.add_argument("--uncounted", metavar="NAME", action="append", default=[],
                        help="a function that recount.py cannot read (memrefs, dynamic shapes)")
    parser.add_argument("--warn", action="store_true",
                        help="the pass ran with on-infeasible=warn: infeasible plans are applied")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    problems = []
    for function in report["functions"]:
        name = function["name"]
        for key, value in facts(function, options.peak):
            print(f"{name} {key}: {value}")
        if function["status"] != "skipped":
            check(function, options.warn, None if name in options.uncounted else options.output,
                  lambda text, name=name: problems.append(f"{name}: {text}"))
    for problem in problems:
        print(f"facts.py: {problem}", file=sys.stderr)
        print(f"UNSOUND {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
