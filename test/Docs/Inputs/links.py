#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that relative links in Markdown pages lead to files, and their anchors to headings.

  links.py PAGE.md...
"""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def read(path):
    with open(path, encoding="utf-8") as file:
        return FENCED.sub("", file.read())


def anchors(path):
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(read(path))}


def main():
    wrong = []
    for page in sys.argv[1:]:
        for link in LINK.findall(read(page)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.join(os.path.dirname(page), path) if path else page
            if not os.path.exists(target) or (anchor and anchor not in anchors(target)):
                wrong.append(f"{page}: '{link}' leads nowhere")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
