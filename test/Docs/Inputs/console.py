#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands and cells of a Markdown page and compares what they print with the page.

  console.py PAGE.md            fails where the page is wrong, and shows the difference
  console.py PAGE.md --update   writes what they print into the page

Commands are the lines after `$ ` in fenced blocks of kind `console`, with what follows a `\\` at the
end of a line; up to the next command stands what they print, on standard output and standard error.
A command fails if and only if it prints `error:`.

Cells are fenced blocks of kind `python cell`; what they print stands in a block of kind `text` below,
the last line of an exception, too. They share their names.

A line `...` stands for any lines; an update leaves as many before and behind it. All commands and
cells of a page run one after the other in one empty folder, in which the repository's folders can be
read; `python3` is the Python that runs this script.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

from cells import Cells

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BLOCK = re.compile(
    r"^```console\n(?P<commands>.*?)^```$"
    r"|^```python cell\n(?P<cell>.*?)^```$(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)


def whole_lines(text):
    return text + "\n" if text and not text.endswith("\n") else text


def matches(expected, actual):
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", expected, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*".join(parts), actual) is not None


def abridge(expected, actual):
    """`actual` with a `...` where `expected` has one, for as many lines in front and behind."""
    expected, actual = expected.splitlines(True), actual.splitlines(True)
    if expected.count("...\n") == 1 and len(expected) < len(actual):
        head = expected.index("...\n")
        tail = len(actual) - (len(expected) - head - 1)
        actual[head:tail] = ["...\n"]
    return "".join(actual)


class Page:
    def __init__(self, folder):
        self.folder, self.failures, self.cells = folder, 0, Cells()
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path}
        for name in ("docs", "test", "tools"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))

    def run(self, command):
        process = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder,
                                 env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        actual = whole_lines(process.stdout)
        if (process.returncode != 0) != ("error:" in actual):
            self.failures += 1
            print(f"$ {command}\nended with exit code {process.returncode}:\n{actual}",
                  file=sys.stderr)
        return actual

    def compare(self, expected, actual, what):
        """What the page should say: `expected` where that is right."""
        if matches(expected, actual):
            return expected
        self.failures += 1
        sys.stderr.writelines(difflib.unified_diff(
            expected.splitlines(True), actual.splitlines(True), "page", what))
        return abridge(expected, actual)

    def check(self, block):
        """The block with what its commands, or its cell, really print."""
        if block["cell"] is not None:
            return self.check_cell(block["cell"], block["printed"] or "")
        first, *rest = COMMAND.split(block["commands"])
        text = f"```console\n{first}"
        for command, expected in zip(rest[::2], rest[1::2]):
            actual = self.compare(expected, self.run(command), f"$ {command}")
            text += f"$ {command}\n{actual}"
        return text + "```"

    def check_cell(self, code, expected):
        actual, error = self.cells.run(code)
        actual = whole_lines(actual)
        if error and error not in expected:
            self.failures += 1
            print(f"{code}\nended with an exception: {error}", file=sys.stderr)
        actual = self.compare(expected, actual, "cell")
        text = f"```python cell\n{code}```"
        return f"{text}\n\n```text\n{actual}```" if actual else text


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.page = os.path.abspath(options.page)
    with open(options.page, encoding="utf-8") as file:
        old = file.read()
    if not BLOCK.search(old):
        print(f"{options.page} has no commands and no cells", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        page = Page(folder)
        new = BLOCK.sub(page.check, old)
        os.chdir(ROOT)
    if options.update:
        if new != old:
            with open(options.page, "w", encoding="utf-8") as file:
                file.write(new)
        return 0
    if page.failures:
        print(f"{options.page} is not right; tools/dev/docs.sh --examples writes what is printed",
              file=sys.stderr)
    return 1 if page.failures else 0


if __name__ == "__main__":
    sys.exit(main())
