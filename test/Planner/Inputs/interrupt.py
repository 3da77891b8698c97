#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interrupts a long run of remat-plan, and checks that it answers all the same.

  interrupt.py GRAPH.json PLAN.json BUDGET OPTION...

The run would take days. It gets an interrupt when it has had a second to begin, and must then end
with exit code 0 or 2 and a plan that `verify` accepts, without anything for terminals on standard
error, which is none here.
"""

import signal
import subprocess
import sys
import time

# What the run may take after the interrupt, in seconds.
PATIENCE = 120


def main():
    graph, plan, budget, *options = sys.argv[1:]
    process = subprocess.Popen(["remat-plan", "solve", graph, f"--budget={budget}",
                                "--effort=10", f"--output={plan}", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    if process.poll() is not None:
        sys.exit(f"ended by itself: {process.communicate()}")
    process.send_signal(signal.SIGINT)
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("does not end")
    if process.returncode not in (0, 2):
        sys.exit(f"ended with exit code {process.returncode}: {errors}")
    if "\r" in errors or "\x1b" in errors:
        sys.exit(f"writes for a terminal: {errors!r}")
    check = subprocess.run(["remat-plan", "verify", graph, plan, f"--budget={budget}"],
                           stdout=subprocess.PIPE, text=True, check=False)
    if check.returncode != process.returncode or not check.stdout.startswith("valid: "):
        sys.exit(f"exit code {process.returncode}, but {check.stdout}")
    print("\n".join(line for line in output.splitlines() if line.startswith("status")))


if __name__ == "__main__":
    main()
