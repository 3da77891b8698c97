# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the work in the text of a compiled HLO module.

A product is a `dot` or a custom call of cuBLAS, a convolution is a `convolution` or one of cuDNN,
wherever it is: a kernel of Triton that multiplies is a fusion with a `dot` inside. So operations
are followed through the computations that are called, each as often as it is called. Bodies of
loops count once.

    ENTRY %main (...) {                                         products  convolutions  fusions
      %a = f32[8,8] fusion(%x), kind=kCustom, calls=%with_dot       1
      %b = f32[8,8] fusion(%a), kind=kLoop, calls=%only_adds                                1
      %c = (f32[8,8], u8[64]) custom-call(%b, %x), custom_call_target="__cublas$gemm"
    }                                                               1
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod

# An element type, as in f32, s4 or f8e4m3fn, with the number of its bits; `pred` is a byte.
_ARRAY = re.compile(r"\b([a-z]+(\d*)[a-z0-9]*)\[([\d,<= ]*)\]")
_HEADER = re.compile(r"^(ENTRY )?%?([^\s(]+) \(.*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?(\S+) = ")
_OPCODE = re.compile(r"\s*([a-z][\w-]*)\(")
_CALLED = re.compile(
    r"\b(?:calls|to_apply|body|condition|true_computation|false_computation|called_computations"
    r"|branch_computations)=(\{[^}]*\}|%?[\w.-]+)")
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
# What runs no kernel: it names, passes on or calls.
_NO_KERNEL = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "call", "while",
    "conditional", "opt-barrier", "partition-id", "replica-id", "add-dependency",
}

# What runs the kernels of the computations that it calls; anything else makes one kernel of them.
_CONTROL = {"call", "while", "conditional", "async-start"}


@dataclass(frozen=True)
class Counts:
    """What one execution does. `fusions` have neither a product nor a convolution inside.

    `traffic_bytes` is what all kernels read and write, each operand and each result once.
    """

    products: int = 0
    convolutions: int = 0
    fusions: int = 0
    traffic_bytes: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.products + other.products, self.convolutions + other.convolutions,
                      self.fusions + other.fusions, self.traffic_bytes + other.traffic_bytes)


@dataclass
class _Instruction:
    name: str
    opcode: str
    bytes: int
    operands: list[str]
    calls: list[str]
    target: str


@dataclass
class _Computation:
    instructions: list[_Instruction] = field(default_factory=list)


def type_bytes(text: str) -> int:
    """Bytes of all arrays of a type, `f32[2,3]{1,0}` or a tuple such as `(f32[2], u8[0])`."""
    total = 0
    for name, digits, shape in _ARRAY.findall(text):
        bits = 8 if name == "pred" else int(digits or 0)
        sizes = [int(re.sub(r"\D", "", size)) for size in shape.split(",") if size.strip()]
        total += -(-prod(sizes) * bits // 8)
    return total


def _closing(text: str, start: int) -> int:
    """The position behind the parenthesis that closes the one at `start`."""
    depth = 0
    for match in re.compile(r'[()]|"[^"]*"').finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    raise ValueError(f"expected a closing parenthesis in HLO: {text[start:start + 80]}")


def _parse_instruction(line: str) -> _Instruction | None:
    match = _INSTRUCTION.match(line)
    if not match:
        return None
    start = match.end()
    end = _closing(line, start) if line[start] == "(" else line.index(" ", start)
    opcode = _OPCODE.match(line, end)
    if not opcode:
        raise ValueError(f"expected an operation in HLO: {line.strip()[:80]}")
    close = _closing(line, opcode.end() - 1)
    attributes = line[close:]
    called = [name for each in _CALLED.findall(attributes)
              for name in re.findall(r"[\w.-]+", each)]
    target = _TARGET.search(attributes)
    return _Instruction(
        match.group(1), opcode.group(1), type_bytes(line[start:end]),
        re.findall(r"%([\w.-]+)", line[opcode.end():close]), called,
        target.group(1) if target else "")


def _parse(text: str) -> tuple[dict[str, _Computation], str]:
    """All computations by name, and the name of the first to run."""
    computations: dict[str, _Computation] = {}
    entry, current = "", None
    for line in text.splitlines():
        header = _HEADER.match(line)
        if header:
            current = computations.setdefault(header.group(2), _Computation())
            entry = header.group(2) if header.group(1) else entry
        elif line.startswith("}"):
            current = None
        elif current is not None:
            instruction = _parse_instruction(line)
            if instruction:
                current.instructions.append(instruction)
    if not entry:
        raise ValueError("expected the text of an HLO module, with a computation 'ENTRY'")
    return computations, entry


def count(text: str) -> Counts:
    """Counts the text that `compiled.as_text()` returns. ValueError: it is no HLO."""
    computations, entry = _parse(text)
    known: dict[tuple[str, bool], Counts] = {}

    def in_computation(name: str, fused: bool) -> Counts:
        key = (name, fused)
        if key not in known:
            found = computations[name].instructions
            sizes = {each.name: each.bytes for each in found}
            known[key] = sum((in_instruction(each, sizes, fused) for each in found), Counts())
        return known[key]

    def in_instruction(each: _Instruction, sizes: dict[str, int], fused: bool) -> Counts:
        is_fusion = each.opcode == "fusion"
        # The last part of something asynchronous names the computation of the first one.
        calls = [] if each.opcode.endswith(("-done", "-update")) else each.calls
        one_kernel = fused or each.opcode not in _CONTROL
        inside = sum((in_computation(name, one_kernel) for name in calls), Counts())
        products = each.opcode == "dot" or each.target.startswith("__cublas")
        convolutions = each.opcode == "convolution" or each.target.startswith("__cudnn$conv")
        own = Counts(int(products), int(convolutions))
        if not fused:
            plain = is_fusion and not inside.products and not inside.convolutions
            traffic = 0
            if each.opcode not in _NO_KERNEL and not each.opcode.startswith("async-"):
                traffic = each.bytes + sum(sizes.get(name, 0) for name in each.operands)
            own += Counts(fusions=int(plain), traffic_bytes=traffic)
        return own + inside

    return in_computation(entry, False)
