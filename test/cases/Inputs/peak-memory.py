#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if the second command needs more than FACTOR times the memory of the first.

  peak-memory.py FACTOR COMMAND... -- COMMAND...
"""

import os
import subprocess
import sys


def peak_bytes(command):
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"peak-memory.py: {command[0]} failed")
    return usage.ru_maxrss * 1024


def main():
    at = sys.argv.index("--")
    first, second = peak_bytes(sys.argv[2:at]), peak_bytes(sys.argv[at + 1:])
    print(f"{first} and {second} bytes")
    return 0 if second <= float(sys.argv[1]) * first else 1


if __name__ == "__main__":
    sys.exit(main())
