#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that what a Markdown page quotes stands in a file, in the same order.

  quotes.py PAGE.md FILE.KIND

Quotes are the fenced blocks of kind `KIND`, such as `mlir`.
"""

import os
import re
import sys


def main():
    page, file = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
    kind = os.path.splitext(sys.argv[2])[1][1:]
    quotes = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    file, at = "\n" + file, 0
    for quote in quotes:
        found = file.find("\n" + quote, at)
        if found < 0:
            print(f"{sys.argv[2]} does not have, at this place:\n{quote}", file=sys.stderr)
            return 1
        at = found + len(quote)
    return 0 if quotes else f"{sys.argv[1]} quotes nothing"


if __name__ == "__main__":
    sys.exit(main())
