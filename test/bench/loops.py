#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the memory bandwidth of loops that remat-run compiles, against memcpy.

Each kernel runs in turn with a memcpy that reads and writes as many bytes, in one process: all that it
reads once, and all that it writes once. Prints the shortest time of some runs, the bandwidth, and its
ratio to that of the memcpy, as a Markdown table. Exit code 1 if an elementwise kernel reaches less
than half of it.

  loops.py REMAT_RUN --libs=FOLDER [--threads N] [--runs 10] [--only NAME]

FOLDER is that of libRematRuntime.so; cc links what is compiled.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time

ROWS, COLUMNS = 8192, 2048
MIN_RATIO = 0.5


def generic(ins, out, iterators, body, result, init=None):
    """A function of one linalg.generic. `ins` and `out` are pairs of a map and a shape."""
    def tensor(shape):
        return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"
    operands = ", ".join(f"%x{i}: {tensor(shape)}" for i, (_, shape) in enumerate(ins))
    dims = ", ".join(f"d{i}" for i in range(len(iterators)))
    maps = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in [m for m, _ in ins] + [out[0]])
    kinds = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in iterators)
    arguments = ", ".join(f"%a{i}: f32" for i in range(len(ins)))
    fill = "" if init is None else f"""
  %init = arith.constant {init} : f32
  %filled = linalg.fill ins(%init : f32) outs(%empty : {tensor(out[1])}) -> {tensor(out[1])}"""
    return f"""
func.func @step({operands}) -> {tensor(out[1])} {{
  %empty = tensor.empty() : {tensor(out[1])}{fill}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({", ".join(f"%x{i}" for i in range(len(ins)))} : {", ".join(tensor(s) for _, s in ins)})
      outs({"%empty" if init is None else "%filled"} : {tensor(out[1])}) {{
  ^bb0({arguments}, %o: f32):
{body}
    linalg.yield {result} : f32
  }} -> {tensor(out[1])}
  return %r : {tensor(out[1])}
}}"""


MATRIX, ROW, COLUMN = (ROWS, COLUMNS), (COLUMNS,), (ROWS,)
BOTH = ("d0, d1", MATRIX)

ADD = "    %r = arith.addf %a0, %a1 : f32"
RELU = """    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %a0, %zero : f32"""
GELU = """    %c0 = arith.constant 0.044715 : f32
    %c1 = arith.constant 0.797884583 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %0 = arith.mulf %a0, %a0 : f32
    %1 = arith.mulf %0, %a0 : f32
    %2 = arith.mulf %1, %c0 : f32
    %3 = arith.addf %a0, %2 : f32
    %4 = arith.mulf %3, %c1 : f32
    %5 = math.tanh %4 : f32
    %6 = arith.addf %5, %one : f32
    %7 = arith.mulf %6, %half : f32
    %r = arith.mulf %7, %a0 : f32"""
# The new parameter from it, its gradient, and the new moments.
ADAMW = """    %rate = arith.constant 0.001 : f32
    %decay = arith.constant 0.9999 : f32
    %c1 = arith.constant 1.1 : f32
    %c2 = arith.constant 1.01 : f32
    %epsilon = arith.constant 1.0e-8 : f32
    %0 = arith.mulf %a1, %c1 : f32
    %1 = arith.mulf %a2, %c2 : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.addf %2, %epsilon : f32
    %4 = arith.divf %0, %3 : f32
    %5 = arith.mulf %4, %rate : f32
    %6 = arith.mulf %a0, %decay : f32
    %r = arith.subf %6, %5 : f32"""
EXP = """    %0 = arith.subf %a0, %a1 : f32
    %r = math.exp %0 : f32"""
SUM = "    %r = arith.addf %o, %a0 : f32"
MAX = "    %r = arith.maximumf %o, %a0 : f32"

# Name, whether it is elementwise, elements that are read and written, code.
KERNELS = [
    ("add", True, 3, generic([BOTH, BOTH], BOTH, "pp", ADD, "%r")),
    ("relu", True, 2, generic([BOTH], BOTH, "pp", RELU, "%r")),
    ("gelu (tanh)", True, 2, generic([BOTH], BOTH, "pp", GELU, "%r")),
    ("adamw", True, 4, generic([BOTH, BOTH, BOTH], BOTH, "pp", ADAMW, "%r")),
    ("add bias", True, 2, generic([BOTH, ("d1", ROW)], BOTH, "pp", ADD, "%r")),
    ("exp(x - max)", True, 2, generic([BOTH, ("d0", COLUMN)], BOTH, "pp", EXP, "%r")),
    ("transpose", False, 2,
     generic([("d1, d0", (COLUMNS, ROWS))], BOTH, "pp", "", "%a0")),
    ("maximum of rows", False, 1, generic([BOTH], ("d0", COLUMN), "pr", MAX, "%r", "0xFF800000")),
    ("sum of rows", False, 1, generic([BOTH], ("d0", COLUMN), "pr", SUM, "%r", "0.0")),
    ("sum of columns", False, 1, generic([BOTH], ("d1", ROW), "rp", SUM, "%r", "0.0")),
    ("sum of all", False, 1, generic([BOTH], ("", ()), "rr", SUM, "%r", "0.0")),
]


class Buffer:
    """Memory that begins at a multiple of 64 bytes, full of small numbers."""

    def __init__(self, count):
        self.memory = (ctypes.c_float * (count + 16))(*[0.25] * 16)
        address = ctypes.addressof(self.memory)
        self.address = (address + 63) & ~63
        done = 16 - (self.address - address) // 4
        while done < count:
            block = min(done, count - done)
            ctypes.memmove(self.address + 4 * done, self.address, 4 * block)
            done += block


def build(name, code, options, folder):
    """The function of a kernel, from a library of its own."""
    source, compiled, library = (os.path.join(folder, f"{name}.{end}") for end in ["mlir", "o", "so"])
    with open(source, "w", encoding="utf-8") as file:
        file.write(code)
    subprocess.run([options.tool, source, "--iterations=0", f"--object={compiled}"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cc", "-shared", "-o", library, compiled, f"-L{options.libs}", "-lRematRuntime",
                    f"-Wl,-rpath,{options.libs}", options.openmp, "-lm"], check=True)
    return ctypes.CDLL(library).remat_entry_step


def shortest(calls, runs):
    """The shortest time of each of the functions, which run in turn."""
    best = [float("inf")] * len(calls)
    for _ in range(runs + 1):
        for index, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[index] = min(best[index], time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool", metavar="REMAT_RUN")
    parser.add_argument("--libs", required=True, metavar="FOLDER")
    parser.add_argument("--openmp", default="/usr/lib/llvm-22/lib/libomp.so")
    parser.add_argument("--threads", type=int, default=0, help="all cores where it is 0")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.libs = os.path.abspath(options.libs)
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)

    count = ROWS * COLUMNS
    inputs = [Buffer(count) for _ in range(3)]
    arena = Buffer(count + ROWS)
    copy = [Buffer(2 * count), Buffer(2 * count)]
    failed = False
    print("| kernel | bytes | time, ms | GB/s | memcpy, GB/s | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, is_elementwise, passes, code) in enumerate(KERNELS):
            if options.only not in name:
                continue
            function = build(f"kernel{index}", code, options, folder)
            number = code.partition("(")[2].partition(")")[0].count("%x")
            arguments = (ctypes.c_void_p * 4)(*[buffer.address for buffer in inputs[:number]],
                                              arena.address)
            total = 4 * count * passes
            taken, copied = shortest(
                [lambda: function(arguments),
                 lambda: ctypes.memmove(copy[0].address, copy[1].address, total // 2)], options.runs)
            ratio = copied / taken
            failed |= is_elementwise and ratio < MIN_RATIO
            print(f"| {name} | {total} | {1e3 * taken:.2f} | {total / taken / 1e9:.1f} | "
                  f"{total / copied / 1e9:.1f} | {ratio:.2f} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
