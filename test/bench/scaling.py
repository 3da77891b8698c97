#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how the time of --rematerialize grows with the size of the function.

For chains, ladders, wide joins and fans of 1k to 16k operations (test/cases/Inputs/generate.py):
the seconds of the processor in remat-opt with the pass, less those without it (reading and
printing), the best of some runs, and the ratio between neighbours, which should stay below 2.5; and
one chain of 100,000 operations with a stack of 1 MiB, which should take less than 20 seconds in
all. Prints a Markdown table. Exit code 1 if a limit is exceeded.

  scaling.py REMAT_OPT [--runs 3] [--sizes 1000,2000,4000,8000,16000]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

GENERATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases", "Inputs",
                        "generate.py")
MAX_RATIO = 2.5
LONG_CHAIN, LONG_CHAIN_SECONDS, STACK_BYTES = 100_000, 20.0, 1 << 20

# Kind, operations for each unit of its argument, budget. A wide join fits nothing but its peak, and
# is planned all the same.
SHAPES = [("chain", 1, "80%"), ("ladder", 2, "75%"), ("ladder", 2, "50%"), ("ladder", 2, "25%"),
          ("fan-in", 2, "50%"), ("fan-out", 9, "85%"), ("scalars", 3, "70%")]


def generate(kind, number, path):
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, GENERATE, kind, str(number)], stdout=file, check=True)


def seconds(command, runs, stack=None):
    """The shortest of some runs, in seconds of the processor, and the exit code."""
    def limit():
        if stack:
            resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
    best = float("inf")
    for _ in range(runs):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=limit) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best, process.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool", metavar="REMAT_OPT")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", default="1000,2000,4000,8000,16000",
                        help="numbers of operations, each twice the one before")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    base = [options.tool, "--allow-unregistered-dialect", "-o", os.devnull]
    failed = False
    print("| function | budget | " + " | ".join(str(size) for size in sizes) + " | ratios |")
    print("| --- | --- | " + "--- | " * len(sizes) + "--- |")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "in.mlir")
        for kind, per_unit, budget in SHAPES:
            times = []
            for size in sizes:
                generate(kind, size // per_unit, path)
                plain, _ = seconds(base + [path], options.runs)
                planned, code = seconds(
                    base + [path, f"--rematerialize=budget={budget} on-infeasible=warn"],
                    options.runs)
                failed |= code != 0
                times.append(max(planned - plain, 0.001))
            # Below a hundredth of a second it is noise.
            ratios = [after / before for before, after in zip(times, times[1:])]
            failed |= any(ratio > MAX_RATIO and after > 0.05
                          for ratio, after in zip(ratios, times[1:]))
            print(f"| {kind} | {budget} | " + " | ".join(f"{value:.3f} s" for value in times)
                  + " | " + ", ".join(f"{ratio:.2f}" for ratio in ratios) + " |", flush=True)

        generate("chain", LONG_CHAIN, path)
        taken, code = seconds(base + [path, "--rematerialize=budget=80%"], 1, STACK_BYTES)
        failed |= code != 0 or taken > LONG_CHAIN_SECONDS
        print(f"\nA chain of {LONG_CHAIN} operations with a stack of {STACK_BYTES} bytes: "
              f"{taken:.1f} s, exit code {code}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
