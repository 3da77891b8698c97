#!/usr/bin/env python3
"""Whether the memory that is planned on buffers is within what was predicted on tensors.

  arena.py [--tool remat-opt] [--percent 100,80,60,50] STEP.mlir...

For each training step and budget, in percent of its own packed peak (or the smallest that the pass
reaches): arguments, constants and arena of the bufferized step take no more than the packed peak
that --remat-print-memory predicts for the rewritten step.
"""

import argparse
import json
import re
import subprocess
import sys


def run(command, text):
    process = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"error: {' '.join(command)}: {process.stderr[-500:]}")
    return process.stdout


def measure(tool, text, percent):
    """Predicted and planned bytes, in all."""
    if percent != 100:
        text = run([tool, f"--rematerialize=fusion=none budget={percent}% on-infeasible=warn effort=0"], text)
    profile = run([tool, "--remat-print-memory=fusion=none format=json output=-", "-o", "/dev/null"], text)
    predicted = json.loads(profile)[0]["packed_peak_bytes"]
    planned = run([tool, "--remat-bufferize", "--remat-plan-arena", "--remat-verify-arena"], text)
    parts = [int(re.search(rf"remat\.{part}_bytes = (\d+)", planned)[1])
             for part in ("arena", "argument", "constant")]
    return predicted, sum(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="remat-opt")
    parser.add_argument("--percent", default="100,80,60,50")
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    above = 0
    for path in arguments.steps:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for percent in map(int, arguments.percent.split(",")):
            predicted, planned = measure(arguments.tool, text, percent)
            above += planned > predicted
            print(f"{path} {percent} %: predicted {predicted} B, planned {planned} B"
                  f"{', above' if planned > predicted else ''}")
    print(f"{above} above the prediction")
    return above > 0


if __name__ == "__main__":
    sys.exit(main())
