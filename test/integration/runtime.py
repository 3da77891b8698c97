#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the runtime library with NumPy on random matrix products and convolutions.

  runtime.py libRematRuntime.so [--cases 300] [--seed 1] [--too-little]
  runtime.py libRematCudaRuntime.so --device [--cases 300] [--seed 1]

Products of f16, bf16, f32 and f64 with all transposes, strides and batches, sizes of 0 among them;
convolutions in one to three dimensions with groups, strides, dilations and dimensions in any order in
memory. A workspace has exactly the size that the library asks for; what is around it, and around the
result, must stay as it was; and a second call must give the same bits. With --too-little there is one
product with too small a workspace, which ends the process.

With --device, memory is that of a GPU. What its libraries do not compute is not compared, but it has
to be the smaller part.
"""

import argparse
import ctypes
import itertools
import random
import sys

import numpy as np

from device import Device

I1, F16, BF16, F32, F64, TF32 = range(6)
STORAGE = {I1: np.uint8, F16: np.uint16, BF16: np.uint16, F32: np.float32, F64: np.float64,
           TF32: np.float32}
# Of the rounding of the result: before it, everything is exact.
TOLERANCE = {F16: 5e-4, BF16: 4e-3, F32: 1e-5, F64: 1e-13}
GUARD = 32
# What a GPU computes: types of operands and result.
DEVICE_PRODUCTS = [(F16, F16, F16), (F16, F16, F32), (BF16, BF16, BF16), (BF16, BF16, F32),
                   (F32, F32, F32), (TF32, TF32, F32), (F64, F64, F64)]
DEVICE_CONVOLUTIONS = [(F16, F16, F16), (BF16, BF16, BF16), (F32, F32, F32), (TF32, TF32, F32),
                       (F64, F64, F64)]


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
    and, perhaps, with gaps between them; of some, each index may be at the same place."""

    def __init__(self, rng, sizes, kind, order=None, gap=0, repeated=()):
        self.kind, self.sizes = kind, sizes
        order = order or rng.sample(range(len(sizes)), len(sizes))
        self.strides, span = [0] * len(sizes), 1
        for dim in reversed(order):
            if dim in repeated:
                continue
            self.strides[dim] = span
            span *= max(sizes[dim], 1) + gap
        # Multiples of 1/8 up to 2: products and short sums are exact in every type.
        least, most = (0, 1) if kind == I1 else (-16, 16)
        self.begin = GUARD + rng.choice([0, 0, 1])
        values = np.array([rng.randint(least, most) / (1 if kind == I1 else 8)
                           for _ in range(self.begin + span + GUARD)])
        self.memory = encode(values, kind)

    def view(self, memory):
        item = memory.itemsize
        return np.lib.stride_tricks.as_strided(memory[self.begin:], self.sizes,
                                               [stride * item for stride in self.strides])

    def values(self, memory=None):
        memory = self.memory if memory is None else memory
        return decode(np.ascontiguousarray(self.view(memory)), self.kind)


class Processor:
    """The runtime library: all memory is NumPy's."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name in ("Matmul", "Convolution"):
            getattr(self.library, f"remat{name}Workspace").restype = ctypes.c_int64
            getattr(self.library, f"remat{name}").argtypes = [ctypes.c_void_p] * 5 + [
                ctypes.c_int64]

    def get_workspace(self, name, how):
        return getattr(self.library, f"remat{name}Workspace")(ctypes.byref(how))

    def call(self, name, how, buffers, begins, workspace, begin, workspace_bytes):
        """Changes the last of the buffers, and the workspace, which begins at a byte."""
        addresses = [buffer[first:].ctypes.data for buffer, first in zip(buffers, begins)]
        getattr(self.library, f"remat{name}")(
            ctypes.byref(how), *addresses, workspace.ctypes.data + begin, workspace_bytes)


def check(library, name, how, inputs, output, expected):
    """What is wrong with a call, or None; False if the library does not compute this."""
    workspace_bytes = library.get_workspace(name, how)
    if workspace_bytes < 0:
        return False
    tensors = inputs + [output]
    results = []
    for _ in range(2):
        buffers = [tensor.memory.copy() for tensor in tensors]
        workspace = np.full(workspace_bytes + 512, 0x5a, np.uint8)
        begin = 256 + -workspace.ctypes.data % 64 if isinstance(library, Processor) else 256
        library.call(name, how, buffers, [tensor.begin for tensor in tensors], workspace, begin,
                     workspace_bytes)
        outside = np.concatenate([workspace[:begin], workspace[begin + workspace_bytes:]])
        if (outside != 0x5a).any():
            return f"{name} writes outside of its workspace"
        for tensor, buffer in zip(inputs, buffers):
            if not np.array_equal(tensor.memory.view(np.uint8), buffer.view(np.uint8)):
                return f"{name} writes to an operand"
        results.append(buffers[-1])
    if not np.array_equal(results[0].view(np.uint8), results[1].view(np.uint8)):
        return f"two calls of {name} differ"
    untouched = np.ones(len(output.memory), bool)
    output.view(untouched)[...] = False
    if not np.array_equal(results[0][untouched], output.memory[untouched]):
        return f"{name} writes outside of its result"
    error = np.abs(output.values(results[0]) - expected) / np.maximum(1, np.abs(expected))
    if error.size and error.max() > TOLERANCE[output.kind]:
        return f"{name} differs by {error.max()}"
    return None


def pad(strides, count):
    return (list(strides) + [0] * count)[:count]


def choose_kinds(library, rng, known):
    """Types, most of them `known` to a GPU, and whether they are."""
    if isinstance(library, Processor):
        kinds = [F64] * 3 if rng.random() < 0.2 else [
            rng.choice([I1, F16, BF16, F32]), rng.choice([I1, F16, BF16, F32]),
            rng.choice([F16, BF16, F32])]
    elif rng.random() < 0.9:
        kinds = rng.choice(known)
    else:
        kinds = [rng.choice([I1, F16, BF16, F32]) for _ in range(3)]
    return kinds, isinstance(library, Processor) or tuple(kinds) in known


def describe(name, result, *words):
    """The fault of a case, if it has one."""
    return f"{result}: {name} {words}" if result else result


def check_matmul(library, rng):
    outer = [rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(0, 4))]
    rows, columns, inner = (rng.choice([0, 1, 2, 5, 8, 17, 33]) for _ in range(3))
    if rng.random() < 0.02:
        rows, inner = 1030, 1100
    kinds, are_known = choose_kinds(library, rng, DEVICE_PRODUCTS)
    count = len(outer)
    gap = lambda: rng.choice([0, 0, 0, 1])
    def order():
        choice = rng.random()
        if choice < 0.3:
            return None
        # The matrix last, as it is or transposed.
        matrix = rng.sample([count, count + 1], 2)
        return rng.sample(range(count), count) + matrix if choice < 0.6 else [*range(count)] + matrix
    repeats = lambda: [dim for dim in range(count) if rng.random() < 0.15]
    a = Tensor(rng, outer + [rows, inner], kinds[0], order(), gap(), repeats())
    b = Tensor(rng, outer + [inner, columns], kinds[1], order(), gap(), repeats())
    # Sums in several steps are rounded in each of them.
    sums = repeats() if kinds[2] in (F32, F64) else []
    c = Tensor(rng, outer + [rows, columns], kinds[2], order(), gap(), sums)
    sizes = (ctypes.c_int64 * 4)(*outer, *[1] * (4 - count))
    def strides(tensor):
        return (ctypes.c_int64 * 6)(*pad(tensor.strides[:count], 4), *tensor.strides[count:])
    how = Matmul(*kinds, sizes, rows, columns, inner, strides(a), strides(b), strides(c))
    product = (a.values() @ b.values()).sum(axis=tuple(sums), keepdims=True)
    result = check(library, "Matmul", how, [a, b], c, c.values() + product)
    if result is not False and not are_known:
        return f"a product of {kinds} is computed"
    return describe("rematMatmul", result, kinds, outer, rows, columns, inner, a.strides, b.strides,
                    c.strides)


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
    if rng.random() < 0.3:
        windows, outputs = outputs, windows
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
    kinds, are_known = [F32] * 3, True
    if not isinstance(library, Processor):
        kinds, are_known = choose_kinds(library, rng, DEVICE_CONVOLUTIONS)
    source = Tensor(rng, [batch, groups * input_channels] + inputs, kinds[0], order(rank + 2), gap())
    filters = Tensor(rng, [groups, output_channels, input_channels] + windows, kinds[1],
                     order(rank + 3), gap())
    output = Tensor(rng, [batch, groups * output_channels] + outputs, kinds[2], order(rank + 2),
                    gap())
    def three(values):
        return (ctypes.c_int64 * 3)(*values, *[1] * (3 - rank))
    how = Convolution(*kinds, rank, batch, groups, input_channels, output_channels,
                      three(inputs), three(windows), three(outputs), three(strides),
                      three(dilations), (ctypes.c_int64 * 5)(*pad(source.strides, 5)),
                      (ctypes.c_int64 * 6)(*pad(filters.strides, 6)),
                      (ctypes.c_int64 * 5)(*pad(output.strides, 5)))
    split = lambda tensor, channels: tensor.values().reshape(
        [batch, groups, channels] + tensor.sizes[2:])
    expected = convolve(split(source, input_channels), filters.values(),
                        split(output, output_channels), strides, dilations).reshape(output.sizes)
    result = check(library, "Convolution", how, [source, filters], output, expected)
    if result is not False and not are_known:
        return f"a convolution of {kinds} is computed"
    if result is False and isinstance(library, Processor):
        result = "not computed"
    return describe("rematConvolution", result, kinds, batch, groups, input_channels, output_channels,
                    inputs, windows, outputs, strides, dilations, source.strides, filters.strides,
                    output.strides)


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
            workspace = np.zeros(library.library.rematMatmulWorkspace(ctypes.byref(how)) + 64, np.uint8)
            one = np.ones(1, np.float32)
            result = np.zeros(count, STORAGE[target])
            library.library.rematMatmul(ctypes.byref(how), data.ctypes.data, one.ctypes.data,
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


def check_precision(library):
    """f32 is not rounded before it is multiplied, unless the type says that it may be."""
    rng = np.random.default_rng(1)
    size = 64
    a, b = (rng.uniform(-2, 2, (size, size)).astype(np.float32) for _ in range(2))
    ones, matrix = (ctypes.c_int64 * 4)(1, 1, 1, 1), (ctypes.c_int64 * 6)(0, 0, 0, 0, size, 1)
    exact = a.astype(np.float64) @ b
    five = lambda *values: (ctypes.c_int64 * 5)(*values, 1)
    three = lambda *values: (ctypes.c_int64 * 3)(*values, 1)
    errors = {}
    for kind in (F32, TF32):
        product = Matmul(kind, kind, F32, ones, size, size, size, matrix, matrix, matrix)
        # The same as a convolution: rows of `a` are a batch, columns of `b` are filters.
        convolution = Convolution(kind, kind, F32, 2, size, 1, size, size, three(1, 1), three(1, 1),
                                  three(1, 1), three(1, 1), three(1, 1), five(size, 1, 1, 1),
                                  (ctypes.c_int64 * 6)(0, 1, size, 1, 1, 1), five(size, 1, 1, 1))
        for name, how in (("Matmul", product), ("Convolution", convolution)):
            workspace_bytes = library.get_workspace(name, how)
            buffers = [a.ravel(), b.ravel(), np.zeros(size * size, np.float32)]
            library.call(name, how, buffers, [0] * 3, np.zeros(workspace_bytes + 256, np.uint8), 0,
                         workspace_bytes)
            errors[name, kind] = np.abs(buffers[2].reshape(size, size) - exact).max()
            if not errors[name, kind] < (1e-4 if kind == F32 else 0.1):
                return f"{name} of type {kind} differs by {errors[name, kind]}"
    for name in ("Matmul", "Convolution"):
        print(f"{name}: TF32 is {'less' if errors[name, TF32] > 2e-4 else 'as'} exact")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--too-little", action="store_true")
    parser.add_argument("--device", action="store_true")
    arguments = parser.parse_args()
    library = (Device if arguments.device else Processor)(arguments.library)
    if arguments.too_little:
        one = (ctypes.c_int64 * 4)(1, 1, 1, 1)
        strides = (ctypes.c_int64 * 6)(0, 0, 0, 0, 1, 1)
        how = Matmul(BF16, BF16, F32, one, 1, 1, 1, strides, strides, strides)
        data = [np.zeros(64, np.uint8).ctypes.data for _ in range(4)]
        library.library.rematMatmul(ctypes.byref(how), *data, 64)
    rng = random.Random(arguments.seed)
    faults = [check_precision(library) if arguments.device else check_rounding(library)]
    for kind in (check_matmul, check_convolution):
        results = [kind(library, rng) for _ in range(arguments.cases)]
        share = sum(result is not False for result in results) / arguments.cases
        if share < 0.5 and arguments.cases >= 20:
            results.append(f"{kind.__name__}: only {share:.0%} are computed")
        faults += results
    faults = [fault for fault in faults if fault]
    print(*faults[:20], sep="\n")
    if arguments.device:
        library.print_calls()
    print(f"seed {arguments.seed}: {2 * arguments.cases} cases, {len(faults)} wrong")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
