#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recounts the live peak of a function from the printed text of an MLIR module.

An independent second opinion on `remat-opt`: it uses no MLIR and shares no code with the project,
so a mistake has to be made twice to go unnoticed. It reads what MLIR prints, one operation to a
line: any operation in generic form, and the custom form of the arith, math, tensor, linalg, scf,
func and remat operations that occur in training steps, with or without locations. Whatever else
it finds is an error.

The model (`fusion=none`, no alignment). Time is the index of an operation in its block.

  storage   Every result is a storage of its own, except for
            - views, which share their operand's storage: reshapes, slices that are contiguous, and
              each result of a barrier, which is a view of the operand at its place;
            - destination passing: the result of a linalg operation, tensor.insert or
              tensor.insert_slice takes over the storage of its destination, if this block defines
              that storage (so not of a function's or a loop's argument), no value in it is read
              later, and nothing but the destination is read from it by the operation itself;
            - tensor.empty and scalar or splat constants, which have no storage, nor have views of
              them; as a destination they leave the result with a storage of its own;
            - other constants, which are program data: counted once per distinct attribute.
  size      Elements times the allocation size of an element in MLIR's default data layout. A value
            that is not a tensor counts like one element; `--tensors-only` leaves those out.
  lifetime  Arguments and program data: always. Other storages: from the operation that defines
            them to the last operation that reads a value in them, both included. Operations read
            what their regions capture, and `return` reads the results.
  calls     What a callee gets is a buffer of its own: a view of a part of a storage is copied
            for it.
  regions   An operation with regions adds the peak of what its body defines while it runs: of
            several regions, the largest; of a call, the callee's body. Block arguments take no
            bytes: they live in the operation's operands and results. The bodies of linalg and
            tensor operations and of StableHLO's reductions, sorts and scatters are the code of
            one element, which runs in registers, and add nothing. A tensor that scf.while carries
            counts once more unless its first region passes it on in its place, and so does what
            a loop yields for one carried value from the place of another.

The live peak is the largest number of bytes that are live during one operation.
"""

import argparse
import itertools
import json
import math
import re
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache


SHAPE_QUERIES = {"tensor.dim", "tensor.rank", "stablehlo.get_dimension_size"}
PER_ELEMENT = re.compile(
    r"linalg\.|tensor\.|stablehlo\.(all_reduce|map|reduce|reduce_scatter|reduce_window|scatter|"
    r"select_and_scatter|sort)$")


class RecountError(Exception):
    """The text cannot be counted; `line` is where, if known."""

    def __init__(self, message, line=None):
        super().__init__(message)
        self.line = line


@contextmanager
def line_of(place):
    """Gives errors the line of a statement, an operation or a function."""
    try:
        yield
    except RecountError as error:
        error.line = error.line or place.line
        raise


# --- Text: lines to statements ------------------------------------------------------------------

VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACKET = re.compile(r"->|[<>]=|[()\[\]{}<>]")
CLOSES = {"(": ")", "[": "]", "{": "}", "<": ">"}


def closing(text, start):
    """The position behind the bracket that closes the one at `start`."""
    expected = []
    for match in BRACKET.finditer(text, start):
        token = match.group()
        if token in CLOSES:
            expected.append(CLOSES[token])
        elif len(token) == 1:
            if not expected or expected.pop() != token:
                break
            if not expected:
                return match.end()
    raise RecountError("unbalanced brackets")


def bracketed(text, start, opening):
    """The span inside the bracket that comes next, if `opening` does, and the position behind."""
    at = start + len(text[start:]) - len(text[start:].lstrip(" "))
    if not text.startswith(opening, at):
        return None, start
    end = closing(text, at)
    return slice(at + 1, end - 1), end


@lru_cache(maxsize=None)
def split_pattern(separator):
    return re.compile(r"->|[<>]=|[(\[{<]|" + re.escape(separator))


def split(text, separator=",", raw=None):
    """The parts of `text`, or of `raw` at the same positions, between separators that stand
    outside of brackets."""
    raw = text if raw is None else raw
    parts, start, at = [], 0, 0
    while True:
        match = split_pattern(separator).search(text, at)
        if not match:
            break
        if match.group() == separator:
            parts.append(raw[start:match.start()].strip())
            start = at = match.end()
        else:
            at = closing(text, match.start()) if match.group() in CLOSES else match.end()
    last = raw[start:].strip()
    return parts + [last] if last or parts else []


@dataclass
class Statement:
    """An operation as text. In `text` strings are blanked out, `raw` has them, at the same
    positions; each region has become `{}` and stands in `regions`."""
    line: int
    raw: str = ""
    text: str = ""
    regions: list = field(default_factory=list)


@dataclass
class Region:
    header: str = ""
    statements: list = field(default_factory=list)
    blocks: int = 1


# Not what MLIR prints, except for the `{...}` of a skipped region.
INLINE_REGION = re.compile(r'\{ *(?:\^|%|return\b|\w+\.yield\b|"[^"]*"\(|\.\.\.)')


def read_line(number, raw):
    """One line without comments and locations, or nothing."""
    text = STRING.sub(lambda m: '"' + "_" * (len(m.group()) - 2) + '"', raw) if '"' in raw else raw
    if text.count('"') % 2:
        raise RecountError("a string does not end")
    text = text.partition("//")[0]
    while " loc(" in text:
        start = text.index(" loc(")
        end = closing(text, start + 4)
        text, raw = text[:start] + text[end:], raw[:start] + raw[end:]
    if INLINE_REGION.search(text):
        raise RecountError("expected one operation to a line")
    indent = len(text) - len(text.lstrip())
    text = text.strip()
    return Statement(number, raw[indent:indent + len(text)], text) if text else None


def read_statements(source):
    """The top-level operations. Printed text has one operation to a line, except that a region
    starts with `{` at the end of a line and ends with `}` at the start of one."""
    top = Statement(0, regions=[Region()])
    stack = [top]
    for number, raw in enumerate(source.split("\n"), 1):
        try:
            line = read_line(number, raw)
        except RecountError as error:
            raise RecountError(str(error), number) from None
        if not line or line.text[0] in "#!":  # Aliases; a type that is one has no known size.
            continue
        if line.text.startswith("{-#"):  # Resources, behind the module.
            break
        parent, region = stack[-1], stack[-1].regions[-1]
        if line.text[0] == "}":
            if parent is top:
                raise RecountError("'}' without a region", number)
            stack.pop()
            owner = parent
        elif line.text[0] == "^":
            if region.header or region.statements:
                region.blocks += 1
            region.header = line.text
            continue
        elif line.text[0] == "(" and region.statements:  # linalg.map puts its arguments here.
            owner = region.statements[-1]
            line.raw, line.text = " " + line.raw, " " + line.text
        else:
            owner = None
            region.statements.append(line)
        if owner:
            owner.raw += line.raw
            owner.text += line.text
        if line.text.endswith("{"):
            owner = owner or line
            owner.regions.append(Region())
            stack.append(owner)
    if len(stack) > 1:
        raise RecountError("the text ends inside of this operation", stack[-1].line)
    return top.regions[0].statements


# --- Operations: statements to values -----------------------------------------------------------

@dataclass
class Op:
    """Operands, results and captures (what the regions use from outside) are values: numbers in
    order of definition, except that readers of text leave names in `operands`. `regions` are
    pairs of block arguments and operations; custom forms name the first region's arguments."""
    name: str
    line: int
    operands: list = field(default_factory=list)
    operand_types: list = field(default_factory=list)
    captures: set = field(default_factory=set)
    results: list = field(default_factory=list)
    types: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)
    block_arguments: list = field(default_factory=list)
    regions: list = field(default_factory=list)

    def reads(self):
        """What must be in memory: not what is only asked for its shape."""
        return self.captures if self.name in SHAPE_QUERIES else self.captures.union(self.operands)


HEAD = re.compile(r'(?:(%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*) = )?'
                  r'(?:"([^"]+)"|([A-Za-z_][\w$.]*))')
DEFAULT_DIALECT = {"module": "builtin.module", "call": "func.call", "return": "func.return"}

# Operations in custom form, beside those of arith, math and linalg, that end in their result type.
TYPE_COMES_LAST = {"tensor." + name for name in (
    "bitcast", "cast", "collapse_shape", "concat", "empty", "expand_shape", "extract_slice",
    "from_elements", "gather", "generate", "insert", "insert_slice", "pad", "reshape", "splat")}
INDEX_RESULT = {"linalg.index", "tensor.dim", "tensor.rank", "affine.apply", "affine.max",
                "affine.min"}
NO_RESULT = {"func.return", "linalg.yield", "scf.condition", "scf.yield", "tensor.yield"}
CONSTANTS = {"arith.constant", "stablehlo.constant"}
USES_ATTRIBUTES = CONSTANTS | {"func.call", "func.func", "stablehlo.slice", "tensor.extract_slice"}


def types_of(text):
    """The types of `T` or `(T, U)`."""
    text = text.strip()
    if text.startswith("(") and closing(text, 0) == len(text):
        return split(text[1:-1])
    return [text] if text else []


def attributes_of(statement, span):
    items = split(statement.text[span], raw=statement.raw[span])
    return {key.strip(): value.strip() for key, _, value in (item.partition("=") for item in items)}


def read_generic(op, statement, at):
    """`(operands) <{properties}> ({regions}) {attributes} : (types) -> types`"""
    text = statement.text
    operands, at = bracketed(text, at, "(")
    if operands is None:
        raise RecountError(f"expected operands of '{op.name}'")
    op.operands = VALUE.findall(text[operands])
    if bracketed(text, at, "[")[0]:
        raise RecountError("control flow between blocks is not supported")
    properties, at = bracketed(text, at, "<{")
    regions, at = bracketed(text, at, "({")
    if regions and split(text[regions]) != ["{}"] * len(statement.regions):
        raise RecountError("expected one operation to a line")
    discardable, at = bracketed(text, at, "{")
    if op.name in USES_ATTRIBUTES:
        if properties:  # Without the braces.
            properties = slice(properties.start + 1, properties.stop - 1)
            op.attributes.update(attributes_of(statement, properties))
        if discardable:
            op.attributes.update(attributes_of(statement, discardable))
    if not text.startswith(" : (", at):
        raise RecountError(f"expected the type of '{op.name}'")
    signature, at = bracketed(text, at + 3, "(")
    op.operand_types = split(text[signature])
    if len(op.operands) != len(op.operand_types):
        raise RecountError(f"'{op.name}' has {len(op.operands)} operands, "
                           f"but {len(op.operand_types)} types")
    if not text.startswith(" -> ", at):
        raise RecountError(f"expected the result types of '{op.name}'")
    op.types = types_of(text[at + 4:])


def read_custom(op, statement, at):
    """The custom assembly forms. Operands are all values in sight, in order; what differs is
    where the result types stand."""
    raw, text = statement.raw[at:].strip(), statement.text[at:].strip()
    dialect = op.name.partition(".")[0]
    op.operands = VALUE.findall(text)
    typed = (split(text, " : ") or [""])[-1]
    if op.name in NO_RESULT:
        pass
    elif op.name in INDEX_RESULT:
        op.types = ["index"]
    elif op.name == "arith.constant":
        _, end = bracketed(text, 0, "{")
        op.attributes["value"] = raw[end:].strip()
        op.types = [typed if " : " in text[end:] else "i1"]
    elif op.name in ("arith.cmpi", "arith.cmpf"):
        shape = re.fullmatch(r"((?:tensor|vector)<(?:\d+x)*)\w+>", typed)
        op.types = [shape.group(1) + "i1>" if shape else "i1"]
    elif op.name == "tensor.extract":
        op.types = [element_type(typed)]
    elif dialect == "linalg" and " outs(" in " " + text:
        outs, end = bracketed(text, (" " + text).index(" outs(") + 4, "(")
        op.operands = VALUE.findall(text[:end])
        op.block_arguments = VALUE.findall(text[end:])  # Of linalg.map.
        op.types = split(text[outs].partition(":")[2])
    elif op.name in ("scf.for", "scf.if", "scf.while", "scf.execute_region") and "{}" in text:
        op.operands = []
        for value in VALUE.finditer(text):
            is_argument = text.startswith(" = ", value.end())
            (op.block_arguments if is_argument else op.operands).append(value.group())
        signature, _, results = text.partition("{}")[0].partition("->")
        if op.name == "scf.while":
            op.operand_types = types_of((split(signature, " : ") or [""])[-1])
        op.types = types_of((split(results, " : ") or [""])[0])
    elif op.name == "func.call":
        op.attributes["callee"] = raw.partition("(")[0].strip()
        op.types = types_of(typed.partition("->")[2])
    elif op.name == "remat.barrier":
        op.types = split(typed.partition(" after ")[0])
    elif op.name == "arith.addui_extended":
        op.types = split(typed)
    elif dialect in ("arith", "math") or op.name in TYPE_COMES_LAST:
        if typed == text:
            raise RecountError(f"expected the type of '{op.name}'")
        op.types = split(re.split(r" to | into |->", typed)[-1])[-1:]
        if op.name == "tensor.extract_slice":
            at = max(text.find("["), 0)
            for key in ("static_offsets", "static_sizes", "static_strides"):
                numbers, at = bracketed(text, at, "[")
                op.attributes[key] = text[numbers] if numbers else ""
            op.operand_types = [typed.partition(" to ")[0]]
    else:
        raise RecountError(f"unknown operation '{op.name}' in custom form")


class Builder:
    """Makes operations of a function's statements: gives numbers to values, resolves names."""

    def __init__(self):
        self.names = []  # Of each value.
        self.scopes = []  # Name to value, innermost region last.
        self.operations = 0

    def define(self, name):
        self.names.append(name)
        self.scopes[-1][name] = len(self.names) - 1
        return len(self.names) - 1

    def lookup(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise RecountError(f"'{name}' is not defined here")

    def body(self, region, arguments=()):
        if region.blocks > 1:
            raise RecountError("regions with more than one block are not supported")
        self.scopes.append({})
        names = list(arguments) or VALUE.findall(region.header)
        values = [self.define(name) for name in names]
        ops = [self.op(statement) for statement in region.statements]
        self.scopes.pop()
        return values, ops

    def op(self, statement):
        with line_of(statement):
            return self.build(statement)

    def build(self, statement):
        self.operations += 1
        head = HEAD.match(statement.raw)
        if not head:
            raise RecountError(f"not an operation: '{statement.raw[:40]}'")
        results, generic, custom = head.groups()
        op = Op(generic or DEFAULT_DIALECT.get(custom, custom), statement.line)
        (read_generic if generic else read_custom)(op, statement, head.end())
        op.operands = [self.lookup(name) for name in op.operands]

        first_inner = len(self.names)
        for number, region in enumerate(statement.regions):
            arguments, ops = self.body(region, op.block_arguments if number == 0 else ())
            op.regions.append((arguments, ops))
            for inner in ops:
                op.captures.update(value for value in inner.reads() if value < first_inner)

        groups = [item.partition(":") for item in (results or "").replace(" ", "").split(",")]
        number = sum(int(count or 1) for name, _, count in groups if name)
        if number != len(op.types):
            raise RecountError(f"'{op.name}' has {number} results, but {len(op.types)} types")
        op.results = [self.define(f"{name}#{i}" if count else name)
                      for name, _, count in groups if name for i in range(int(count or 1))]
        return op


class Function:
    """A function's name and body, None for a declaration; names and types of the arguments."""

    def __init__(self, statement):
        self.line, self.names, self.types = statement.line, [], []
        self.body = statement.regions[0] if statement.regions else None
        if statement.text.startswith('"'):
            op = Op("func.func", statement.line)
            read_generic(op, statement, len('"func.func"'))
            self.name = op.attributes.get("sym_name", "").strip('"')
            self.public = op.attributes.get("sym_visibility", '"public"') == '"public"'
            if self.body and not self.body.statements:
                self.body = None
            text = self.body.header if self.body else ""
            arguments, _ = bracketed(text, max(text.find("("), 0), "(")
        else:
            head = re.match(r'func\.func (?:(public|private|nested) )?@([\w$.-]+|"[^"]*")(?=\()',
                            statement.raw)
            if not head:
                raise RecountError("expected a function's name and arguments")
            self.name, self.public = head.group(2).strip('"'), head.group(1) in (None, "public")
            text = statement.text
            arguments, _ = bracketed(text, head.end(), "(")
        if self.body and arguments:
            for argument in split(text[arguments]):
                name, _, typed = argument.partition(":")
                self.names.append(name.strip())
                self.types.append(typed.partition(" {")[0].strip())


def find_functions(statements, functions):
    """Adds the functions of a module and of those inside of it to `functions`, by name."""
    for statement in statements:
        with line_of(statement):
            if re.match(r'module\b|"builtin\.module"', statement.raw):
                if "dlti.dl_spec" in statement.text:
                    raise RecountError("data layout specifications are not supported")
                for region in statement.regions:
                    find_functions(region.statements, functions)
            elif re.match(r'func\.func\b|"func\.func"', statement.raw):
                function = Function(statement)
                if functions.setdefault(function.name, function) is not function:
                    raise RecountError(f"a second function '{function.name}'")
    return functions


# --- Sizes --------------------------------------------------------------------------------------

SHAPED = re.compile(r"(tensor|vector)<((?:\d+x)*)([a-z]\w*(?:<.+>)?)>")
FLOAT_BITS = {"bf16": 16, "f16": 16, "tf32": 19, "f32": 32, "f64": 64, "f80": 80, "f128": 128}


def power_of_two(number):
    return 1 << max(number - 1, 0).bit_length()


def shaped(type_):
    """The dimensions and the element type of a tensor or vector."""
    match = SHAPED.fullmatch(type_)
    if not match:
        raise RecountError(f"the size of '{type_}' is not known")
    return [int(size) for size in match.group(2).split("x")[:-1]], match.group(3)


def element_type(type_):
    return shaped(type_)[1]


def bits(type_):
    """Of a scalar; None for other types."""
    integer = re.fullmatch(r"[su]?i([1-9]\d*)", type_)
    if integer:
        width = int(integer.group(1))
        return width if width <= 64 or width == 128 else None
    narrow = re.fullmatch(r"f([468])E\d+M\d+\w*", type_)
    if narrow:
        return int(narrow.group(1))
    return 64 if type_ == "index" else FLOAT_BITS.get(type_)


@lru_cache(maxsize=None)
def bytes_of(type_):
    """Of a value; of a scalar or a vector with the padding between it and the next one."""
    if type_.startswith("tensor<"):
        dimensions, element = shaped(type_)
        return math.prod(dimensions) * bytes_of(element)
    if type_.startswith("complex<"):
        return 2 * bytes_of(type_[len("complex<"):-1])
    if type_ in ("none", "!stablehlo.token"):
        return 0
    if type_.startswith("vector<"):
        dimensions, element = shaped(type_)
        width = bits(element)
        if width and dimensions:  # Only the last dimension is padded.
            width *= math.prod(dimensions[:-1]) * power_of_two(dimensions[-1])
    else:
        width = bits(type_)
    if not width:
        raise RecountError(f"the size of '{type_}' is not known")
    return power_of_two(-(-width // 8))


# --- The memory model ---------------------------------------------------------------------------

RESHAPES = {"stablehlo.reshape", "tensor.cast", "tensor.collapse_shape", "tensor.expand_shape",
            "tensor.reshape"}
BARRIERS = {"remat.barrier", "stablehlo.optimization_barrier"}


def operand(op, number):
    if not -len(op.operands) <= number < len(op.operands):
        raise RecountError(f"'{op.name}' has too few operands")
    return op.operands[number]


def integers(op, key):
    """The numbers of `array<i64: 1, 2>` or of `1, %2`, where values become None."""
    text = op.attributes.get(key, "").strip()
    array = re.fullmatch(r"array<i64:?(.*)>", text)
    try:
        return [None if item.startswith("%") else int(item)
                for item in split(array.group(1) if array else text)]
    except ValueError:
        raise RecountError(f"'{op.name}' has a strange '{key}'") from None


def is_contiguous(op):
    """Whether a slice is one run of elements: behind the first dimension of which it takes more
    than one element, it takes all of each. The offsets do not matter."""
    if op.name == "stablehlo.slice":
        start, limit = integers(op, "start_indices"), integers(op, "limit_indices")
        sizes, strides = [b - a for a, b in zip(start, limit)], integers(op, "strides")
    else:
        sizes, strides = integers(op, "static_sizes"), integers(op, "static_strides")
    source, _ = shaped("".join(op.operand_types[:1]))
    if not len(source) == len(sizes) == len(strides):
        raise RecountError(f"'{op.name}' has the wrong number of sizes")
    first = next((i for i, size in enumerate(sizes) if size != 1), len(sizes))
    return sizes[first + 1:] == source[first + 1:] and all(stride == 1 for stride in strides)


def viewed(op, number):
    """The operand that result `number` is a view of, or None."""
    if op.name in BARRIERS:
        return operand(op, number)
    if op.name in RESHAPES:
        return operand(op, 0)
    if op.name in ("stablehlo.slice", "tensor.extract_slice") and is_contiguous(op):
        return operand(op, 0)
    return None


def destination(op, number):
    """The operand whose storage result `number` is written to, or None."""
    if op.name.startswith("linalg.") and op.name != "linalg.index":
        return operand(op, number - len(op.results))
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        return operand(op, 1)
    return None


class Storage:
    """Bytes that are live from operation `start` to operation `end` of `block`, both included.
    Arguments have no block: they live in somebody else's storage. `value` is the first value in
    it, `latest` the last one so far; none of those so far is read after operation `last_read`."""

    def __init__(self, value, size=0, block=None, start=0):
        self.value, self.bytes, self.block, self.start, self.end = value, size, block, start, start
        self.latest, self.last_read = value, -1


@dataclass
class Peak:
    """Of a block: the bytes at operation `index`, workspace included; the block's storages."""
    bytes: int
    index: int
    workspace: int
    storages: list


class Model:
    def __init__(self, functions, tensors_only):
        self.functions = functions
        self.tensors_only = tensors_only
        self.program_data = {}  # Attribute to bytes.
        self.called = {}  # Function to bytes, None while it is being counted.
        self.sizes = {}  # Of the arguments of the function and the results of operations.
        self.counts_results = True

    def size(self, type_):
        return 0 if self.tensors_only and not type_.startswith("tensor<") else bytes_of(type_)

    def function(self, function):
        """The peak of what the body defines, and the builder and the operations of the body."""
        self.called[function.name] = None
        builder = Builder()
        arguments, ops = builder.body(function.body, function.names)
        outer, self.sizes = self.sizes, dict(zip(arguments, map(self.size, function.types)))
        peak = self.block(arguments, ops, {})
        self.sizes = outer
        self.called[function.name] = peak.bytes
        return peak, builder, ops

    def callee(self, op):
        name = op.attributes.get("callee", "").lstrip("@").strip('"')
        if name not in self.functions:
            raise RecountError(f"the called function '{name}' is not in this module")
        if not self.functions[name].body:
            return 0
        if name not in self.called:
            # What it returns is a result of the call.
            counted, self.counts_results = self.counts_results, False
            self.function(self.functions[name])
            self.counts_results = counted
        if self.called[name] is None:
            raise RecountError(f"'{name}' is recursive")
        return self.called[name]

    def constant(self, op):
        """Remembers a constant's data, unless it is a scalar or a splat."""
        value, type_ = op.attributes.get("value", ""), op.types[0]
        if not type_.startswith("tensor<"):
            return
        dense = re.match(r"dense<(.*)> :", value)
        if not dense and not re.match(r"(dense_resource|sparse)<(?!__elided__)", value):
            raise RecountError(f"the value of '{op.name}' is not known")
        if not dense or re.match(r'\[|"', dense.group(1)):
            self.program_data[value] = bytes_of(type_)

    def store(self, op, number, time, block, storage):
        """The storage of result `number`, None if it has none."""
        if op.name == "tensor.empty" or op.name in CONSTANTS:
            return None
        view = viewed(op, number)
        if view is not None:
            return storage[view]
        target = destination(op, number)
        store = storage[target] if target is not None else None
        if store and store.block is block and store.last_read <= time:
            others = {value for value in op.operands if value != target} | op.captures
            if (op.operands.count(target) == 1 and store.latest not in op.results
                    and not any(storage[value] is store for value in others)):
                return store
        return Storage(op.results[number], self.size(op.types[number]), block, time)

    def handed_over(self, op, storage):
        """Bytes of constants and destinations that a caller or a callee gets, which are in memory
        then, and of parts of a storage that a callee gets, which are copied."""
        def is_copied(value):
            store = storage[value]
            return store is None or (op.name == "func.call" and
                                     self.sizes.get(value, 0) < self.sizes.get(store.value, 0))
        return sum(self.sizes.get(value, 0) for value in set(op.operands) if is_copied(value))

    def moved_on(self, op):
        """Bytes of the tensors that a loop carries beside its results: those that it passes on
        elsewhere, and copies of those that change places."""
        if op.name == "scf.for":
            arguments, ops = op.regions[0]
            carried, types, moved = arguments[1:], op.types, []
        else:
            arguments, ops = op.regions[0]
            passed, types = ops[-1].operands[1:], op.operand_types
            stays = [passed[number:number + 1] == [value] for number, value in enumerate(arguments)]
            moved = [type_ for stay, type_ in zip(stays, types) if not stay]
            arguments, ops = op.regions[1]
            carried = [arguments[number] if stay else None for number, stay in enumerate(stays)]
        yielded = ops[-1].operands
        made = {value: (inner, number) for inner in ops for number, value in enumerate(inner.results)}

        def place(value):
            while value in made:
                inner, number = made[value]
                value = viewed(inner, number)
                if value is None:
                    value = destination(inner, number)
                if inner.name in ("scf.for", "scf.while"):
                    inits = inner.operands[3:] if inner.name == "scf.for" else inner.operands
                    value = inits[number] if number < len(inits) else None
            return value
        for number, (value, type_) in enumerate(zip(yielded, types)):
            base = place(value)
            if base is not None and base in carried:
                other = carried.index(base)
                if other != number and yielded[other] != base:
                    moved.append(type_)
        return sum(self.size(type_) for type_ in moved if type_.startswith("tensor<"))

    def workspace(self, op, storage):
        inside = [self.block(*region, storage).bytes for region in op.regions]
        if op.name == "func.call":
            return self.callee(op) + self.handed_over(op, storage)
        if op.name == "func.return" and self.counts_results:
            return self.handed_over(op, storage)
        if op.name in ("scf.for", "scf.while"):
            return self.moved_on(op) + max(inside)
        return 0 if PER_ELEMENT.match(op.name) else max(inside, default=0)

    def block(self, arguments, ops, storage):
        """The peak of what a block defines. `storage` maps the values from outside, to None if
        they have no storage; the values that are defined here are added."""
        storage.update((value, Storage(value)) for value in arguments)
        last_read = {value: time for time, op in enumerate(ops) for value in op.reads()}
        own, workspace = [], []
        for time, op in enumerate(ops):
            with line_of(op):
                if op.name in CONSTANTS:
                    self.constant(op)
                for number, value in enumerate(op.results):
                    self.sizes[value] = self.size(op.types[number])
                    store = storage[value] = self.store(op, number, time, ops, storage)
                    if store:
                        store.latest = value
                        store.last_read = max(store.last_read, last_read.get(value, -1))
                        if store.value == value:
                            own.append(store)
                workspace.append(self.workspace(op, storage))
            for value in op.reads():
                if storage[value] and storage[value].block is ops:
                    storage[value].end = time

        change = [0] * (len(ops) + 1)
        for store in own:
            change[store.start] += store.bytes
            change[store.end + 1] -= store.bytes
        live = [held + extra for held, extra in zip(itertools.accumulate(change), workspace)]
        index = max(range(len(ops)), key=live.__getitem__, default=None)
        if index is None:
            return Peak(0, 0, 0, own)
        return Peak(live[index], index, workspace[index], own)


def recount(source, name=None, tensors_only=False):
    """The answer as a dictionary with the keys of `--json`, and `at`: the operation at the peak,
    and `live`: pairs of bytes and name that add up to the peak, largest first."""
    functions = find_functions(read_statements(source), {})
    if name is None:
        public = [f.name for f in functions.values() if f.body and f.public]
        name = public[0] if len(public) == 1 else "main"
        if name not in functions:
            names = ", ".join(public) or "none"
            raise RecountError(f"name a function: several or none are public ({names})")
    function = functions.get(name)
    if not function or not function.body:
        raise RecountError(f"no function '{name}' with a body")

    model = Model(functions, tensors_only)
    with line_of(function):
        arguments = [model.size(type_) for type_ in function.types]
        peak, builder, ops = model.function(function)
        if not ops:
            raise RecountError("the function's body is empty")
    live = list(zip(arguments, function.names))
    live += [(size, f"constant {value[:60]}") for value, size in model.program_data.items()]
    live += [(s.bytes, builder.names[s.value]) for s in peak.storages
             if s.start <= peak.index <= s.end]
    live.append((peak.workspace, f"inside of '{ops[peak.index].name}'"))
    return {
        "function": name,
        "live_peak_bytes": sum(arguments) + sum(model.program_data.values()) + peak.bytes,
        "argument_bytes": sum(arguments),
        "peak_index": peak.index,
        "operations": builder.operations,
        "at": f"line {ops[peak.index].line}: {ops[peak.index].name}",
        "live": sorted((item for item in live if item[0]), key=lambda item: -item[0]),
    }


# --- Self-test: modules worked out by hand --------------------------------------------------------

# A bare body stands in `func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>)`: 32 bytes. `V` is
# tensor<4xf32>, 16 bytes. The comments give what is live at the peak.
CASES = [
    ("a chain: a, b; %0, %2 (%1 is a view of %0, the splat has no storage)", 64, """
%s = "stablehlo.constant"() <{value = dense<1.000000e+00> : V}> : () -> V
%0 = "stablehlo.add"(%a, %s) : (V, V) -> V
%1 = "stablehlo.reshape"(%0) : (V) -> tensor<2x2xf32>
%2 = "stablehlo.reshape"(%1) {remat.clone_of = 12 : i64} : (tensor<2x2xf32>) -> V loc(fused<"re(mat">[#loc1, "a\\"b"])
%3 = "other.op"(%2) <{text = "} : (V) -> V", map = affine_map<(d0) -> (d0)>}> : (V) -> V
%4 = "stablehlo.add"(%b, %3) : (V, V) -> V
return %4 : V"""),
    ("program data: a, b; two distinct constants; %3", 80, """
%0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
%1 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
%2 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 5]> : tensor<4xi32>}> : () -> tensor<4xi32>
%3 = "x.op"(%0, %1, %2) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> V
return %3 : V"""),
    ("destinations: a, b; %1 and its followers; %4, since %3 is read later", 64, """
%c = arith.constant 0.000000e+00 : f32
%0 = tensor.empty() : V
%1 = linalg.fill ins(%c : f32) outs(%0 : V) -> V
%2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : V) outs(%1 : V) {
^bb0(%in: f32, %out: f32):
%9 = arith.addf %in, %out : f32
linalg.yield %9 : f32
} -> V
%3 = "linalg.add"(%a, %b, %2) <{operandSegmentSizes = array<i32: 2, 1>}> ({
^bb0(%in: f32, %in_0: f32, %out: f32):
%9 = "arith.addf"(%in, %in_0) : (f32, f32) -> f32
"linalg.yield"(%9) : (f32) -> ()
}) : (V, V, V) -> V
%4 = linalg.add ins(%a, %b : V, V) outs(%3 : V) -> V
return %3, %4 : V, V"""),
    ("no destination: a, b; %0 (b is an argument); %1 (%0 is also read as an input)", 64, """
%0 = linalg.exp ins(%a : V) outs(%b : V) -> V
%1 = linalg.add ins(%0, %a : V, V) outs(%0 : V) -> V
return %1 : V"""),
    ("barriers: a, b; %0, kept alive by %4; %5 and %6", 80, """
%0 = "x.op"(%a) : (V) -> V
%1, %2 = remat.barrier %0, %a after %b : V, V after V
%3 = "remat.barrier"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>}> : (V, V) -> V
%4:2 = "stablehlo.optimization_barrier"(%2, %3) : (V, V) -> (V, V)
%5 = "x.op"(%a) : (V) -> V
%6 = "x.op"(%4#1, %5) : (V, V) -> V
return %6 : V"""),
    ("slices: a, b; %0; %3 (strided) and %4 (not whole rows); %6", 152, """
%0 = "x.op"(%a) : (V) -> tensor<4x4xf32>
%1 = tensor.extract_slice %0[1, 0] [2, 4] [1, 1] {x = [1]} : tensor<4x4xf32> to tensor<2x4xf32>
%2 = tensor.extract_slice %0[1, 0] [1, 3] [1, 1] : tensor<4x4xf32> to tensor<3xf32>
%3 = tensor.extract_slice %0[0, 0] [2, 4] [2, 1] : tensor<4x4xf32> to tensor<2x4xf32>
%4 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 2, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x4xf32>) -> tensor<2x1xf32>
%6 = "x.op"(%1, %2, %3, %4) : (tensor<2x4xf32>, tensor<3xf32>, tensor<2x4xf32>, tensor<2x1xf32>) -> V
return %6 : V"""),
    ("a loop: a, b; %0 (captured), the result, %2 (index) and %3 in the body", 88, """
%c0 = arith.constant 0 : index
%0 = "x.op"(%a) : (V) -> V
%1 = scf.for %i = %c0 to %c0 step %c0 iter_args(%x = %a) -> (V) {
%2 = arith.addi %i, %i : index
%3 = tensor.insert_slice %0 into %x[%2] [4] [1] : V into V
scf.yield %3 : V
}
return %1 : V"""),
    ("branches: a, b; the result; the larger branch", 80, """
%c = arith.constant true
%0 = scf.if %c -> (V) {
%1 = "x.op"(%a) : (V) -> V
scf.yield %1 : V
} else {
%1 = "x.op"(%a) : (V) -> V
%2 = "x.op"(%1) : (V) -> V
scf.yield %2 : V
}
return %0 : V"""),
    ("a while loop: a, b; both results (V and i32); %2 and %4 in the body", 72, """
%0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
%1:2 = "stablehlo.while"(%a, %0) ({
^bb0(%x: V, %n: tensor<i32>):
%2 = "stablehlo.compare"(%n, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%2) : (tensor<i1>) -> ()
}, {
^bb0(%x: V, %n: tensor<i32>):
%2 = "stablehlo.add"(%n, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
%4 = "stablehlo.negate"(%x) : (V) -> V
"stablehlo.return"(%4, %2) : (V, tensor<i32>) -> ()
}) : (V, tensor<i32>) -> (V, tensor<i32>)
return %1#0 : V"""),
    ("a loop whose values change places: a, b; both results; copies of both", 96, """
%0 = arith.constant 0 : index
%1:2 = scf.for %i = %0 to %0 step %0 iter_args(%x = %a, %y = %b) -> (V, V) {
scf.yield %y, %x : V, V
}
return %1#0, %1#1 : V, V"""),
    ("a loop that passes on another value: a, b; the result; what is carried and %2", 80, """
%0 = arith.constant 0 : i1
%1 = scf.while (%x = %a) : (V) -> V {
%2 = "x.op"(%x) : (V) -> V
scf.condition(%0) %2 : V
} do {
^bb0(%y: V):
scf.yield %y : V
}
return %1 : V"""),
    ("a call with a part: a, b; the result, twice; what the callee gets", 72, """
%0 = tensor.extract_slice %a[0] [2] [1] : V to tensor<2xf32>
%1 = call @f(%0) : (tensor<2xf32>) -> V
return %1 : V
}
func.func private @f(%x: tensor<2xf32>) -> V {
%0 = "x.op"(%x) : (tensor<2xf32>) -> V
return %0 : V"""),
    ("a call: a, b; the result; two values in the callee", 80, """
%0 = call @f(%a) : (V) -> V
return %0 : V
}
func.func private @f(%x: V) -> V {
%0 = "x.op"(%x) : (V) -> V
%1 = "x.op"(%0) : (V) -> V
return %1 : V"""),
    ("sizes: a, b; 4 + 8 + 32 + 16 + 2 + 1 + 4 + 0", 99, """
%0:8 = "x.op"() : () -> (tensor<4xi4>, tensor<index>, tensor<2x2xcomplex<f32>>, tensor<1xvector<3xf32>>, bf16, tensor<1xf8E4M3FN>, tensor<1xui24>, tensor<0xf32>)
return %a : V"""),
    ("no destination: a, b; %0; %1 (the body reads %0)", 64, """
%0 = "x.op"(%a) : (V) -> V
%1 = linalg.map ins(%a : V) outs(%0 : V)
  (%in: f32, %out: f32) {
    %i = linalg.index 0 : index
    %x = tensor.extract %0[%i] : V
    linalg.yield %x : f32
  }
return %1 : V"""),
    ("not defined", "line 3: '%1' is not defined here", """
%0 = "x.op"(%1) : (V) -> V
return %0 : V"""),
    ("unknown custom form", "line 3: unknown operation 'foo.bar' in custom form", """
%0 = foo.bar %a : V
return %0 : V"""),
    ("dynamic shape", "line 3: the size of 'tensor<?xf32>' is not known", """
%0 = "x.op"(%a) : (V) -> tensor<?xf32>
return %0 : tensor<?xf32>"""),
    ("blocks", "line 2: regions with more than one block are not supported", """
"cf.br"() : () -> ()
^bb1:
return %a : V"""),
    ("results", "line 3: 'x.op' has 1 results, but 2 types", """
%0 = "x.op"() : () -> (V, V)
return %a : V"""),
    ("end", "line 2: the text ends inside of this operation", """
%0 = scf.if %a -> (V) {
return %a : V"""),
    ("elided", "line 3: the value of 'arith.constant' is not known", """
%0 = arith.constant dense_resource<__elided__> : V
return %0 : V"""),
    ("inline region", "line 3: expected one operation to a line", """
%0 = "x.op"() ({ "y.op"() : () -> () }) : () -> V
return %a : V"""),
]


def selftest():
    failures = 0
    for name, expected, body in CASES:
        body = "\nfunc.func @main(%a: V, %b: V) -> V {" + body + "\n}\n"
        try:
            answer = recount(body.replace("V", "tensor<4xf32>"))
            actual = answer["live_peak_bytes"]
            if actual != sum(size for size, _ in answer["live"]):
                actual = f"{actual}, but the live values are {answer['live']}"
        except RecountError as error:
            actual = f"line {error.line}: {error}"
        if actual != expected:
            print(f"FAIL {name}: expected {expected}, but got {actual}", file=sys.stderr)
            failures += 1
    print(f"{len(CASES) - failures} of {len(CASES)} cases pass")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", help="printed MLIR; '-' is standard input")
    parser.add_argument("--function", metavar="NAME",
                        help="default: the only public function, otherwise 'main'")
    parser.add_argument("--tensors-only", action="store_true",
                        help="values that are not tensors take no bytes")
    parser.add_argument("--at", action="store_true", help="list what is live at the peak")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument("--selftest", action="store_true", help="count modules with known answers")
    options = parser.parse_args()
    if options.selftest:
        return selftest()
    if options.file is None:
        parser.error("expected a file")
    try:
        if options.file == "-":
            source = sys.stdin.read()
        else:
            with open(options.file, encoding="utf-8", errors="replace") as file:
                source = file.read()
        answer = recount(source, options.function, options.tensors_only)
    except (OSError, RecountError, RecursionError) as error:
        line = f":{error.line}" if getattr(error, "line", None) else ""
        what = getattr(error, "strerror", None) or error
        print(f"recount.py: {options.file}{line}: error: {what}", file=sys.stderr)
        return 1
    at, live = answer.pop("at"), answer.pop("live")
    if options.json:
        if options.at:
            answer["live"] = [{"name": name, "bytes": size} for size, name in live]
        print(json.dumps(answer, indent=2))
        return 0
    lines = [str(answer["live_peak_bytes"])]
    if options.at:
        lines.append(f"at {at}")
        lines += [f"{size:>16} {name}" for size, name in live]
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `recount.py --at FILE | head` ends quietly.
    sys.exit(main())
