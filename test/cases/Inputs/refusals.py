#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the errors of --rematerialize and checks that the listed bytes add up to the packed peak.

  refusals.py FILE      FILE is what remat-opt wrote to standard error
"""

import re
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    failed = False
    for part in re.split(r"(?:error|warning): function ", text)[1:]:
        name = re.match(r"'(.*?)'", part).group(1)
        packed = int(re.search(r"packed peak of (\d+) bytes", part).group(1))
        rows = sum(int(row) for row in re.findall(r"note: (\d+) bytes: ", part))
        failed |= rows != packed
        print(f"{name}: {packed} bytes, " + ("as the rows say" if rows == packed else
                                             f"but the rows say {rows}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
