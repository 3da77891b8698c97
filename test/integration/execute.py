#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes a training step before and after --rematerialize and compares the results bit for bit.

  execute.py STEP.mlir --budget=60% --budget=min
  execute.py STEP.mlir --rewritten=AFTER.mlir

The module has one public function of scalars and ranked static tensors. A driver in MLIR fills the
arguments from a seed, calls the function and prints a hash over the bits of each result; remat-opt
lowers both to LLVM with upstream passes only, and mlir-runner executes them. For each budget these
versions run, and every result has to equal that of the unchanged module:

  what the pass makes of it, with and without reorder=false   lowered like the unchanged module
  both, after -canonicalize -cse                              lowered `tight`

Both lowerings keep the scalar code of each element as it is, so equal means equal. The first gives
each destination a buffer of its own and writes to no argument; the second lets bufferization put as
much as it can into as few buffers as it can, arguments included, so that it shows if a clone or a
barrier breaks the rules of who may write where. --quick executes two of the four: what reordering
makes, cleaned up and tight, and what reorder=false makes as it is.

A budget is what the pass accepts, or `min`, the smallest budget known to be feasible, or `min+30%`,
30 % of the way from there to the unchanged peak. Argument values depend on their type, number and
the seed: floats are in [-0.5, 0.5), or in [0, 0.25) for --nonnegative ones; integers are in
[0, LIMIT), or random bits if they are unsigned in an `iree.abi.encoding`. A manifest.json next to
the file says which arguments hold second moments and variances, which are never negative.

Exit code 0: all results are equal and finite, and no argument has changed where none may. To be
sure that there was something to compare, some version has to have clones, and reorder=false has to
have some at each budget below the unchanged peak, unless --allow-no-clones is given; -canonicalize
-cse must not remove all of them.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

BUFFERIZE = ("--one-shot-bufferize=bufferize-function-boundaries=true "
             "function-boundary-type-conversion=identity-layout-map "
             "allow-return-allocs-from-loops=true")
# Nothing is freed: the process ends after the call.
TO_LLVM = ["--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine",
           "--convert-scf-to-cf", "--convert-math-to-llvm", "--convert-math-to-libm",
           "--convert-to-llvm", "--reconcile-unrealized-casts", "--emit-bytecode"]
LOWERINGS = {
    "separate": ["--convert-elementwise-to-linalg", "--empty-tensor-to-alloc-tensor", BUFFERIZE,
                 *TO_LLVM],
    "tight": ["--convert-elementwise-to-linalg", "--eliminate-empty-tensors", BUFFERIZE, *TO_LLVM]}
LIBRARIES = ("runner_utils", "c_runner_utils", "float16_utils")
# -O0 alone leaves most of the code generator's optimizations on: 80 % of the time on thousands of
# tiny loops.
RUNNER_FLAGS = ["-O0", "--fast-isel", "--regalloc=fast", "--optimize-regalloc=false",
                "--enable-misched=false", "--post-RA-scheduler=false", "--disable-lsr",
                "--disable-cgp", "--disable-machine-cse"]
MASK = (1 << 64) - 1
# Width, and the bits of the exponent, which are all ones in what is not finite.
FLOATS = {"bf16": (16, 0x7F80), "f16": (16, 0x7C00), "f32": (32, 0x7F800000),
          "f64": (64, 0x7FF0000000000000)}


class ExecuteError(Exception):
    """Something other than a difference went wrong."""


# --- The function under test --------------------------------------------------------------------

BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|->|[()\[\]{}<>,]')


def closing(text, start):
    """The position behind the bracket that closes the one at `start`."""
    depth = 0
    for match in BRACKET.finditer(text, start):
        token = match.group()
        depth += (token in ("(", "[", "{", "<")) - (token in (")", "]", "}", ">"))
        if depth == 0:
            return match.end()
    raise ExecuteError("unbalanced brackets")


def split(text):
    """The parts of `text` between commas outside of brackets."""
    parts, start, depth = [], 0, 0
    for match in BRACKET.finditer(text):
        token = match.group()
        depth += (token in ("(", "[", "{", "<")) - (token in (")", "]", "}", ">"))
        if token == "," and depth == 0:
            parts.append(text[start:match.start()].strip())
            start = match.end()
    last = text[start:].strip()
    return parts + [last] if last else parts


class Type:
    """A scalar or a ranked static tensor."""

    def __init__(self, text):
        match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>|(\w+)", text)
        element = match and (match.group(2) or match.group(3))
        if not element or not (element in FLOATS or element == "index"
                               or re.fullmatch(r"i\d+", element) and int(element[1:]) <= 64):
            raise ExecuteError(f"cannot make or print values of type '{text}'")
        self.text, self.element = text, element
        self.is_tensor = match.group(3) is None
        self.shape = [int(size) for size in (match.group(1) or "").split("x")[:-1]]
        # Scalars are in buffers of rank 0.
        self.buffer = f"memref<{''.join(f'{size}x' for size in self.shape)}{element}>"

    def size(self):
        """Number of elements."""
        return math.prod(self.shape)


class Function:
    """The public function of a module as remat-opt prints it."""
    HEADER = re.compile(r"^  func\.func (?:public )?@([\w$.-]+)\(", re.MULTILINE)

    def __init__(self, text):
        headers = list(self.HEADER.finditer(text))
        if len(headers) != 1:
            raise ExecuteError(f"expected one public function, found {len(headers)}")
        self.name = headers[0].group(1)
        begin, end = headers[0].end(), closing(text, headers[0].end() - 1)
        self.span = slice(begin, end - 1)
        self.arguments = split(text[self.span])
        self.argument_types, self.encodings = [], []
        for argument in self.arguments:
            type_, _, attributes = argument.partition(": ")[2].partition(" {")
            self.argument_types.append(Type(type_))
            self.encodings.append("ui" in attributes and "iree.abi.encoding" in attributes)
        results = re.match(r" -> ", text[end:])
        if not results:
            raise ExecuteError(f"function '{self.name}' has no results to compare")
        start = end + results.end()
        # Result attributes follow a type in parentheses only.
        results = (split(text[start + 1:closing(text, start) - 1]) if text[start] == "("
                   else [re.match(r"[^\s<]+(<[^>]*>)?", text[start:]).group()])
        self.result_types = [Type(result.partition(" {")[0]) for result in results]

    def with_read_only_arguments(self, text):
        """The module with arguments that bufferization may not write to."""
        mark = "bufferization.writable = false"
        arguments = []
        for argument, type_ in zip(self.arguments, self.argument_types):
            if type_.is_tensor:
                head, brace, attributes = argument.partition(" {")
                argument = f"{head} {{{mark}{', ' + attributes if brace else '}'}"
            arguments.append(argument)
        return text[:self.span.start] + ", ".join(arguments) + text[self.span.stop:]


# --- The driver ---------------------------------------------------------------------------------

RUNTIME = """
  func.func private @printI64(i64)
  func.func private @printU64(i64)
  func.func private @printComma()
  func.func private @printNewline()

  // Element `i` of stream `seed` of splitmix64, scaled from [0, 1).
  func.func private @exec.random(%seed: i64, %i: index, %low: f64, %scale: f64) -> f64 {
    %gamma = arith.constant 0x9E3779B97F4A7C15 : i64
    %m0 = arith.constant 0xBF58476D1CE4E5B9 : i64
    %m1 = arith.constant 0x94D049BB133111EB : i64
    %c11 = arith.constant 11 : i64
    %c27 = arith.constant 27 : i64
    %c30 = arith.constant 30 : i64
    %c31 = arith.constant 31 : i64
    %ulp = arith.constant 1.1102230246251565e-16 : f64
    %n = arith.index_cast %i : index to i64
    %step = arith.muli %n, %gamma : i64
    %z0 = arith.addi %seed, %step : i64
    %s0 = arith.shrui %z0, %c30 : i64
    %z1 = arith.xori %z0, %s0 : i64
    %z2 = arith.muli %z1, %m0 : i64
    %s1 = arith.shrui %z2, %c27 : i64
    %z3 = arith.xori %z2, %s1 : i64
    %z4 = arith.muli %z3, %m1 : i64
    %s2 = arith.shrui %z4, %c31 : i64
    %z5 = arith.xori %z4, %s2 : i64
    %bits = arith.shrui %z5, %c11 : i64
    %integer = arith.uitofp %bits : i64 to f64
    %unit = arith.mulf %integer, %ulp : f64
    %scaled = arith.mulf %unit, %scale : f64
    %number = arith.addf %scaled, %low : f64
    return %number : f64
  }
"""

# For each type of elements. @exec.show prints a hash over the bits of all elements, the number of
# elements that are not finite, and how often an element differs from the one before. A change of a
# single element always changes the hash. @exec.dump prints the bits of each element.
RUNTIME_OF_ELEMENT = """
  func.func private @exec.fill.{element}(%buffer: memref<?x{element}>, %seed: i64, %low: f64,
                                         %scale: f64) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = memref.dim %buffer, %zero : memref<?x{element}>
    scf.for %i = %zero to %size step %one {{
      %number = func.call @exec.random(%seed, %i, %low, %scale) : (i64, index, f64, f64) -> f64
      {value_of_number}
      memref.store {value}, %buffer[%i] : memref<?x{element}>
    }}
    return
  }}

  func.func private @exec.show.{element}(%buffer: memref<?x{element}>) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %basis = arith.constant 0xCBF29CE484222325 : i64
    %prime = arith.constant 0x100000001B3 : i64
    %c0 = arith.constant 0 : i64
    %c32 = arith.constant 32 : i64
    %exponent = arith.constant {exponent} : i64
    %size = memref.dim %buffer, %zero : memref<?x{element}>
    %hash, %infinite, %changes, %last = scf.for %i = %zero to %size step %one
        iter_args(%h = %basis, %f = %c0, %c = %c0, %before = %c0) -> (i64, i64, i64, i64) {{
      %element = memref.load %buffer[%i] : memref<?x{element}>
      {bits_of_element}
      %h0 = arith.xori %h, {bits} : i64
      %h1 = arith.muli %h0, %prime : i64
      %h2 = arith.shrui %h1, %c32 : i64
      %h3 = arith.xori %h1, %h2 : i64
      %masked = arith.andi {bits}, %exponent : i64
      %has_exponent = arith.cmpi eq, %masked, %exponent : i64
      %is_float = arith.cmpi ne, %exponent, %c0 : i64
      %is_infinite = arith.andi %has_exponent, %is_float : i1
      %f0 = arith.extui %is_infinite : i1 to i64
      %f1 = arith.addi %f, %f0 : i64
      %differs = arith.cmpi ne, {bits}, %before : i64
      %is_not_first = arith.cmpi ne, %i, %zero : index
      %is_change = arith.andi %differs, %is_not_first : i1
      %change = arith.extui %is_change : i1 to i64
      %c1 = arith.addi %c, %change : i64
      scf.yield %h3, %f1, %c1, {bits} : i64, i64, i64, i64
    }}
    call @printU64(%hash) : (i64) -> ()
    call @printComma() : () -> ()
    call @printI64(%infinite) : (i64) -> ()
    call @printComma() : () -> ()
    call @printI64(%changes) : (i64) -> ()
    call @printNewline() : () -> ()
    return
  }}

  func.func private @exec.dump.{element}(%buffer: memref<?x{element}>) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = memref.dim %buffer, %zero : memref<?x{element}>
    scf.for %i = %zero to %size step %one {{
      %element = memref.load %buffer[%i] : memref<?x{element}>
      {bits_of_element}
      func.call @printU64({bits}) : (i64) -> ()
      func.call @printNewline() : () -> ()
    }}
    return
  }}
"""


def converted(value, *steps):
    """Lines that convert a value in steps (operation, from, to), and the name of the last one."""
    lines, name = [], value
    for number, (operation, source, target) in enumerate(steps):
        lines.append(f"{value}{number} = arith.{operation} {name} : {source} to {target}")
        name = f"{value}{number}"
    return "\n      ".join(lines), name


def runtime_of(element):
    width, exponent = FLOATS.get(element, (64, 0))
    if element == "index":
        from_number = [("fptosi", "f64", "i64"), ("index_cast", "i64", "index")]
        to_bits = [("index_cast", "index", "i64")]
    elif element in FLOATS:
        from_number = [("truncf", "f64", "f32")] if width < 64 else []
        from_number += [("truncf", "f32", element)] if width < 32 else []
        to_bits = [("bitcast", element, f"i{width}")]
        to_bits += [("extui", f"i{width}", "i64")] if width < 64 else []
    else:
        from_number = [("fptosi", "f64", "i64")]
        from_number += [("trunci", "i64", element)] if element != "i64" else []
        to_bits = [("extui", element, "i64")] if element != "i64" else []
    value_of_number, value = converted("%number", *from_number)
    bits_of_element, bits = converted("%element", *to_bits)
    return RUNTIME_OF_ELEMENT.format(element=element, exponent=exponent, value=value, bits=bits,
                                     value_of_number=value_of_number,
                                     bits_of_element=bits_of_element)


def flat(name, type_):
    """Lines that view a buffer as a vector of dynamic size, and the name of the view."""
    rank, element = len(type_.shape), type_.element
    vector = f"memref<{type_.size()}x{element}>"
    if rank == 0:
        line = f"{name}.v = memref.expand_shape {name} [] output_shape [1] : {type_.buffer}"
    else:
        dimensions = ", ".join(map(str, range(rank)))
        line = f"{name}.v = memref.collapse_shape {name} [[{dimensions}]] : {type_.buffer}"
    return [f"{line} into {vector}",
            f"{name}.d = memref.cast {name}.v : {vector} to memref<?x{element}>"], f"{name}.d"


class Driver:
    """Makes the arguments, shows them, calls the function, shows its results and the arguments
    again."""

    def __init__(self, function, seed, limit, nonnegative):
        self.function, self.seed, self.limit = function, seed, limit
        self.nonnegative = nonnegative
        types = function.argument_types + function.result_types
        elements = list(dict.fromkeys(type_.element for type_ in types))
        self.runtime = RUNTIME + "".join(map(runtime_of, elements))

    def interval(self, number):
        """Low end and length of the interval of an argument's values."""
        element = self.function.argument_types[number].element
        if element in FLOATS:
            return (0.0, 0.25) if number in self.nonnegative else (-0.5, 1.0)
        if element == "i1":
            return 0.0, 2.0
        return 0.0, 4294967296.0 if self.function.encodings[number] else float(self.limit)

    def text(self, dumped):
        """With a number, the bits of that result's elements come last."""
        function, before, after, names = self.function, [], [], []
        for i, type_ in enumerate(function.argument_types):
            low, scale = self.interval(i)
            view, vector = flat(f"%a{i}", type_)
            stream = (self.seed * 0xD1342543DE82EF95 + i * 0x2545F4914F6CDD1D + 1) & MASK
            show = (f"call @exec.show.{type_.element}({vector}) : "
                    f"(memref<?x{type_.element}>) -> ()")
            before += [
                f"%a{i} = memref.alloc() : {type_.buffer}", *view,
                f"%a{i}.s = arith.constant {hex(stream)} : i64",
                f"%a{i}.l = arith.constant {low} : f64", f"%a{i}.w = arith.constant {scale} : f64",
                f"call @exec.fill.{type_.element}({vector}, %a{i}.s, %a{i}.l, %a{i}.w) : "
                f"(memref<?x{type_.element}>, i64, f64, f64) -> ()", show,
                f"%a{i}.t = bufferization.to_tensor %a{i} restrict writable : {type_.buffer} to "
                f"{type_.text}" if type_.is_tensor else
                f"%a{i}.t = memref.load %a{i}[] : {type_.buffer}"]
            names.append(f"%a{i}.t")
            after.append(show)
        results = []
        for i, type_ in enumerate(function.result_types):
            view, vector = flat(f"%b{i}", type_)
            vector_type = f"memref<?x{type_.element}>"
            results += [
                f"%b{i} = bufferization.to_buffer %r{i} read_only : {type_.text} to {type_.buffer}"
            ] if type_.is_tensor else [
                f"%b{i} = memref.alloc() : {type_.buffer}",
                f"memref.store %r{i}, %b{i}[] : {type_.buffer}"]
            results += view
            results.append(f"call @exec.show.{type_.element}({vector}) : ({vector_type}) -> ()")
            if i == dumped:
                after.append(f"call @exec.dump.{type_.element}({vector}) : ({vector_type}) -> ()")
        call = (f"{', '.join(f'%r{i}' for i in range(len(function.result_types)))} = "
                f"call @{function.name}({', '.join(names)}) : "
                f"({', '.join(type_.text for type_ in function.argument_types)}) -> "
                f"({', '.join(type_.text for type_ in function.result_types)})")
        lines = "\n    ".join([*before, call, *results, *after, "return"])
        return f"{self.runtime}\n  func.func @exec.main() {{\n    {lines}\n  }}\n"


# --- Running ------------------------------------------------------------------------------------

def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ExecuteError(f"{command[0]} failed with exit code {done.returncode}: "
                           f"{done.stderr.strip()[:4000]}")
    return done.stdout


class Outcome:
    """What the driver printed: (hash, elements that are not finite, changes) for each argument
    before the call, each result and each argument after it; the bits of the dumped result."""

    def __init__(self, text, function):
        arguments, results = len(function.argument_types), len(function.result_types)
        rows = text.splitlines()
        count = 2 * arguments + results
        shown = [tuple(map(int, row.split(","))) for row in rows[:count]]
        if len(shown) < count or any(len(row) != 3 for row in shown):
            raise ExecuteError(f"the driver printed {len(rows)} lines, not {count}")
        self.before, self.after = shown[:arguments], shown[arguments + results:]
        self.results = shown[arguments:arguments + results]
        self.dump = [int(row) for row in rows[count:]]


class Tools:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def optimize(self, source, output, *flags):
        run([self.options.remat_opt, source, *flags, "-o", self.path(output)])
        return self.path(output)

    def rematerialize(self, source, output, flags):
        """Runs the pass; its report on the one function, also if it refuses the budget."""
        report = self.path("report.json")
        done = subprocess.run(
            [self.options.remat_opt, source, f"--rematerialize={flags} report={report}", "-o",
             self.path(output)], capture_output=True, text=True, check=False)
        refused = "does not fit into the budget" in done.stderr
        if done.returncode != 0 and not refused:
            raise ExecuteError(f"--rematerialize='{flags}' failed with exit code "
                               f"{done.returncode}: {done.stderr.strip()[:4000]}")
        functions = [function for function in json.loads(read(report))["functions"]
                     if function["status"] != "skipped"]
        if len(functions) != 1:
            raise ExecuteError(f"expected a report on one function, found {len(functions)}")
        return functions[0]

    def execute(self, source, lowering, dumped=None):
        text = read(source)
        function = Function(text)
        if lowering == "separate":
            text = function.with_read_only_arguments(text)
        driver = Driver(function, self.options.seed, self.options.limit, self.options.nonnegative)
        # Aliases of attributes may come before the module.
        opening = re.search(r"^module.*\{$", text, re.MULTILINE)
        with open(self.path("driver.mlir"), "w", encoding="utf-8") as file:
            file.write(text[:opening.end()] + driver.text(dumped) + text[opening.end():])
        lowered = self.optimize(self.path("driver.mlir"), "lowered.mlirbc", *LOWERINGS[lowering])
        libraries = [os.path.join(self.options.libs, f"libmlir_{name}.so") for name in LIBRARIES]
        return Outcome(run([self.options.runner, lowered, *RUNNER_FLAGS, "-e", "exec.main",
                            "--entry-point-result=void",
                            f"--shared-libs={','.join(libraries)}"]), function)


class Check:
    """Executes versions of one module, prints a row for each and collects what is wrong."""

    def __init__(self, options, folder):
        self.options, self.tools, self.problems = options, Tools(options, folder), []
        self.source = self.tools.optimize(options.file, "unchanged.mlir")
        self.function = Function(read(self.source))
        self.limits, self.seen, self.clones = {}, {read(self.source): "unchanged"}, 0
        print(f"function '{self.function.name}' of {os.path.basename(options.file)}: "
              f"{len(self.function.argument_types)} arguments, "
              f"{len(self.function.result_types)} results")
        print(f"\n{'version':<48}{'packed':>10}{'clones':>8}{'barriers':>10}  results")
        self.reference = self.tools.execute(self.source, "separate")
        self.check_reference()

    def check_reference(self):
        constant = []
        for i, (_, infinite, changes) in enumerate(self.reference.results):
            type_ = self.function.result_types[i]
            if infinite:
                self.problems.append(f"result #{i} ({type_.text}) of the unchanged function has "
                                     f"{infinite} elements that are not finite")
            if changes == 0 and type_.size() > 1:
                constant.append(f"#{i}")
        self.row("unchanged", "-", self.source,
                 f"all elements of {', '.join(constant)} are equal" if constant else "")

    def row(self, version, packed, source, note):
        """Prints a row; the number of clones in the version."""
        text = read(source)
        clones, barriers = text.count("remat.clone_of"), text.count(" = remat.barrier ")
        self.clones += clones
        print(f"{version:<48}{packed:>10}{clones:>8}{barriers:>10}  {note}".rstrip(), flush=True)
        return clones

    def compare(self, version, packed, source, lowering):
        """Executes a version; the number of its clones."""
        outcome = self.tools.execute(source, lowering)
        expected, types = self.reference.results, self.function.result_types
        if len(outcome.results) != len(expected):
            raise ExecuteError(f"{version}: {len(outcome.results)} results, not {len(expected)}")
        if outcome.before != self.reference.before:
            raise ExecuteError(f"{version}: the arguments differ")
        wrong = [i for i, row in enumerate(outcome.results) if row != expected[i]]
        clones = self.row(version, packed, source,
                          f"{len(expected) - len(wrong)} of {len(expected)} equal")
        for i in wrong[:self.options.details]:
            self.problems.append(f"{version}: result #{i} ({types[i].text}) differs: "
                                 f"{self.difference(source, lowering, i)}")
        if len(wrong) > self.options.details:
            rest = ", ".join(f"#{i}" for i in wrong[self.options.details:])
            self.problems.append(f"{version}: these results differ, too: {rest}")
        if lowering == "separate":
            self.problems += [f"{version}: argument #{i} has changed" for i, row in
                              enumerate(outcome.after) if row != outcome.before[i]]
        return clones

    def difference(self, source, lowering, number):
        want = self.tools.execute(self.source, "separate", number).dump
        have = self.tools.execute(source, lowering, number).dump
        places = [i for i, bits in enumerate(want) if have[i] != bits]
        if not places:
            return "not in another run: it is not deterministic"
        i = places[0]
        return (f"{len(places)} of {len(want)} elements, first [{i}] with bits {hex(have[i])}, "
                f"expected {hex(want[i])}")

    def compare_both(self, version, packed, source, needs_clones=False, skipped=None):
        """As it is and after cleaning up, but for the skipped lowering. The same text is not
        executed twice."""
        same = self.seen.setdefault(read(source), version)
        if same != version:
            clones = left = self.row(version, packed, source, f"same text as {same}")
        else:
            if skipped == "separate":
                clones = left = self.row(version, packed, source, "not executed")
            else:
                clones = left = self.compare(version, packed, source, "separate")
            if skipped != "tight":
                cleaned = self.tools.optimize(source, "cleaned.mlir", "--canonicalize", "--cse")
                left = self.compare(f"{version} -canonicalize -cse", "", cleaned, "tight")
        if needs_clones and clones == 0:
            self.problems.append(f"{version}: nothing is recomputed")
        if clones and not left:
            self.problems.append(f"{version}: -canonicalize -cse removed all clones")

    def budget_bytes(self, budget, flags):
        """What a budget means to the pass with these flags."""
        match = re.fullmatch(r"min(?:\+(\d+)%)?", budget)
        if not match:
            return budget
        if flags not in self.limits:
            report = self.tools.rematerialize(self.source, "refused.mlir", f"budget=1B{flags}")
            self.limits[flags] = (report["minimum_known_bytes"], report["baseline_packed_bytes"])
        minimum, unchanged = self.limits[flags]
        return f"{minimum + (unchanged - minimum) * int(match.group(1) or 0) // 100}B"

    def check_budget(self, budget):
        for reorder in ("", " reorder=false"):
            extra = f" {self.options.options}" if self.options.options else ""
            flags = f"{extra}{reorder}"
            asked = self.budget_bytes(budget, flags)
            report = self.tools.rematerialize(self.source, "after.mlir", f"budget={asked}{flags}")
            version = f"budget={budget}{flags}"
            if report["status"] not in ("met", "unchanged"):
                self.problems.append(f"{version}: {report['status']}, the smallest budget known "
                                     f"to be feasible is {report['minimum_known_bytes']} bytes")
                continue
            # Moving operations may be enough where it is allowed.
            is_below = report["budget_bytes"] < report["baseline_packed_bytes"]
            skipped = "tight" if reorder else "separate"
            self.compare_both(version, report["packed_bytes"], self.tools.path("after.mlir"),
                              is_below and reorder and not self.options.allow_no_clones,
                              skipped if self.options.quick else None)


def second_moments(path):
    """Numbers of the arguments that a manifest beside the file names as never negative."""
    manifest = os.path.join(os.path.dirname(path), "manifest.json")
    if not os.path.exists(manifest):
        return set()
    entry = json.loads(read(manifest)).get(os.path.basename(path).partition(".")[0], {})
    return {i for i, name in enumerate(entry.get("inputs", []))
            if re.search(r"\['(v|var)'\]", name)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--remat-opt", default="remat-opt")
    parser.add_argument("--runner", default="mlir-runner")
    parser.add_argument("--libs", required=True, metavar="DIR", help="folder of libmlir_*.so")
    parser.add_argument("--budget", action="append", default=[],
                        help="60%%, 100KiB, min, min+50%%; any number of times")
    parser.add_argument("--options", default="", help="further options of --rematerialize")
    parser.add_argument("--rewritten", metavar="FILE", action="append", default=[],
                        help="compare with this module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10, help="integer arguments are below this")
    parser.add_argument("--nonnegative", default="", metavar="N,...",
                        help="numbers of arguments that are not negative")
    parser.add_argument("--allow-no-clones", action="store_true")
    parser.add_argument("--quick", action="store_true", help="execute half of the versions")
    parser.add_argument("--details", type=int, default=3,
                        help="number of different results to look into")
    parser.add_argument("--keep", metavar="DIR", help="put files here and leave them")
    options = parser.parse_args()
    if not options.budget and not options.rewritten:
        parser.error("--budget or --rewritten is required")
    options.nonnegative = second_moments(options.file) | {
        int(number) for number in options.nonnegative.split(",") if number}

    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
        try:
            check = Check(options, options.keep or folder)
            for budget in options.budget:
                check.check_budget(budget)
            for path in options.rewritten:
                check.compare_both(os.path.basename(path), "-",
                                   check.tools.optimize(path, "after.mlir"))
            if not check.clones and not options.allow_no_clones:
                check.problems.append("no version has clones")
        except ExecuteError as error:
            sys.exit(f"execute.py: error: {error}")
    for problem in check.problems:
        print(f"FAILED: {problem}")
    if check.problems:
        sys.exit(1)
    print("all results are equal")


if __name__ == "__main__":
    main()
