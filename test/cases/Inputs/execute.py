#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes the function @step of an MLIR file on the CPU and prints the bits of its results.

  execute.py FILE.mlir --mlir-lib /usr/lib/llvm-22/lib

The file is lowered with upstream passes (remat-opt runs them, since it knows remat.barrier) and run
by mlir-runner. Arguments, statically shaped tensors or scalars of i1 to i64, index, f32 or f64, get
values that depend on nothing but their type and number. Results are printed as integers, so that
equal output means equal bits.
"""

import argparse
import re
import subprocess
import sys

LOWERING = ",".join((
    "func.func(convert-elementwise-to-linalg)", "empty-tensor-to-alloc-tensor",
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map}",
    "buffer-deallocation-pipeline", "convert-bufferization-to-memref",
    "func.func(convert-linalg-to-loops)", "expand-strided-metadata", "lower-affine",
    "convert-scf-to-cf", "convert-math-to-llvm", "convert-math-to-libm", "convert-arith-to-llvm",
    "convert-index-to-llvm", "finalize-memref-to-llvm", "convert-func-to-llvm",
    "convert-cf-to-llvm", "convert-ub-to-llvm", "reconcile-unrealized-casts", "canonicalize",
    "cse"))
BITS = {"f32": "i32", "f64": "i64", "i32": "i32", "i64": "i64"}
PRINTED = {"i32": "printMemrefI32", "i64": "printMemrefI64"}


def shape_of(type_):
    """Dimensions and element of a tensor type; no dimensions (None) for a scalar."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", type_)
    if not match:
        return None, type_
    return [int(size) for size in match.group(1).split("x")[:-1]], match.group(2)


def numbers(count, element, seed):
    """Multiples of 1/64 between -2 and 2, or small integers."""
    state, values = seed * 2654435761 % (1 << 32) + 1, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % (1 << 31)
        number = state >> 16
        if element == "i1":
            values.append("true" if number & 1 else "false")
        elif element.startswith("f"):
            values.append(repr((number % 256 - 128) / 64))
        else:
            values.append(str(number % 64))
    return values


def constant(name, type_, seed):
    shape, element = shape_of(type_)
    if shape is None:
        value = numbers(1, element, seed)[0]
        return f"  {name} = arith.constant " + (value if element == "i1" else f"{value} : {type_}")
    count = 1
    for size in shape:
        count *= size
    values = numbers(count, element, seed)
    for size in reversed(shape):
        values = [f"[{', '.join(values[i:i + size])}]" for i in range(0, len(values), size)]
    return f"  {name} = arith.constant dense<{values[0]}> : {type_}"


def printing(name, type_, number):
    """Prints a value as a tensor of integers."""
    shape, element = shape_of(type_)
    lines = []

    def add(operation, result_type):
        nonlocal name
        result = f"%r{number}_{len(lines)}"
        lines.append(f"  {result} = {operation}")
        name = result
        return result_type

    if shape is None:
        type_, shape = add(f"tensor.from_elements {name} : tensor<1x{element}>",
                           f"tensor<1x{element}>"), [1]
    if not shape:
        type_ = add(f"tensor.expand_shape {name} [] output_shape [1] : {type_} into "
                    f"tensor<1x{element}>", f"tensor<1x{element}>")
    if element == "index":
        bits, target = "i64", re.sub(r"index>$", "i64>", type_)
        add(f"arith.index_cast {name} : {type_} to {target}", target)
    elif element in BITS:
        bits, target = BITS[element], re.sub(element + ">$", BITS[element] + ">", type_)
        if bits != element:
            add(f"arith.bitcast {name} : {type_} to {target}", target)
    else:  # i1, i8, i16
        bits, target = "i32", re.sub(element + ">$", "i32>", type_)
        add(f"arith.extui {name} : {type_} to {target}", target)
    memref = target.replace("tensor", "memref")
    add(f"bufferization.to_buffer {name} : {target} to {memref}", memref)
    add(f"memref.cast {name} : {memref} to memref<*x{bits}>", bits)
    lines.append(f"  call @{PRINTED[bits]}({name}) : (memref<*x{bits}>) -> ()")
    return lines


def driver(text):
    """A function @main that calls @step and prints, for what @step's signature says."""
    match = re.search(r"func\.func @step\((.*?)\)(?: -> (.*?))? \{\n", text)
    if not match:
        sys.exit("execute.py: expected a function @step")
    arguments = re.findall(r"(%\w+): ([\w<>]+)", match.group(1))
    results = re.findall(r"[\w<>]+", match.group(2) or "")
    lines = ["func.func @main() {"]
    lines += [constant(f"%a{i}", type_, i) for i, (_, type_) in enumerate(arguments)]
    names = ", ".join(f"%a{i}" for i in range(len(arguments)))
    types = ", ".join(type_ for _, type_ in arguments)
    outputs = ", ".join(f"%s{i}" for i in range(len(results)))
    lines.append(f"  {outputs + ' = ' if results else ''}call @step({names}) : ({types}) -> "
                 f"({', '.join(results)})")
    for i, type_ in enumerate(results):
        lines += printing(f"%s{i}", type_, i)
    lines += ["  return", "}"]
    lines += [f"func.func private @{name}(memref<*x{bits}>) attributes {{llvm.emit_c_interface}}"
              for bits, name in PRINTED.items()]
    return "\n".join(lines)


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"execute.py: {command[0]} failed: {done.stderr[:4000]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--mlir-lib", required=True, metavar="DIR")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        text = re.sub(r"^module \{$|^\}$", "", file.read(), flags=re.MULTILINE)
    # The arguments belong to the caller.
    text = re.sub(r"(func\.func @step\()(.*?)(\))",
                  lambda m: m.group(1) + re.sub(r"(: tensor<[^>]*>)",
                                                r"\1 {bufferization.writable = false}",
                                                m.group(2)) + m.group(3), text)
    plain = re.sub(r" \{bufferization\.writable = false\}", "", text)
    lowered = run(["remat-opt", f"--pass-pipeline=builtin.module({LOWERING})"],
                  text + driver(plain))
    libraries = ",".join(f"{options.mlir_lib}/libmlir_{name}.so"
                         for name in ("runner_utils", "c_runner_utils"))
    printed = run(["mlir-runner", "-O3", "-e", "main", "--entry-point-result=void",
                   f"--shared-libs={libraries}"], lowered)
    # The printed addresses differ from run to run.
    print(re.sub(r"base@ = 0x[0-9a-f]+ ", "", printed), end="")


if __name__ == "__main__":
    main()
