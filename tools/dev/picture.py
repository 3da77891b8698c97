#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the memory of a training step over time, before and after rematerialization, as SVG.

  picture.py build/bin/remat-opt > docs/images/memory.svg

The training step is the one of the README, the numbers are those of --remat-print-memory.
"""

import json
import os
import subprocess
import sys
import tempfile

GENERATOR = os.path.join(os.path.dirname(__file__), "..", "..", "test", "integration",
                         "generate_training_step.py")
STEP = ["--layers=12", "--width=768", "--heads=12", "--batch=8", "--sequence=1024",
        "--vocabulary=50304"]
TITLE = "A training step of a transformer with 12 layers, batch 8 × 1024 tokens"
BUDGET = 50  # Percent.

WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 48, 44
GRID = 5 * 10**9


def profiles(tool):
    """The memory profiles before and after, and the report of the pass."""
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        run = lambda *arguments: subprocess.run([tool, *arguments], check=True)
        with open(path("step.mlir"), "w") as file:
            subprocess.run([sys.executable, GENERATOR, *STEP], stdout=file, check=True)
        run(path("step.mlir"), "--canonicalize", "--cse", "-o", path("before.mlir"))
        run(path("before.mlir"), "-o", path("after.mlir"),
            f"--rematerialize=budget={BUDGET}% report={path('report.json')}")
        answers = []
        for name in "before", "after":
            run(path(f"{name}.mlir"), "-o", os.devnull,
                f"--remat-print-memory=format=json output={path(f'{name}.json')}")
            with open(path(f"{name}.json")) as file:
                answers += json.load(file)
        with open(path("report.json")) as file:
            return *answers, json.load(file)["functions"][0]


class Picture:
    def __init__(self, top):
        self.top = -(-top // GRID) * GRID
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']

    def x(self, fraction):
        return round(LEFT + fraction * (WIDTH - LEFT - RIGHT), 1)

    def y(self, size):
        return round(HEIGHT - BOTTOM - size / self.top * (HEIGHT - TOP - BOTTOM), 1)

    def text(self, x, y, text, color="#333333", anchor="start", more=""):
        self.lines.append(f'<text x="{x}" y="{y}" fill="{color}" text-anchor="{anchor}"{more}>'
                          f"{text}</text>")

    def line(self, x1, y1, x2, y2, color, more=""):
        self.lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}"{more}/>')

    def curve(self, profile, stroke, fill):
        """Live bytes over time; the time axis is the whole function."""
        steps = profile["timeline"][-1]["end"]
        path = f'M{self.x(0)} {self.y(0)}'
        for column in profile["timeline"]:
            path += f'V{self.y(column["bytes"])}H{self.x(column["end"] / steps)}'
        self.lines.append(f'<path d="{path}V{self.y(0)}Z" fill="{fill}" stroke="{stroke}" '
                          'stroke-width="1.5"/>')


def gigabytes(size):
    return f"{size / 1e9:.1f} GB"


def draw(before, after, report):
    picture = Picture(before["packed_peak_bytes"])
    right = picture.x(1)
    for size in range(0, picture.top + 1, GRID):
        y = picture.y(size)
        picture.line(LEFT, y, right, y, "#dddddd")
        picture.text(LEFT - 8, y + 4, f"{size // 10**9} GB", "#666666", "end")
    picture.text(LEFT, 22, TITLE, more=' font-weight="bold"')
    picture.curve(before, "#5b7db1", "#dbe5f3")
    picture.curve(after, "#c25e1c", "#f7d7bf")

    budget = picture.y(report["budget_bytes"])
    picture.line(LEFT, budget, right, budget, "#333333", ' stroke-dasharray="5 4"')
    picture.text(right, budget - 6, f"budget {gigabytes(report['budget_bytes'])}", anchor="end")
    peak = max(before["timeline"], key=lambda column: column["bytes"])
    x = picture.x(peak["end"] / before["timeline"][-1]["end"]) + 8
    picture.text(x, picture.y(before["packed_peak_bytes"]) + 12,
                 f"before: {gigabytes(before['packed_peak_bytes'])}", "#40608f")
    picture.text(right, budget + 20, f"after: {gigabytes(after['packed_peak_bytes'])}, "
                 f"{100 * report['overhead']:.1f} % more computation predicted", "#a04a12", "end")
    picture.text((LEFT + right) / 2, HEIGHT - 14, "operations, in the order of execution",
                 "#666666", "middle")
    return "\n".join([*picture.lines, "</svg>"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(draw(*profiles(sys.argv[1])))
