#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a Markdown page describes every key of some JSON files, in the first column of a table.

  keys.py PAGE.md FILE.json...

What is below `categories_at_peak` and `bytes` has the names of categories for keys, and is left out.
"""

import json
import re
import sys


def keys(value):
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    inner = [keys(part) for key, part in value.items() if key not in ("categories_at_peak", "bytes")]
    return set(value).union(*inner)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = re.findall(r"^\|([^|]*)\|", file.read(), re.MULTILINE)
    described = {key for row in rows for key in re.findall("`([a-z_]+)`", row)}
    used = set()
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            used |= keys(json.load(file))
    # The parts of `peak_operation` are described in its row.
    missing = used - described - {"index"}
    unknown = described - used
    for word, names in ("not described", missing), ("not in the files", unknown):
        if names:
            print(f"{sys.argv[1]}: {word}: {', '.join(sorted(names))}", file=sys.stderr)
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
