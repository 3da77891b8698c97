#!/usr/bin/env python3
"""Executes loops with remat-run and compares them with NumPy.

  loops.py [--tool remat-run]

One function with a result for each case: vectors of every length from 1 to 17, special values, sums in the
order that is documented, transpositions, views with strides, gathers, masks, and shapes of all ranks. Wrong
is what differs from NumPy (in one bit, but for approximations: 4 units in the last place), and what
differs in one bit between numbers of threads.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"f4": "f32", "f8": "f64", "f2": "f16", "i1": "i8", "i4": "i32"}
LANES, MIN_SUM = 16, 32
NEGATE = {kind: f"%y = arith.negf %a0 : {TYPES[kind]}" if kind[0] == "f" else
          f"%0 = arith.constant 0 : {TYPES[kind]}\n%y = arith.subi %0, %a0 : {TYPES[kind]}" for kind in TYPES}


def tensor(array):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + TYPES[array.dtype.str[1:]] + ">"


class Step:
    """A function under construction: its arguments, and what its results should be."""

    def __init__(self):
        self.arguments, self.body, self.results = [], [], []

    def argument(self, array):
        self.arguments.append(array)
        return f"%x{len(self.arguments) - 1}"

    def result(self, name, expected, ulps=0):
        self.results.append((name, np.asarray(expected), ulps))
        return f"%r{len(self.results) - 1}"

    def generic(self, name, inputs, maps, kinds, body, expected, init=None, ulps=0):
        """A linalg.generic over arrays or values of the function, with types; `body` yields %y."""
        operands = [(self.argument(value), tensor(value)) if isinstance(value, np.ndarray) else value
                    for value in inputs]
        result, kind = self.result(name, expected, ulps), tensor(expected)
        element = kind[:-1].rpartition("x")[2].rpartition("<")[2]
        dims = ", ".join(f"d{i}" for i in range(len(kinds)))
        maps = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
        kinds = ", ".join('"parallel"' if k == "p" else '"reduction"' for k in kinds)
        places = ", ".join([f"%a{i}: {t[:-1].rpartition('x')[2].rpartition('<')[2]}"
                            for i, (_, t) in enumerate(operands)] + [f"%o: {element}"])
        fill = f"{result}e = tensor.empty() : {kind}\n"
        if init is not None:
            fill += (f"{result}c = arith.constant {init} : {element}\n"
                     f"{result}f = linalg.fill ins({result}c : {element}) outs({result}e : {kind}) -> {kind}\n")
        ins = ("ins(" + ", ".join(v for v, _ in operands) + " : " +
               ", ".join(t for _, t in operands) + ")") if operands else ""
        self.body.append(f"""{fill}{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
  {ins} outs({result}{"e" if init is None else "f"} : {kind}) {{
^bb0({places}):
  {body}
  linalg.yield %y : {element}
}} -> {kind}
""")
        return result, kind

    def text(self):
        arguments = ", ".join(f"%x{i}: {tensor(a)}" for i, a in enumerate(self.arguments))
        types = ", ".join(tensor(e) for _, e, _ in self.results)
        values = ", ".join(f"%r{i}" for i in range(len(self.results)))
        return (f"func.func @step({arguments}) -> ({types}) {{\n" + "".join(self.body) +
                f"return {values} : {types}\n}}\n")


def lane_sum(terms, init=0.0):
    """The sum of a row in the documented order."""
    if len(terms) < MIN_SUM:
        total = np.float32(init)
        for term in terms:
            total = np.float32(total + term)
        return total
    lanes = np.zeros(LANES, "f4")
    for start in range(0, len(terms), LANES):
        group = terms[start:start + LANES]
        lanes[:len(group)] += group
    total = np.float32(init)
    for lane in lanes:
        total = np.float32(total + lane)
    return total


def column_sum(rows):
    total = np.zeros(rows.shape[1:], "f4")
    for row in rows:
        total += row
    return total


SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45, 1e-40, 1.2e-38, 88.7, 88.8, -87.3,
                    -1000, 1000, 0.5, 2, 1e-20, 3.4e38, -3.4e38, 5.5, -0.99999994], "f4")


def add_elementwise(step, random):
    exp = "%y = math.exp %a0 : f32"
    long = random.standard_normal(600_000).astype("f4")
    step.generic("exp of many", [long], ["d0", "d0"], "p", exp, np.exp(long), ulps=4)
    for length in range(1, 18):
        step.generic(f"exp of {length}", [long[:length].copy()], ["d0", "d0"], "p", exp,
                     np.exp(long[:length]), ulps=4)
    spread = np.concatenate([SPECIAL, random.uniform(-100, 100, 2000), 10 ** random.uniform(-37, 37, 2000)])
    spread = spread.astype("f4")
    wide = spread.astype("f8")
    # What is less than normal counts as the smallest normal number.
    tiny = float(np.finfo("f4").tiny)
    least = np.where((wide > 0) & (wide < tiny), tiny, wide)
    with np.errstate(all="ignore"):
        for name, expected in [("exp", np.exp(wide)), ("expm1", np.expm1(wide)), ("log", np.log(least)),
                               ("log2", np.log2(least)), ("log1p", np.log1p(wide)), ("tanh", np.tanh(wide)),
                               ("erf", np.vectorize(math.erf)(wide)), ("sqrt", np.sqrt(wide)),
                               ("rsqrt", 1 / np.sqrt(wide)), ("sin", np.sin(wide)), ("cos", np.cos(wide))]:
            step.generic(name, [spread], ["d0", "d0"], "p", f"%y = math.{name} %a0 : f32",
                         expected.astype("f4"), ulps=4)
    other = np.roll(spread, 7)
    for name, function in [("maximumf", np.maximum), ("minimumf", np.minimum), ("maxnumf", np.fmax),
                           ("minnumf", np.fmin), ("mulf", np.multiply), ("divf", np.divide)]:
        with np.errstate(all="ignore"):
            step.generic(name, [spread, other], ["d0"] * 3, "p", f"%y = arith.{name} %a0, %a1 : f32",
                         function(spread, other))
    half, double = spread[23:2023].astype("f2"), wide[23:2023]
    step.generic("tanh of f16", [half], ["d0", "d0"], "p", "%y = math.tanh %a0 : f16",
                 np.tanh(half.astype("f4")).astype("f2"), ulps=1)
    step.generic("tanh of f64", [double], ["d0", "d0"], "p", "%y = math.tanh %a0 : f64", np.tanh(double), ulps=2)
    matrix, bias = random.standard_normal((900, 700)).astype("f4"), random.standard_normal(700).astype("f4")
    step.generic("bias", [matrix, bias], ["d0, d1", "d1", "d0, d1"], "pp", "%y = arith.addf %a0, %a1 : f32",
                 matrix + bias)
    # Products and sums are not contracted.
    step.generic("multiply and add", [matrix, bias], ["d0, d1", "d1", "d0, d1"], "pp",
                 "%0 = arith.mulf %a0, %a1 : f32\n%y = arith.addf %0, %a0 : f32", matrix * bias + matrix)


def add_sums(step, random):
    add = "%y = arith.addf %o, %a0 : f32"
    for shape in [(3, 31), (3, 32), (5, 33), (2, 47), (2, 64), (1100, 257)]:
        rows = random.standard_normal(shape).astype("f4")
        step.generic(f"sum of rows {shape}", [rows], ["d0, d1", "d0"], "pr", add,
                     np.array([lane_sum(row) for row in rows]), init="0.0")
    for shape in [(31, 3), (32, 17), (900, 700), (8, 9000)]:
        rows = random.standard_normal(shape).astype("f4")
        step.generic(f"sum of columns {shape}", [rows], ["d0, d1", "d1"], "rp", add, column_sum(rows),
                     init="0.0")
    block = random.standard_normal((7, 12, 25)).astype("f4")
    step.generic("sum of all", [block], ["d0, d1, d2", ""], "rrr", add, lane_sum(block.ravel()), init="0.0")
    step.generic("sum of the middle", [block], ["d0, d1, d2", "d0, d2"], "prp", add,
                 np.array([column_sum(rows) for rows in block]), init="0.0")
    # Rows of several groups: one after the other into the same lanes.
    images = random.standard_normal((3, 5, 8, 8)).astype("f4")
    flat = images.reshape(3, 5, 64).transpose(1, 0, 2).reshape(5, -1)
    step.generic("sum of channels", [images], ["d0, d1, d2, d3", "d1"], "rprr", add,
                 np.array([lane_sum(row) for row in flat]), init="0.0")
    rows = random.standard_normal((40, 300)).astype("f4")
    rows[3, 5] = np.nan
    rows[4, 7] = np.inf
    step.generic("maximum of rows", [rows], ["d0, d1", "d0"], "pr", "%y = arith.maximumf %o, %a0 : f32",
                 rows.max(axis=1), init="0xFF800000")
    integers = random.integers(-9, 9, (50, 70)).astype("i4")
    step.generic("sum of integers", [integers], ["d0, d1", "d0"], "pr", "%y = arith.addi %o, %a0 : i32",
                 integers.sum(axis=1).astype("i4"), init="0")
    step.generic("product of integers", [integers, integers.T.copy()], ["d0, d2", "d2, d1", "d0, d1"], "ppr",
                 "%0 = arith.muli %a0, %a1 : i32\n%y = arith.addi %o, %0 : i32", integers @ integers.T,
                 init="0")


def add_transposes(step, random):
    for kind in ["f4", "f8", "f2", "i1", "i4"]:
        for shape in [(16, 16), (17, 33), (48, 64), (7, 100), (300, 777)]:
            array = random.integers(-99, 99, shape).astype(kind)
            step.generic(f"transpose of {kind} {shape}", [array], ["d1, d0", "d0, d1"], "pp",
                         NEGATE[kind], -array.T)
    block = random.standard_normal((20, 18, 35)).astype("f4")
    for order in [(0, 2, 1), (1, 0, 2), (2, 1, 0), (2, 0, 1)]:
        dims = ["d0", "d1", "d2"]
        places = ", ".join(dims[order.index(i)] for i in range(3))
        step.generic(f"transpose {order}", [block], [places, "d0, d1, d2"], "ppp",
                     "%y = arith.negf %a0 : f32", -block.transpose(order))
    matrix, other = (random.standard_normal(shape).astype("f4") for shape in [(130, 90), (90, 130)])
    step.generic("transposed and not", [matrix, other], ["d1, d0", "d0, d1", "d0, d1"], "pp",
                 "%y = arith.mulf %a0, %a1 : f32", matrix.T * other)


def add_views(step, random):
    matrix = random.standard_normal((40, 60)).astype("f4")
    value = step.argument(matrix)
    part = "tensor<10x20xf32>"
    step.body.append(f"%part = tensor.extract_slice {value}[3, 5] [10, 20] [2, 2] : {tensor(matrix)} to {part}\n")
    step.generic("of a view", [("%part", part)], ["d0, d1", "d0, d1"], "pp", "%y = arith.negf %a0 : f32",
                 -matrix[3:23:2, 5:45:2])
    step.generic("view, transposed", [("%part", part)], ["d1, d0", "d0, d1"], "pp", "%y = arith.negf %a0 : f32",
                 -matrix[3:23:2, 5:45:2].T)
    negated, kind = step.generic("negated", [matrix], ["d0, d1", "d0, d1"], "pp", "%y = arith.negf %a0 : f32",
                                 -matrix)
    expected = -matrix
    expected[1:11, 4:44:2] = matrix[3:23:2, 5:45:2]
    result = step.result("written to a view", expected)
    step.body.append(f"{result} = tensor.insert_slice %part into {negated}[1, 4] [10, 20] [1, 2] : "
                     f"{part} into {kind}\n")
    indices = random.integers(0, 40, 25).astype("i4")
    step.generic("gather", [indices], ["d0", "d0, d1"], "pp", f"""%0 = arith.index_cast %a0 : i32 to index
  %1 = linalg.index 1 : index
  %y = tensor.extract {value}[%0, %1] : {tensor(matrix)}""", matrix[indices])
    step.generic("mask", [matrix[:, :40].copy()], ["d0, d1", "d0, d1"], "pp", """%0 = linalg.index 0 : index
  %1 = linalg.index 1 : index
  %2 = arith.cmpi sge, %0, %1 : index
  %3 = arith.constant 0.0 : f32
  %y = arith.select %2, %a0, %3 : f32""", np.tril(matrix[:, :40]))
    step.generic("broadcast of a scalar", [np.array(2.5, "f4")], ["", "d0, d1, d2"], "ppp",
                 "%y = arith.negf %a0 : f32", np.full((3, 4, 5), -2.5, "f4"))


def add_shapes(step, random):
    for shape in [(), (0,), (1,), (1, 1, 1), (1, 33, 1), (2, 1, 3, 1, 5, 2), (2, 3, 2, 3, 2, 9)]:
        array = random.standard_normal(shape).astype("f4")
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        step.generic(f"negation of {shape}", [array], [dims, dims], "p" * len(shape),
                     "%y = arith.negf %a0 : f32", -array)
    array = random.standard_normal((2, 3, 4, 5, 6, 7)).astype("f4")
    step.generic("rank 6, reversed", [array], ["d5, d4, d3, d2, d1, d0", "d0, d1, d2, d3, d4, d5"], "pppppp",
                 "%y = arith.negf %a0 : f32", -array.T)
    step.generic("sum of nothing", [np.zeros(0, "f4")], ["d0", ""], "r", "%y = arith.addf %o, %a0 : f32",
                 np.array(7, "f4"), init="7.0")


def find_difference(result, expected, ulps):
    """What is wrong with a result, or None."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"{result.dtype} {result.shape} instead of {expected.dtype} {expected.shape}"
    if result.dtype.kind != "f":
        return None if np.array_equal(result, expected) else "differs"
    same_nan = np.isnan(result) == np.isnan(expected)
    with np.errstate(all="ignore"):
        distance = np.abs(result.astype("f8") - expected.astype("f8"))
        limit = ulps * np.spacing(np.abs(expected)).astype("f8")
    if ulps:
        # Below the normal numbers approximations are less exact.
        limit = np.maximum(limit, np.finfo(expected.dtype).tiny)
    ok = same_nan & (np.isnan(expected) | (result == expected) | (distance <= limit))
    if ok.all():
        return None
    place = np.argwhere(~ok)[0]
    return f"{(~ok).sum()} differ, first at {place}: {result[tuple(place)]} instead of {expected[tuple(place)]}"


def run(tool, step, threads):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(step.text())
        for index, array in enumerate(step.arguments):
            np.save(os.path.join(folder, f"arg{index}.npy"), array)
        subprocess.run([tool, path, f"--inputs={folder}", f"--outputs={folder}", "--iterations=1",
                        f"--num-threads={threads}"], check=True, stdout=subprocess.DEVNULL)
        return [np.load(os.path.join(folder, f"result{i}.npy")) for i in range(len(step.results))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="remat-run")
    arguments = parser.parse_args()
    wrong = number = 0
    random = np.random.default_rng(1)
    for add in [add_elementwise, add_sums, add_transposes, add_views, add_shapes]:
        step = Step()
        add(step, random)
        results = run(arguments.tool, step, 1)
        others = [(threads, run(arguments.tool, step, threads)) for threads in (2, 5)]
        number += len(results)
        for index, (name, expected, ulps) in enumerate(step.results):
            # Arrays of one length are the beginnings of the long one: the same code for all elements.
            if name.startswith("exp of ") and not np.array_equal(
                    results[index], results[0][:len(results[index])]):
                wrong += 1
                print(f"{name}: not the bits of longer vectors")
            fault = find_difference(results[index], expected, ulps)
            for threads, other in others:
                if results[index].tobytes() != other[index].tobytes():
                    fault = f"other bits with {threads} threads"
            if fault:
                wrong += 1
                print(f"{name}: {fault}")
    print(f"{number} results, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
