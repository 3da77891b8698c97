#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs --rematerialize on random functions with random budgets and checks what must always hold.

  random-budgets.py FIRST_SEED LAST_SEED DIRECTORY

For each seed of generate.py's random functions: the peak after is never above the one before; a
budget is met or refused with a minimum that does not depend on it and that a second run meets; more
budget never costs more; what the report says is sound (facts.py); the output planned again with the
same budget stays as it is. Prints one line for each seed that fails.
"""

import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = ["remat-opt", "--allow-unregistered-dialect"]


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Checker:
    def __init__(self, seed, directory):
        self.problems = []
        self.input, self.output, self.again, self.report = (
            os.path.join(directory, f"{seed}.{name}")
            for name in ("in.mlir", "out.mlir", "again.mlir", "json"))
        with open(self.input, "w", encoding="utf-8") as file:
            file.write(run([sys.executable, os.path.join(HERE, "generate.py"), "random",
                            str(seed)]).stdout)

    def plan(self, budget):
        """The report of a run, after checking it and the output; None if there is none."""
        for name in (self.output, self.report):
            if os.path.exists(name):
                os.remove(name)
        done = run(TOOL + [self.input, "-o", self.output,
                           f"--rematerialize=budget={budget} report={self.report}"])
        if "internal error" in done.stderr or not os.path.exists(self.report):
            self.problems.append(f"budget {budget}: {done.stderr[:300]}")
            return None
        met = done.returncode == 0
        facts = run([sys.executable, os.path.join(HERE, "facts.py"), self.report]
                    + ([self.output] if met else []))
        self.problems += [f"budget {budget}: {line}" for line in facts.stderr.splitlines()]
        with open(self.report, encoding="utf-8") as file:
            function = json.load(file)["functions"][0]
        if met != (function["status"] in ("met", "unchanged")):
            self.problems.append(f"budget {budget}: exit code {done.returncode}, "
                                 f"{function['status']}")
        if met:
            self.plan_again(budget)
        return function

    def plan_again(self, budget):
        done = run(TOOL + [self.output, "-o", self.again, f"--rematerialize=budget={budget}"])
        with open(self.output, encoding="utf-8") as file:
            before = file.read()
        if done.returncode != 0:
            self.problems.append(f"budget {budget}: the output is refused: {done.stderr[:300]}")
            return
        with open(self.again, encoding="utf-8") as file:
            if before != file.read():
                self.problems.append(f"budget {budget}: a second run changes the output")


def check(seed, directory):
    checker = Checker(seed, directory)
    unchanged = checker.plan("100%")
    if unchanged is None:
        return checker.problems
    peak, rng = unchanged["baseline_packed_bytes"], random.Random(seed)
    budgets = [f"{rng.randint(1, peak)}B" for _ in range(4)] + [
        f"{unchanged['minimum_known_bytes']}B", f"{unchanged['minimum_known_bytes'] - 1}B"]
    costs = []
    for budget in sorted(budgets, key=lambda text: -int(text[:-1])):
        function = checker.plan(budget)
        if function is None:
            continue
        if function["minimum_known_bytes"] != unchanged["minimum_known_bytes"]:
            checker.problems.append(f"budget {budget}: the minimum depends on the budget")
        if (function["status"] == "infeasible") != (
                function["budget_bytes"] < unchanged["minimum_known_bytes"]):
            checker.problems.append(f"budget {budget}: {function['status']}, but the minimum is "
                                    f"{unchanged['minimum_known_bytes']}")
        if function["status"] != "infeasible":
            costs.append(function["added_cost_ps"])
    if costs != sorted(costs):
        checker.problems.append(f"costs fall with the budget: {costs}")
    return checker.problems


def main():
    first, last, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.makedirs(directory, exist_ok=True)
    failed = 0
    for seed in range(first, last + 1):
        if problems := check(seed, directory):
            failed += 1
            print(f"seed {seed}: " + "; ".join(problems))
    print(f"{last - first + 1 - failed} of {last - first + 1} seeds pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
