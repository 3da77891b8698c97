#!/usr/bin/env python3
"""Executes training steps with remat-run within several budgets.

  run.py [--tool remat-run] [--percent 100,80,60,50] STEP.mlir...

Budgets are percentages of the step's own packed peak, or a little more than the smallest one that is
feasible, where that is larger. Wrong is a step that does not run, whose results differ from those of
the unchanged step in one bit, or that takes more memory than its budget or the prediction.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def run(tool, path, budget, report):
    return subprocess.run([tool, path, f"--budget={budget}", "--compare", "--iterations=1",
                           "--effort=0", f"--json={report}"],
                          capture_output=True, text=True, check=False)


def execute(tool, path, budget, report):
    """What is wrong, or None; and the budget."""
    process = run(tool, path, budget, report)
    smallest = re.search(r"known to be feasible is (\d+) bytes", process.stderr)
    if smallest:
        # Gaps between buffers may take a few more bytes than planned.
        budget = f"{int(smallest[1]) + 1024}B"
        process = run(tool, path, budget, report)
    if process.returncode == 3:
        return "results differ", budget
    if process.returncode != 0:
        return process.stderr.strip()[-300:], budget
    with open(report, encoding="utf-8") as file:
        variant = json.load(file)["rematerialized"]
    taken = variant["arena_bytes"] + variant["argument_bytes"]
    if taken > variant["predicted_packed_bytes"]:
        return f"{taken} bytes are more than predicted", budget
    return None, budget


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="remat-run")
    parser.add_argument("--percent", default="100,80,60,50")
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for path in arguments.steps:
            for percent in arguments.percent.split(","):
                fault, budget = execute(arguments.tool, path, f"{percent}%", report)
                wrong += fault is not None
                print(f"{path} {percent} % ({budget}): {fault or 'equal'}")
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
