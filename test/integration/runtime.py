#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the runtime library with NumPy on random matrix products and convolutions.

  runtime.py libRematRuntime.so [--cases 300] [--seed 1] [--too-little]

Products of f16, bf16, f32 and f64 with all transposes, strides and batches, sizes of 0 among them;
convolutions in one to three dimensions with groups, strides, dilations and dimensions in any order in
memory. A workspace has exactly the size that the library asks for; what is around it, and around the
result, must stay as it was; and a second call must give the same bits. With --too-little there is one
product with too small a workspace, which ends the process.
"""

import argparse
import ctypes
import itertools
import random
import sys

import numpy as np

I1, F16, BF16, F32, F64 = range(5)
STORAGE = {I1: np.uint8, F16: np.uint16, BF16: np.uint16, F32: np.float32, F64: np.float64}
# Of the rounding of the result: before it, everything is exact.
TOLERANCE = {F16: 5e-4, BF16: 4e-3, F32: 1e-5, F64: 1e-13}
GUARD = 32


class Matmul(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("type_a", "type_b", "type_c")] + [
        ("outer", ctypes.c_int64 * 4), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64),
        ("inner", ctypes.c_int64), ("strides_a", ctypes.c_int64 * 6),
        ("strides_b", ctypes.c_int64 * 6), ("strides_c", ctypes.c_int64 * 6)]


class Convolution(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in (
        "input_type", "filter_type", "output_type", "rank", "batch", "groups", "input_channels",
        "output_channels")] + [(name, ctypes.c_int64 * 3) for name in (
            "input_sizes", "window_sizes", "output_sizes", "strides", "dilations")] + [
                ("input_strides", ctypes.c_int64 * 5), ("filter_strides", ctypes.c_int64 * 6),
                ("output_strides", ctypes.c_int64 * 5)]


def encode(values, kind):
    """Elements of a type as they are in memory, from values that it can represent."""
    if kind == F16:
        return values.astype(np.float16).view(np.uint16)
    if kind == BF16:
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(STORAGE[kind])


def decode(stored, kind):
    if kind == F16:
        return stored.view(np.float16).astype(np.float64)
    if kind == BF16:
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)


class Tensor:
    """A random tensor in the middle of a larger buffer, its dimensions in a random order in memory
    and, perhaps, with gaps between them."""

    def __init__(self, rng, sizes, kind, order=None, gap=0):
        self.kind, self.sizes = kind, sizes
        order = order or rng.sample(range(len(sizes)), len(sizes))
        self.strides, span = [0] * len(sizes), 1
        for dim in reversed(order):
            self.strides[dim] = span
            span *= max(sizes[dim], 1) + gap
        # Multiples of 1/8 up to 2: products and short sums are exact in every type.
        least, most = (0, 1) if kind == I1 else (-16, 16)
        values = np.array([rng.randint(least, most) / (1 if kind == I1 else 8)
                           for _ in range(span + 2 * GUARD)])
        self.memory = encode(values, kind)

    def view(self, memory):
        item = memory.itemsize
        return np.lib.stride_tricks.as_strided(memory[GUARD:], self.sizes,
                                               [stride * item for stride in self.strides])

    def values(self):
        return decode(np.ascontiguousarray(self.view(self.memory)), self.kind)

    def address(self, memory=None):
        return (self.memory if memory is None else memory)[GUARD:].ctypes.data


def check(name, call, workspace_bytes, inputs, output, expected):
    """What is wrong with a call, or None."""
    results = []
    for _ in range(2):
        memory = output.memory.copy()
        workspace = np.full(workspace_bytes + 128, 0x5a, np.uint8)
        begin = -workspace.ctypes.data % 64
        call(*[tensor.address() for tensor in inputs], output.address(memory),
             workspace.ctypes.data + begin, workspace_bytes)
        outside = np.concatenate([workspace[:begin], workspace[begin + workspace_bytes:]])
        if (outside != 0x5a).any():
            return f"{name} writes outside of its workspace"
        results.append(memory)
    if not np.array_equal(results[0].view(np.uint8), results[1].view(np.uint8)):
        return f"two calls of {name} differ"
    untouched = np.ones(len(output.memory), bool)
    output.view(untouched)[...] = False
    if not np.array_equal(results[0][untouched], output.memory[untouched]):
        return f"{name} writes outside of its result"
    got = decode(np.ascontiguousarray(output.view(results[0])), output.kind)
    error = np.abs(got - expected) / np.maximum(1, np.abs(expected))
    if error.size and error.max() > TOLERANCE[output.kind]:
        return f"{name} differs by {error.max()}"
    return None


def pad(strides, count):
    return (list(strides) + [0] * count)[:count]


def check_matmul(library, rng):
    outer = [rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(0, 4))]
    rows, columns, inner = (rng.choice([0, 1, 2, 5, 8, 17, 33]) for _ in range(3))
    if rng.random() < 0.02:
        rows, inner = 1030, 1100
    kinds = [F64] * 3 if rng.random() < 0.2 else [
        rng.choice([I1, F16, BF16, F32]), rng.choice([I1, F16, BF16, F32]),
        rng.choice([F16, BF16, F32])]
    count = len(outer)
    gap = lambda: rng.choice([0, 0, 0, 1])
    order = None if rng.random() < 0.5 else list(range(count + 2))
    a = Tensor(rng, outer + [rows, inner], kinds[0], order, gap())
    b = Tensor(rng, outer + [inner, columns], kinds[1], order, gap())
    c = Tensor(rng, outer + [rows, columns], kinds[2], order, gap())
    sizes = (ctypes.c_int64 * 4)(*outer, *[1] * (4 - count))
    def strides(tensor):
        return (ctypes.c_int64 * 6)(*pad(tensor.strides[:count], 4), *tensor.strides[count:])
    how = Matmul(*kinds, sizes, rows, columns, inner, strides(a), strides(b), strides(c))
    expected = c.values() + a.values() @ b.values()
    bytes_needed = library.rematMatmulWorkspace(ctypes.byref(how))
    return check(f"rematMatmul {kinds} {outer} {rows} {columns} {inner}",
                 lambda *arguments: library.rematMatmul(ctypes.byref(how), *arguments),
                 bytes_needed, [a, b], c, expected)


def convolve(inputs, filters, output, strides, dilations):
    """In the order batch, group, channel, spatial; filters as group, output and input channel."""
    windows, outputs = filters.shape[3:], output.shape[3:]
    result = output.copy()
    for window in itertools.product(*map(range, windows)):
        at = tuple(slice(w * d, w * d + (o - 1) * s + 1, s)
                   for w, d, o, s in zip(window, dilations, outputs, strides))
        part = inputs[(slice(None),) * 3 + at]
        result += np.einsum("ngi...,goi->ngo...", part, filters[(slice(None),) * 3 + window])
    return result


def check_convolution(library, rng):
    rank = rng.randint(1, 3)
    batch, input_channels, output_channels = (rng.choice([1, 2, 3, 16, 20]) for _ in range(3))
    groups = rng.choice([1, 1, 1, 2, 4])
    windows = [rng.choice([1, 2, 3, 3, 7]) for _ in range(rank)]
    outputs = [rng.choice([1, 2, 4, 7]) for _ in range(rank)]
    if rng.random() < 0.05:
        batch = 0
    strides = [rng.choice([1, 1, 2]) for _ in range(rank)]
    dilations = [rng.choice([1, 1, 2]) for _ in range(rank)]
    inputs = [(o - 1) * s + (w - 1) * d + 1 + rng.choice([0, 0, 1, 2])
              for o, s, w, d in zip(outputs, strides, windows, dilations)]
    channels_last = [0] + list(range(2, rank + 2)) + [1]
    def order(count):
        choice = rng.random()
        if count == rank + 2 and choice < 0.5:
            return channels_last
        return None if choice < 0.8 else list(range(count))
    gap = lambda: rng.choice([0, 0, 0, 1])
    source = Tensor(rng, [batch, groups * input_channels] + inputs, F32, order(rank + 2), gap())
    filters = Tensor(rng, [groups, output_channels, input_channels] + windows, F32, order(rank + 3),
                     gap())
    output = Tensor(rng, [batch, groups * output_channels] + outputs, F32, order(rank + 2), gap())
    def three(values):
        return (ctypes.c_int64 * 3)(*values, *[1] * (3 - rank))
    how = Convolution(F32, F32, F32, rank, batch, groups, input_channels, output_channels,
                      three(inputs), three(windows), three(outputs), three(strides),
                      three(dilations), (ctypes.c_int64 * 5)(*pad(source.strides, 5)),
                      (ctypes.c_int64 * 6)(*pad(filters.strides, 6)),
                      (ctypes.c_int64 * 5)(*pad(output.strides, 5)))
    split = lambda tensor, channels: tensor.values().reshape(
        [batch, groups, channels] + tensor.sizes[2:])
    expected = convolve(split(source, input_channels), filters.values(),
                        split(output, output_channels), strides, dilations).reshape(output.sizes)
    bytes_needed = library.rematConvolutionWorkspace(ctypes.byref(how))
    name = f"rematConvolution {batch} {groups} {input_channels} {output_channels} {inputs} " \
        f"{windows} {outputs} {strides} {dilations} {source.strides} {filters.strides} " \
        f"{output.strides}"
    if bytes_needed < 0:
        return f"{name} is not computed"
    return check(name, lambda *arguments: library.rematConvolution(ctypes.byref(how), *arguments),
                 bytes_needed, [source, filters], output, expected)


def check_rounding(library):
    """Every f16, and f32 around the midpoints between neighbours, through a product with 1."""
    for kind in (F16, BF16):
        stored = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
        largest = 0x7bff if kind == F16 else 0x7f7f
        finite = stored[(stored & 0x7fff) <= largest]
        exact = decode(finite, kind)
        order = np.unique(np.float32(exact[exact >= 0]))
        middle = ((order[:-1].astype(np.float64) + order[1:]) / 2).astype(np.float32)
        values = np.concatenate([order, middle, np.nextafter(middle, np.float32(0)),
                                 np.nextafter(middle, np.float32(np.inf))])
        values = np.concatenate([values, -values]).astype(np.float32)
        for source, target, data in ((kind, F32, finite), (F32, kind, values)):
            count = len(data)
            how = Matmul(source, F32, target, (ctypes.c_int64 * 4)(1, 1, 1, 1), count, 1, 1,
                         (ctypes.c_int64 * 6)(0, 0, 0, 0, 1, 1),
                         (ctypes.c_int64 * 6)(0, 0, 0, 0, 1, 1),
                         (ctypes.c_int64 * 6)(0, 0, 0, 0, 1, 1))
            workspace = np.zeros(library.rematMatmulWorkspace(ctypes.byref(how)) + 64, np.uint8)
            one = np.ones(1, np.float32)
            result = np.zeros(count, STORAGE[target])
            library.rematMatmul(ctypes.byref(how), data.ctypes.data, one.ctypes.data,
                                result.ctypes.data, workspace.ctypes.data, len(workspace))
            if target == F32:
                expected = decode(data, kind)
            elif kind == F16:
                expected = data.astype(np.float16).astype(np.float64)
            else:
                # Neighbours of bf16 are as far apart as 2^16 units of f32.
                bits = data.view(np.uint32).astype(np.uint64)
                bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16
                expected = bits.astype(np.uint32).view(np.float32).astype(np.float64)
            if not np.array_equal(decode(result, target), expected):
                return f"rounding from {source} to {target} is wrong"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--too-little", action="store_true")
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    for name in ("Matmul", "Convolution"):
        getattr(library, f"remat{name}Workspace").restype = ctypes.c_int64
        getattr(library, f"remat{name}").argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int64]
    if arguments.too_little:
        one = (ctypes.c_int64 * 4)(1, 1, 1, 1)
        strides = (ctypes.c_int64 * 6)(0, 0, 0, 0, 1, 1)
        how = Matmul(BF16, BF16, F32, one, 1, 1, 1, strides, strides, strides)
        data = [np.zeros(64, np.uint8).ctypes.data for _ in range(4)]
        library.rematMatmul(ctypes.byref(how), *data, 64)
    rng = random.Random(arguments.seed)
    faults = [check_rounding(library)]
    for _ in range(arguments.cases):
        faults += [check_matmul(library, rng), check_convolution(library, rng)]
    faults = [fault for fault in faults if fault]
    print(*faults[:20], sep="\n")
    print(f"seed {arguments.seed}: {2 * arguments.cases} cases, {len(faults)} wrong")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
