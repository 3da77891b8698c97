#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints functions @step of any size. S is tensor<32x32xf32>, 4 KiB.

  chain N     %v1 = tanh %x, ..., %vN = tanh %v(N-1); one element of %vN and, at the very end, one
              of %v1. Live: %x, %v1 and two links, 16 KiB; without %v1 in between 12 KiB.
  ladder N    N rungs: %ai = exp %a(i-1) with %a0 = %x; %bN = negate %aN, then %b(i-1) = %bi *
              %a(i-1) down to %b0, the result. 2 N + 1 operations. Live at %bN: %x, %a1 to %aN and
              %bN, N + 2 times S; an operation needs 3 S, with %x or %bi beside it 4 S.
  fan-in N    N values %vi = %x * splat of i, all read by one operation "test.join", the result a
              scalar; then one of them again.
  fan-out N   %a = exp %x; N gradients, %gi = row sums of %a * %ci, where %ci comes from a
              computation on %g(i-1) that needs three S, but not %a. Executable.
  scalars N   N scalars %si = %x[0, i mod 32] + i, read by "test.use" and once more by "test.bwd",
              as is a tensor of 64 MiB that may be recomputed; between them "test.big" with 96 MiB.
  random SEED 40 operations on tensors of 1 to 16 rows of 4 KiB: elementwise, concatenations, slices
              and reshapes (views), destination passing, barriers and "test.op", which is never
              repeated.
  pure SEED   30 operations on tensor<16x16xf32> without effects: elementwise, products and
              reductions in destination-passing style, bodies, slices, branches, loops, and scalars
              taken from one tensor and spread over the next, which order the parts. Executable.

The same arguments print the same text.
"""

import argparse
import random

S = "tensor<32x32xf32>"


class Printer:
    """Collects operations; `add` returns the name of a new value."""

    def __init__(self):
        self.lines = []

    def add(self, operation, name=None):
        name = name or f"%{len(self.lines)}"
        self.lines.append(f"  {name} = {operation}")
        return name

    def print(self, arguments, results):
        names = ", ".join(name for name, _ in results)
        types = ", ".join(type_ for _, type_ in results)
        print(f"func.func @step({arguments}) -> ({types}) {{")
        print("\n".join(self.lines))
        print(f"  return {names} : {types}\n}}")


def chain(count):
    body = Printer()
    zero = body.add("arith.constant 0 : index", "%c0")
    value = "%x"
    for i in range(1, count + 1):
        value = body.add(f"math.tanh {value} : {S}", f"%v{i}")
    last = body.add(f"tensor.extract {value}[{zero}, {zero}] : {S}")
    first = body.add(f"tensor.extract %v1[{zero}, {zero}] : {S}")
    body.print(f"%x: {S}", [(body.add(f"arith.addf {last}, {first} : f32"), "f32")])


def ladder(count):
    body = Printer()
    rungs = ["%x"]
    for i in range(1, count + 1):
        rungs.append(body.add(f"math.exp {rungs[-1]} : {S}", f"%a{i}"))
    value = body.add(f"arith.negf {rungs[-1]} : {S}", f"%b{count}")
    for i in range(count, 0, -1):
        value = body.add(f"arith.mulf {value}, {rungs[i - 1]} : {S}", f"%b{i - 1}")
    body.print(f"%x: {S}", [(value, S)])


def fan_in(count):
    body = Printer()
    values = []
    for i in range(count):
        factor = body.add(f"arith.constant dense<{float(i)}> : {S}", f"%c{i}")
        values.append(body.add(f"arith.mulf %x, {factor} : {S}", f"%v{i}"))
    joined = body.add(f'"test.join"({", ".join(values)}) : ({", ".join([S] * count)}) -> f32')
    again = body.add(f'"test.bwd"({values[0]}, {joined}) : ({S}, f32) -> f32')
    body.print(f"%x: {S}", [(again, "f32")])


def fan_out(count):
    body = Printer()
    row, results = "tensor<32xf32>", []
    for i in range(32):
        body.add(f"arith.constant {i} : index", f"%i{i}")
    zero = body.add("arith.constant 0.0 : f32", "%zero")
    body.add(f"math.exp %x : {S}", "%a")
    scalar = body.add(f"tensor.extract %x[%i0, %i0] : {S}", "%e")
    for i in range(count):
        k = body.add(f"tensor.splat {scalar} : {S}", f"%k{i}")
        u = body.add(f"math.tanh {k} : {S}", f"%u{i}")
        v = body.add(f"arith.mulf {k}, {u} : {S}", f"%v{i}")
        s = body.add(f"tensor.extract {v}[%i{i % 32}, %i3] : {S}", f"%s{i}")
        c = body.add(f"tensor.splat {s} : {S}", f"%c{i}")
        p = body.add(f"arith.mulf %a, {c} : {S}", f"%p{i}")
        empty = body.add(f"tensor.empty() : {row}", f"%empty{i}")
        init = body.add(f"linalg.fill ins({zero} : f32) outs({empty} : {row}) -> {row}",
                        f"%init{i}")
        g = body.add(f"linalg.reduce {{ arith.addf }} ins({p} : {S}) outs({init} : {row}) "
                     "dimensions = [1]", f"%g{i}")
        scalar = body.add(f"tensor.extract {g}[%i{(i + 1) % 32}] : {row}", f"%e{i}")
        results.append((g, row))
    body.print(f"%x: {S}", results)


def scalars(count):
    body = Printer()
    row, big, bigger = (f"tensor<{rows}x262144xf32>" for rows in (1, 64, 96))
    body.add("arith.constant 0 : index", "%c0")
    for i in range(32):
        body.add(f"arith.constant {i} : index", f"%i{i}")
    values = []
    for i in range(count):
        element = body.add(f"tensor.extract %x[%c0, %i{i % 32}] : {row}", f"%e{i}")
        offset = body.add(f"arith.constant {float(i)} : f32", f"%k{i}")
        values.append(body.add(f"arith.addf {element}, {offset} : f32", f"%s{i}"))
    names, types = ", ".join(values), ", ".join(["f32"] * count)
    body.add('"stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : '
             f"({row}) -> {big}", "%a")
    body.add(f'"test.use"(%a, {names}) : ({big}, {types}) -> {row}', "%l")
    body.add(f'"test.big"(%l) : ({row}) -> {bigger}', "%b")
    body.add(f'"test.use"(%b) : ({bigger}) -> {row}', "%m")
    body.add(f'"test.bwd"(%a, %m, {names}) : ({big}, {row}, {types}) -> {row}', "%d")
    body.print(f"%x: {row}", [("%d", row)])


def type_of(rows):
    return f"tensor<{rows}x1024xf32>"


def random_graph(seed):
    rng, body = random.Random(seed), Printer()
    values = [("%x", 4), ("%y", 1)]
    body.add("arith.constant 1.0 : f32", "%one")

    def pick(rows=None):
        """A value, the newer the likelier; of `rows` rows if there is one."""
        candidates = [value for value in values if rows in (None, value[1])]
        index = len(candidates) - 1 - int(len(candidates) * rng.random() ** 2)
        return candidates[max(index, 0)]

    for _ in range(40):
        name, rows = pick()
        kind = rng.choice(("unary", "unary", "binary", "binary", "concat", "slice", "reshape",
                           "fill", "insert", "barrier", "test", "test"))
        if kind == "unary":
            value = body.add(f"math.{rng.choice(('exp', 'tanh', 'sqrt'))} {name} : {type_of(rows)}")
        elif kind == "binary":
            operation, other = rng.choice(("addf", "mulf", "divf")), pick(rows)[0]
            value = body.add(f"arith.{operation} {name}, {other} : {type_of(rows)}")
        elif kind == "concat":
            other, more = pick()
            if rows + more > 16:
                continue
            value = body.add(f"tensor.concat dim(0) {name}, {other} : ({type_of(rows)}, "
                             f"{type_of(more)}) -> {type_of(rows + more)}")
            rows += more
        elif kind == "slice":
            fewer = rng.randint(1, rows)
            value = body.add(f"tensor.extract_slice {name}[{rng.randint(0, rows - fewer)}, 0] "
                             f"[{fewer}, 1024] [1, 1] : {type_of(rows)} to {type_of(fewer)}")
            rows = fewer
        elif kind == "reshape":
            flat = body.add(f"tensor.collapse_shape {name} [[0, 1]] : {type_of(rows)} into "
                            f"tensor<{rows * 1024}xf32>")
            value = body.add(f"tensor.expand_shape {flat} [[0, 1]] output_shape [{rows}, 1024] : "
                             f"tensor<{rows * 1024}xf32> into {type_of(rows)}")
        elif kind == "fill":
            rows = rng.randint(1, 8)
            empty = body.add(f"tensor.empty() : {type_of(rows)}")
            value = body.add(f"linalg.fill ins(%one : f32) outs({empty} : {type_of(rows)}) -> "
                             f"{type_of(rows)}")
        elif kind == "insert":
            source, fewer = pick()
            if fewer > rows:
                continue
            value = body.add(f"tensor.insert_slice {source} into {name}[0, 0] [{fewer}, 1024] "
                             f"[1, 1] : {type_of(fewer)} into {type_of(rows)}")
        elif kind == "barrier":
            other, more = pick()
            value = body.add(f"remat.barrier {name} after {other} : {type_of(rows)} after "
                             f"{type_of(more)}")
        else:
            rows, old = rng.randint(1, 8), rows
            value = body.add(f'"test.op"({name}) : ({type_of(old)}) -> {type_of(rows)}')
        values.append((value, rows))
    results = [(name, type_of(rows)) for name, rows in rng.sample(values[2:], 2)]
    body.print(f"%x: {type_of(4)}, %y: {type_of(1)}", results)


def pure(seed):
    rng, body = random.Random(seed), Printer()
    t, row = "tensor<16x16xf32>", "tensor<16xf32>"
    values = ["%x", "%y"]
    for name, value in (("%zero", "0.0 : f32"), ("%half", "0.5 : f32"), ("%i0", "0 : index"),
                        ("%i1", "1 : index"), ("%i3", "3 : index")):
        body.add(f"arith.constant {value}", name)

    def pick():
        index = len(values) - 1 - int(len(values) * rng.random() ** 2)
        return values[max(index, 0)]

    def init(type_):
        empty = body.add(f"tensor.empty() : {type_}")
        return body.add(f"linalg.fill ins(%zero : f32) outs({empty} : {type_}) -> {type_}")

    def splat():
        i, j = rng.choice(("%i0", "%i1", "%i3")), rng.choice(("%i0", "%i1", "%i3"))
        scalar = body.add(f"tensor.extract {pick()}[{i}, {j}] : {t}")
        return body.add(f"tensor.splat {scalar} : {t}")

    for _ in range(30):
        a, b = pick(), pick()
        kind = rng.choice(("unary", "unary", "binary", "binary", "splat", "splat", "matmul",
                           "reduce", "generic", "insert", "slice", "if", "for"))
        if kind == "unary":
            value = body.add(f"math.{rng.choice(('tanh', 'sin', 'cos'))} {a} : {t}")
        elif kind == "binary":
            value = body.add(f"arith.{rng.choice(('addf', 'subf', 'mulf'))} {a}, {b} : {t}")
        elif kind == "splat":
            value = splat()
        elif kind == "matmul":
            value = body.add(f"linalg.matmul ins({a}, {b} : {t}, {t}) outs({init(t)} : {t}) -> {t}")
        elif kind == "reduce":
            axis = rng.randint(0, 1)
            sums = body.add(f"linalg.reduce {{ arith.addf }} ins({a} : {t}) outs({init(row)} : "
                            f"{row}) dimensions = [{axis}]")
            empty = body.add(f"tensor.empty() : {t}")
            value = body.add(f"linalg.broadcast ins({sums} : {row}) outs({empty} : {t}) "
                             f"dimensions = [{axis}]")
        elif kind == "generic":
            number = len(body.lines)
            value = body.add(
                "linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, "
                'affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} '
                f"ins({a} : {t}) outs({init(t)} : {t}) {{\n"
                f"  ^bb0(%p{number}: f32, %q{number}: f32):\n"
                f"    %r{number} = arith.addf %p{number}, %half : f32\n"
                f"    linalg.yield %r{number} : f32\n  }} -> {t}")
        elif kind == "insert":
            part = body.add(f"tensor.extract_slice {a}[{rng.randint(0, 12)}, 0] [4, 16] [1, 1] : "
                            f"{t} to tensor<4x16xf32>")
            value = body.add(f"tensor.insert_slice {part} into {b}[{rng.randint(0, 12)}, 0] "
                             f"[4, 16] [1, 1] : tensor<4x16xf32> into {t}")
        elif kind == "slice":
            flat = body.add(f"tensor.collapse_shape {a} [[0, 1]] : {t} into tensor<256xf32>")
            value = body.add(f"tensor.expand_shape {flat} [[0, 1]] output_shape [16, 16] : "
                             f"tensor<256xf32> into {t}")
        elif kind == "if":
            scalar = body.add(f"tensor.extract {pick()}[%i0, %i1] : {t}")
            condition = body.add(f"arith.cmpf olt, {scalar}, %zero : f32")
            number = len(body.lines)
            value = body.add(f"scf.if {condition} -> {t} {{\n    %s{number} = math.tanh {a} : {t}\n"
                             f"    scf.yield %s{number} : {t}\n  }} else {{\n"
                             f"    scf.yield {b} : {t}\n  }}")
        else:
            number = len(body.lines)
            value = body.add(
                f"scf.for %n{number} = %i0 to %i3 step %i1 iter_args(%s{number} = {a}) -> {t} {{\n"
                f"    %c{number} = math.cos %s{number} : {t}\n"
                f"    %m{number} = arith.mulf %c{number}, {b} : {t}\n"
                f"    scf.yield %m{number} : {t}\n  }}")
        values.append(value)
    body.print(f"%x: {t}, %y: {t}", [(name, t) for name in rng.sample(values[12:], 3)])


KINDS = {"chain": chain, "ladder": ladder, "fan-in": fan_in, "fan-out": fan_out,
         "scalars": scalars, "random": random_graph, "pure": pure}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("number", type=int)
    options = parser.parse_args()
    KINDS[options.kind](options.number)


if __name__ == "__main__":
    main()
