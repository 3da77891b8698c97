#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes random functions before and after --rematerialize and compares the results bit for bit.

  random-results.py FIRST_SEED LAST_SEED DIRECTORY MLIR_LIB

For each seed of generate.py's `pure` functions, with the smallest budget that the tool knows and
one half way to it. Prints a line for each difference, and how many runs recomputed something.
"""

import itertools
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"random-results.py: {' '.join(command[:3])}: {done.stdout[:200]}"
                 f"{done.stderr[:800]}")
    return done.stdout


def main():
    first, last, directory, mlir_lib = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5]
    os.makedirs(directory, exist_ok=True)
    source, output, report = (os.path.join(directory, name)
                              for name in ("in.mlir", "out.mlir", "report.json"))
    execute = [sys.executable, os.path.join(HERE, "execute.py"), "--mlir-lib", mlir_lib]
    runs = recomputed = differences = 0
    for seed in range(first, last + 1):
        with open(source, "w", encoding="utf-8") as file:
            file.write(run([sys.executable, os.path.join(HERE, "generate.py"), "pure", str(seed)]))
        run(["remat-opt", source, "-o", output, f"--rematerialize=budget=100% report={report}"])
        expected = run(execute + [output])
        with open(report, encoding="utf-8") as file:
            function = json.load(file)["functions"][0]
        smallest, peak = function["minimum_known_bytes"], function["baseline_packed_bytes"]
        # The greedy run recomputes where a search finds another order.
        for budget, solver in itertools.product((smallest, (smallest + peak) // 2),
                                                ("greedy", "auto")):
            run(["remat-opt", source, "-o", output,
                 f"--rematerialize=budget={budget}B solver={solver} report={report}"])
            run([sys.executable, os.path.join(HERE, "facts.py"), report, output])
            with open(report, encoding="utf-8") as file:
                recomputed += bool(json.load(file)["functions"][0]["recomputed"])
            runs += 1
            if run(execute + [output]) != expected:
                differences += 1
                print(f"seed {seed}, budget {budget}, solver {solver}: the results differ")
    print(f"{runs} runs, {recomputed} with recomputation, {differences} with other results")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
