#!/usr/bin/env python3
"""Executes training steps with remat-run within several budgets.

  run.py [--tool remat-run] [--percent 100,80,60,50] [--device emulator|gpu [--bound 1e-5]] STEP.mlir...

Budgets are percentages of the step's own packed peak, or a little more than the smallest one that is
feasible, where that is larger. Wrong is a step that does not run, whose results differ from those of
the unchanged step in one bit, or that takes more memory than its budget or the prediction.

With a device, wrong is also a result that differs from the CPU's by more than the bound, as a part
of its largest element: functions are rounded in other ways, and sums are in another order.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile


def run(arguments, path, budget, report):
    command = [arguments.tool, path, f"--budget={budget}", "--compare", "--iterations=0",
               "--effort=0", f"--json={report}", f"--outputs={report}.device"]
    if arguments.device:
        command.append(f"--device={arguments.device}")
    return subprocess.run(command, capture_output=True, text=True, check=False)


def difference(expected, actual):
    """The largest difference of elements of a result, as a part of its largest one."""
    import numpy as np  # Only devices need it.
    worst = 0.0
    for name in sorted(os.listdir(expected)):
        a, b = (np.load(os.path.join(folder, name)) for folder in (expected, actual))
        if a.size and a.dtype.kind == "f":
            a, b = a.astype(np.float64), b.astype(np.float64)
            worst = max(worst, np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30))
        elif a.dtype != np.uint16 and not np.array_equal(a, b):  # That is bf16.
            return math.inf
    return worst


def execute(arguments, path, budget, report):
    """What is wrong, or None; and the budget."""
    process = run(arguments, path, budget, report)
    smallest = re.search(r"known to be feasible is (\d+) bytes", process.stderr)
    if smallest:
        # Gaps between buffers may take a few more bytes than planned.
        budget = f"{int(smallest[1]) + 1024}B"
        process = run(arguments, path, budget, report)
    if process.returncode == 3:
        return "results differ", budget
    if process.returncode != 0:
        return process.stderr.strip()[-300:], budget
    with open(report, encoding="utf-8") as file:
        variant = json.load(file)["rematerialized"]
    taken = variant["arena_bytes"] + variant["argument_bytes"]
    if taken > variant["predicted_packed_bytes"]:
        return f"{taken} bytes are more than predicted", budget
    if arguments.device:
        subprocess.run([arguments.tool, path, "--iterations=0", f"--outputs={report}.cpu"],
                       capture_output=True, check=True)
        worst = difference(f"{report}.cpu", f"{report}.device")
        print(f"{path}: largest difference from the CPU {worst:.1e}")
        if not worst <= arguments.bound:
            return f"a difference of {worst} from the CPU", budget
    return None, budget


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="remat-run")
    parser.add_argument("--percent", default="100,80,60,50")
    parser.add_argument("--device")
    parser.add_argument("--bound", type=float, default=1e-5)
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for path in arguments.steps:
            for percent in arguments.percent.split(","):
                fault, budget = execute(arguments, path, f"{percent}%", report)
                wrong += fault is not None
                print(f"{path} {percent} % ({budget}): {fault or 'equal'}")
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
