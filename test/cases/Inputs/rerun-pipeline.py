#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a tool with the pipeline that an earlier run dumped.

  rerun-pipeline.py DUMP TOOL ARGUMENT...     DUMP has the output of --dump-pass-pipeline
"""

import subprocess
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    start, depth = text.index("builtin.module("), 0
    for at in range(start, len(text)):
        depth += (text[at] in "({") - (text[at] in ")}")
        if depth == 0 and text[at] == ")":
            break
    pipeline = " ".join(line.strip() for line in text[start:at + 1].splitlines())
    return subprocess.run(sys.argv[2:] + [f"--pass-pipeline={pipeline}"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
