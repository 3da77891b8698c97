#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what kernels of a GPU read and write with what they have to.

  traffic.py [--tool remat-run] [--limit 1.1] [--rows 10] STEP.mlir...

Executes each step once on the emulator, which counts the sectors of 32 bytes that a launch reads and
writes, each once. The minimum is that of each fused operation: every element that it depends on, and
every result, once. Kernels of which no minimum is known (loops that were put into a kernel as they
are) are listed, but are not in the ratio. Wrong is a step whose ratio is above the limit.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile


def measure(arguments, path, folder):
    """What is known of each kernel: launches, bytes moved and the minimum of a launch, or None."""
    counts, report = os.path.join(folder, "traffic.csv"), os.path.join(folder, "report.json")
    subprocess.run([arguments.tool, path, "--device=emulator", "--iterations=0", f"--json={report}"],
                   env={**os.environ, "REMAT_EMULATOR_TRAFFIC": counts}, check=True,
                   stdout=subprocess.DEVNULL)
    with open(report) as file:
        minimum = {kernel["name"]: kernel["minimum_bytes"]
                   for kernel in json.load(file)["baseline"]["gpu_code"]["kernels"]}
    with open(counts) as file:
        return [(row["kernel"], int(row["launches"]), int(row["bytes_read"]) + int(row["bytes_written"]),
                 minimum[row["kernel"]]) for row in csv.DictReader(file)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="remat-run")
    parser.add_argument("--limit", type=float, default=1.1)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.steps:
            kernels = measure(arguments, path, folder)
            known = [kernel for kernel in kernels if kernel[3] is not None]
            moved = sum(kernel[2] for kernel in known)
            least = sum(launches * minimum for _, launches, _, minimum in known)
            other = sum(kernel[2] for kernel in kernels if kernel[3] is None)
            ratio = moved / max(least, 1)
            wrong += ratio > arguments.limit
            print(f"{os.path.basename(path)}: {sum(kernel[1] for kernel in kernels)} launches of "
                  f"{len(kernels)} kernels, {moved} bytes moved, at least {least}: {ratio:.4f}; "
                  f"{other} bytes by kernels without a minimum")
            known.sort(key=lambda kernel: kernel[1] * kernel[3] - kernel[2])
            for name, launches, bytes_moved, minimum in known[:arguments.rows]:
                print(f"  {name}: {launches} launches, {bytes_moved} bytes, at least "
                      f"{launches * minimum}")
    print(f"{wrong} above the limit")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
