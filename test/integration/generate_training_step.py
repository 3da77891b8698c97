#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one training step of a GPT-like transformer as an MLIR function.

Forward pass, backward pass and optimizer update in one function `@step`, of any size, in one of two
dialects: `linalg` (linalg, tensor, arith and math on tensors, which can be executed) or `stablehlo`
(operations in generic form). Needs nothing but Python. The gradients are derived by hand, below, each
next to its forward computation.

  generate_training_step.py --layers 12 --width 768 --heads 12 --batch 8 --sequence 1024 > step.mlir

The model: token embedding (one-hot times table, the table is shared with the output) plus position
embedding; in every layer layer normalization, causal attention, layer normalization and a
perceptron with GELU, both with residual connections; layer normalization; cross entropy.

Arguments of @step: all parameters, the state of the optimizer (adamw: first moments, second moments
and the number of steps; sgd: none), tokens, targets. Results: the new parameters, the new state, the
loss. Every operation has a location that says what it computes, e.g. "layer3.attention".

With --check-gradients (linalg and sgd only), a function `@main` is added that prints a 1 for every
parameter if a step against its gradient alone changes the loss by what the gradient promises, to
four digits, and a 0 if not. That takes f64 and a rate of 1e-7.
"""

import argparse
import math
import sys
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    element: str

    @property
    def type(self):
        return tensor(self.shape, self.element)


def tensor(shape, element):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def is_float(element):
    return element[0] in "fb"


# --- Dialects -----------------------------------------------------------------------------------

class Writer:
    """Collects operations as text. Subclasses know how a dialect spells them; shapes are checked
    here and there only as far as the text needs them, MLIR's verifier does the rest."""

    NEGATIVE_INFINITY = {"f64": "0xFFF0000000000000", "f32": "0xFF800000", "bf16": "0xFF80",
                         "f16": "0xFC00"}

    def __init__(self, indent="  "):
        self.lines, self.next_name, self.place, self.indent = [], 0, "", indent
        self.constants = {}

    @contextmanager
    def at(self, place):
        """Gives operations a location, inside of the outer one if there is any."""
        outer = self.place
        self.place = ".".join(filter(None, [outer, place]))
        yield
        self.place = outer

    def comment(self, text):
        self.lines.append(f"{self.indent}// {text}")

    def op(self, text, shape, element):
        """Adds `text`, an operation with one result of this type."""
        result = Value(f"%{self.next_name}", tuple(shape), element)
        self.next_name += 1
        self.line(f"{result.name} = {text}")
        return result

    def line(self, text):
        location = f' loc("{self.place}")' if self.place else ""
        self.lines.append(self.indent + text + location)

    def literal(self, number, element):
        if number == -math.inf:
            return self.NEGATIVE_INFINITY[element]
        if not is_float(element):
            return str(number)
        mantissa, exponent, power = repr(float(number)).partition("e")
        return mantissa + (".0" if "." not in mantissa else "") + exponent + power

    def constant(self, number, shape, element):
        key = number, tuple(shape), element
        if key not in self.constants:
            self.constants[key] = self.new_constant(
                f"dense<{self.literal(number, element)}> : {tensor(shape, element)}", shape, element)
        return self.constants[key]

    # Shorthands that all dialects share.

    def add(self, x, y): return self.binary("add", x, y)
    def subtract(self, x, y): return self.binary("subtract", x, y)
    def multiply(self, x, y): return self.binary("multiply", x, y)
    def divide(self, x, y): return self.binary("divide", x, y)

    def scale(self, x, number):
        return self.multiply(x, self.constant(number, x.shape, x.element))

    def offset(self, x, number):
        return self.add(x, self.constant(number, x.shape, x.element))

    def sum(self, x, *dimensions):
        return self.reduce("add", x, dimensions)

    def rows(self, x, like):
        """A vector with an element per row of `like`, for each of its columns."""
        return self.broadcast(x, like.shape, range(len(like.shape) - 1))

    def columns(self, x, like):
        """A vector with an element per column of `like`, for each of its rows."""
        return self.broadcast(x, like.shape, [len(like.shape) - 1])


class LinalgWriter(Writer):
    UNARY = {"negate": "arith.negf", "exponential": "math.exp", "log": "math.log",
             "tanh": "math.tanh", "sqrt": "math.sqrt", "rsqrt": "math.rsqrt"}
    BINARY = {"add": "arith.addf", "subtract": "arith.subf", "multiply": "arith.mulf",
              "divide": "arith.divf", "power": "math.powf"}
    REDUCE = {"add": ("arith.addf", 0), "maximum": ("arith.maximumf", -math.inf)}

    def new_constant(self, value, shape, element):
        return self.op(f"arith.constant {value}", shape, element)

    def scalar(self, number, element):
        key = number, element
        if key not in self.constants:
            value = Value(f"%{self.next_name}", (), element)
            self.next_name += 1
            self.line(f"{value.name} = arith.constant {self.literal(number, element)} : {element}")
            self.constants[key] = value
        return self.constants[key].name

    def unary(self, name, x):
        return self.op(f"{self.UNARY[name]} {x.name} : {x.type}", x.shape, x.element)

    def binary(self, name, x, y):
        return self.op(f"{self.BINARY[name]} {x.name}, {y.name} : {x.type}", x.shape, x.element)

    def empty(self, shape, element):
        return self.op(f"tensor.empty() : {tensor(shape, element)}", shape, element)

    def filled(self, number, shape, element):
        scalar = self.scalar(number, element)
        init = self.empty(shape, element)
        return self.op(f"linalg.fill ins({scalar} : {element}) outs({init.name} : {init.type}) "
                       f"-> {init.type}", shape, element)

    def broadcast(self, x, shape, dimensions):
        init = self.empty(shape, x.element)
        added = [d for d in range(len(shape)) if d not in dimensions]
        return self.op(f"linalg.broadcast ins({x.name} : {x.type}) outs({init.name} : {init.type}) "
                       f"dimensions = {added}", shape, x.element)

    def reduce(self, name, x, dimensions):
        combiner, start = self.REDUCE[name]
        init = self.filled(start, [size for d, size in enumerate(x.shape) if d not in dimensions],
                           x.element)
        return self.op(f"linalg.reduce {{ {combiner} }} ins({x.name} : {x.type}) "
                       f"outs({init.name} : {init.type}) dimensions = {list(dimensions)}",
                       init.shape, x.element)

    def transpose(self, x, permutation):
        init = self.empty([x.shape[d] for d in permutation], x.element)
        return self.op(f"linalg.transpose ins({x.name} : {x.type}) outs({init.name} : {init.type}) "
                       f"permutation = {list(permutation)}", init.shape, x.element)

    def split(self, x, dimension, sizes):
        """One dimension becomes several."""
        shape = x.shape[:dimension] + tuple(sizes) + x.shape[dimension + 1:]
        groups = self.groups(len(x.shape), dimension, len(sizes))
        return self.op(f"tensor.expand_shape {x.name} {groups} output_shape {list(shape)} "
                       f": {x.type} into {tensor(shape, x.element)}", shape, x.element)

    def merge(self, x, dimension, count):
        """`count` dimensions become one."""
        size = math.prod(x.shape[dimension:dimension + count])
        shape = x.shape[:dimension] + (size,) + x.shape[dimension + count:]
        groups = self.groups(len(shape), dimension, count)
        return self.op(f"tensor.collapse_shape {x.name} {groups} "
                       f": {x.type} into {tensor(shape, x.element)}", shape, x.element)

    @staticmethod
    def groups(rank, dimension, count):
        return [[d] if d < dimension else
                list(range(d, d + count)) if d == dimension else [d + count - 1]
                for d in range(rank)]

    def dot(self, x, y, contract=(1, 0), batch=False):
        """Matrix product over one dimension of each; `batch`: of every matrix in the first
        dimension, with dimensions counted behind it."""
        b = int(batch)
        m, n = x.shape[1 - contract[0] + b], y.shape[1 - contract[1] + b]
        init = self.filled(0, x.shape[:b] + (m, n), x.element)
        maps = ""
        if tuple(contract) != (1, 0):
            lead, domain = ["b"] * b, ", ".join(["b"] * b + ["m", "n", "k"])
            left = ["m", "k"] if contract[0] == 1 else ["k", "m"]
            right = ["k", "n"] if contract[1] == 0 else ["n", "k"]
            maps = "indexing_maps = [" + ", ".join(
                f"affine_map<({domain}) -> ({', '.join(lead + names)})>"
                for names in (left, right, ["m", "n"])) + "] "
        name = "linalg.batch_matmul" if batch else "linalg.matmul"
        return self.op(f"{name} {maps}ins({x.name}, {y.name} : {x.type}, {y.type}) "
                       f"outs({init.name} : {init.type}) -> {init.type}", init.shape, x.element)

    def generic(self, inputs, shape, element, maps, body):
        """An operation without reduction; `body` names its arguments %x0, %x1, ... and yields %r."""
        init = self.empty(shape, element)
        dims = [f"d{d}" for d in range(len(shape))]
        text = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(dims[d] for d in map_)})>"
                         for map_ in [*maps, range(len(shape))])
        kinds = ", ".join(['"parallel"'] * len(shape))
        ins = (f"ins({', '.join(x.name for x in inputs)} : {', '.join(x.type for x in inputs)}) "
               if inputs else "")
        arguments = ", ".join([f"%x{i}: {x.element}" for i, x in enumerate(inputs)]
                              + [f"%out: {element}"])
        body = "".join(f"{self.indent}    {line}\n" for line in [*body, f"linalg.yield %r : {element}"])
        return self.op(f"linalg.generic {{indexing_maps = [{text}], iterator_types = [{kinds}]}} "
                       f"{ins}outs({init.name} : {init.type}) {{\n{self.indent}  ^bb0({arguments}):\n"
                       f"{body}{self.indent}}} -> {init.type}", shape, element)

    def one_hot(self, labels, size, element):
        return self.generic([labels], labels.shape + (size,), element, [[0]], [
            "%i = linalg.index 1 : index",
            "%label = arith.index_cast %i : index to i32",
            "%same = arith.cmpi eq, %x0, %label : i32",
            f"%r = arith.uitofp %same : i1 to {element}"])

    def hide_future(self, x, number):
        """Elements of each matrix right of the diagonal become `number`."""
        hidden = self.literal(number, x.element)
        return self.generic([x], x.shape, x.element, [range(3)], [
            "%row = linalg.index 1 : index", "%column = linalg.index 2 : index",
            "%past = arith.cmpi uge, %row, %column : index",
            f"%hidden = arith.constant {hidden} : {x.element}",
            f"%r = arith.select %past, %x0, %hidden : {x.element}"])


class StableHLOWriter(Writer):
    REDUCE = {"add": 0, "maximum": -math.inf}

    def generic(self, name, operands, shape, element, attributes="", region=""):
        types = ", ".join(x.type for x in operands)
        return self.op(f'"stablehlo.{name}"({", ".join(x.name for x in operands)})'
                       + (f" <{{{attributes}}}>" if attributes else "") + region
                       + f" : ({types}) -> {tensor(shape, element)}", shape, element)

    def new_constant(self, value, shape, element):
        return self.generic("constant", [], shape, element, f"value = {value}")

    def unary(self, name, x):
        return self.generic(name, [x], x.shape, x.element)

    def binary(self, name, x, y):
        return self.generic(name, [x, y], x.shape, x.element)

    def broadcast(self, x, shape, dimensions):
        return self.generic("broadcast_in_dim", [x], shape, x.element,
                            f"broadcast_dimensions = {self.array(dimensions)}")

    @staticmethod
    def array(numbers):
        numbers = list(numbers)
        return "array<i64" + (": " + ", ".join(map(str, numbers)) if numbers else "") + ">"

    def reduce(self, name, x, dimensions):
        start = self.constant(self.REDUCE[name], (), x.element)
        scalar = start.type
        region = (f" ({{\n{self.indent}  ^bb0(%x: {scalar}, %y: {scalar}):\n"
                  f'{self.indent}    %r = "stablehlo.{name}"(%x, %y) : ({scalar}, {scalar}) -> {scalar}\n'
                  f'{self.indent}    "stablehlo.return"(%r) : ({scalar}) -> ()\n{self.indent}}})')
        shape = [size for d, size in enumerate(x.shape) if d not in dimensions]
        return self.generic("reduce", [x, start], shape, x.element,
                            f"dimensions = {self.array(dimensions)}", region)

    def transpose(self, x, permutation):
        return self.generic("transpose", [x], [x.shape[d] for d in permutation], x.element,
                            f"permutation = {self.array(permutation)}")

    def split(self, x, dimension, sizes):
        shape = x.shape[:dimension] + tuple(sizes) + x.shape[dimension + 1:]
        return self.generic("reshape", [x], shape, x.element)

    def merge(self, x, dimension, count):
        size = math.prod(x.shape[dimension:dimension + count])
        shape = x.shape[:dimension] + (size,) + x.shape[dimension + count:]
        return self.generic("reshape", [x], shape, x.element)

    def dot(self, x, y, contract=(1, 0), batch=False):
        b = int(batch)
        m, n = x.shape[1 - contract[0] + b], y.shape[1 - contract[1] + b]
        batching = "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], " if batch else ""
        return self.generic(
            "dot_general", [x, y], x.shape[:b] + (m, n), x.element,
            f"dot_dimension_numbers = #stablehlo.dot<{batching}"
            f"lhs_contracting_dimensions = [{contract[0] + b}], "
            f"rhs_contracting_dimensions = [{contract[1] + b}]>")

    def iota(self, shape, dimension):
        return self.generic("iota", [], shape, "i32", f"iota_dimension = {dimension} : i64")

    def compare(self, x, y, direction):
        return self.generic("compare", [x, y], x.shape, "i1",
                            f"comparison_direction = #stablehlo<comparison_direction {direction}>")

    def one_hot(self, labels, size, element):
        shape = labels.shape + (size,)
        same = self.compare(self.broadcast(labels, shape, [0]), self.iota(shape, 1), "EQ")
        return self.generic("convert", [same], shape, element)

    def hide_future(self, x, number):
        matrix = x.shape[1:]
        past = self.compare(self.iota(matrix, 0), self.iota(matrix, 1), "GE")
        past = self.broadcast(past, x.shape, [1, 2])
        return self.generic("select", [past, x, self.constant(number, x.shape, x.element)],
                            x.shape, x.element)


# --- The model ----------------------------------------------------------------------------------

def parameter_shapes(o):
    """Names and shapes of all parameters, in the order of the arguments."""
    shapes = {"tokens": (o.vocabulary, o.width), "positions": (o.sequence, o.width)}
    for layer in range(o.layers):
        prefix = f"layer{layer}."
        for norm in "norm1", "norm2":
            shapes[prefix + norm + ".scale"] = shapes[prefix + norm + ".bias"] = (o.width,)
        for weight in "query", "key", "value", "output":
            shapes[prefix + weight] = (o.width, o.width)
        shapes |= {prefix + "up.weight": (o.width, 4 * o.width), prefix + "up.bias": (4 * o.width,),
                   prefix + "down.weight": (4 * o.width, o.width), prefix + "down.bias": (o.width,)}
    shapes["norm.scale"] = shapes["norm.bias"] = (o.width,)
    return shapes


class Step:
    """Writes forward pass, backward pass and update. Matrices of activations have a row per token;
    a method for a part of the model returns its output and a function from the gradient of the
    output to the gradient of the input that also stores those of the parameters."""

    def __init__(self, writer, options, parameters):
        self.w, self.o, self.parameters = writer, options, parameters
        self.gradients = {}

    def normalize(self, name, x):
        """xhat = (x - mean(x)) / sqrt(variance(x) + eps), y = xhat * scale + bias, by rows."""
        w, size, place = self.w, x.shape[1], name.rpartition(".")[2]
        scale, bias = self.parameters[name + ".scale"], self.parameters[name + ".bias"]
        with w.at(place):
            centered = w.subtract(x, w.rows(w.scale(w.sum(x, 1), 1 / size), x))
            variance = w.scale(w.sum(w.multiply(centered, centered), 1), 1 / size)
            inverse = w.unary("rsqrt", w.offset(variance, 1e-5))
            xhat = w.multiply(centered, w.rows(inverse, x))
            y = w.add(w.multiply(xhat, w.columns(scale, x)), w.columns(bias, x))

        def backward(dy):
            # dx = inverse * (dxhat - mean(dxhat) - xhat * mean(dxhat * xhat)), dxhat = dy * scale
            with w.at(place + ".backward"):
                self.gradients[name + ".scale"] = w.sum(w.multiply(dy, xhat), 0)
                self.gradients[name + ".bias"] = w.sum(dy, 0)
                dxhat = w.multiply(dy, w.columns(scale, x))
                mean = w.scale(w.sum(dxhat, 1), 1 / size)
                slope = w.scale(w.sum(w.multiply(dxhat, xhat), 1), 1 / size)
                dx = w.subtract(dxhat, w.rows(mean, x))
                dx = w.subtract(dx, w.multiply(xhat, w.rows(slope, x)))
                return w.multiply(dx, w.rows(inverse, x))

        return y, backward

    def linear(self, weight, x):
        """y = x weight; dx = dy weight^T, dweight = x^T dy."""
        y = self.w.dot(x, self.parameters[weight])

        def backward(dy):
            self.gradients[weight] = self.w.dot(x, dy, contract=(0, 0))
            return self.w.dot(dy, self.parameters[weight], contract=(1, 1))

        return y, backward

    def softmax(self, x):
        """exp(x - max(x)) / sum, over the last dimension; also the row sums and x - max(x)."""
        w, last = self.w, len(x.shape) - 1
        shifted = w.subtract(x, w.rows(w.reduce("maximum", x, [last]), x))
        exponential = w.unary("exponential", shifted)
        total = w.sum(exponential, last)
        return w.divide(exponential, w.rows(total, x)), total, shifted

    def heads(self, x):
        """tokens x width -> (batch * heads) x sequence x (width / heads)"""
        w, o = self.w, self.o
        x = w.split(w.split(x, 1, (o.heads, o.width // o.heads)), 0, (o.batch, o.sequence))
        return w.merge(w.transpose(x, [0, 2, 1, 3]), 0, 2)

    def unheads(self, x):
        """The inverse of `heads`."""
        w, o = self.w, self.o
        x = w.transpose(w.split(x, 0, (o.batch, o.heads)), [0, 2, 1, 3])
        return w.merge(w.merge(x, 2, 2), 0, 2)

    def attention(self, layer, x):
        """P = softmax(Q K^T / sqrt(d), future hidden), y = P V output; all by heads."""
        w, factor = self.w, (self.o.width // self.o.heads) ** -0.5
        with w.at("attention"):
            q, q_backward = self.linear(layer + ".query", x)
            k, k_backward = self.linear(layer + ".key", x)
            v, v_backward = self.linear(layer + ".value", x)
            q, k, v = self.heads(q), self.heads(k), self.heads(v)
            scores = w.scale(w.dot(q, k, contract=(1, 1), batch=True), factor)
            p, _, _ = self.softmax(w.hide_future(scores, -1e9))
            y, backward_output = self.linear(layer + ".output",
                                             self.unheads(w.dot(p, v, batch=True)))

        def backward(dy):
            # dS = P * (dP - sum(dP * P)); where the future is hidden P is 0, and so is dS.
            with w.at("attention.backward"):
                dcontext = self.heads(backward_output(dy))
                dv = w.dot(p, dcontext, contract=(0, 0), batch=True)
                dp = w.dot(dcontext, v, contract=(1, 1), batch=True)
                slope = w.sum(w.multiply(dp, p), 2)
                ds = w.scale(w.multiply(p, w.subtract(dp, w.rows(slope, dp))), factor)
                dq = w.dot(ds, k, batch=True)
                dk = w.dot(ds, q, contract=(0, 0), batch=True)
                dx = w.add(q_backward(self.unheads(dq)), k_backward(self.unheads(dk)))
                return w.add(dx, v_backward(self.unheads(dv)))

        return y, backward

    def gelu(self, x):
        """y = x (1 + t) / 2, t = tanh(inner), inner = a (x + b x^3);
        dy/dx = (1 + t) / 2 + x (1 - t^2) / 2 * inner', inner' = a (1 + 3 b x^2)."""
        w, a, b = self.w, (2 / math.pi) ** 0.5, 0.044715
        square = w.multiply(x, x)
        inner = w.multiply(w.scale(x, a), w.offset(w.scale(square, b), 1))
        t = w.unary("tanh", inner)
        half = w.scale(w.offset(t, 1), 0.5)

        def backward(dy):
            slope = w.scale(w.offset(w.scale(square, 3 * b), 1), a / 2)
            flat = w.offset(w.unary("negate", w.multiply(t, t)), 1)
            return w.multiply(dy, w.add(half, w.multiply(w.multiply(x, flat), slope)))

        return w.multiply(x, half), backward

    def perceptron(self, layer, x):
        w = self.w
        with w.at("perceptron"):
            up, up_backward = self.linear(layer + ".up.weight", x)
            up = w.add(up, w.columns(self.parameters[layer + ".up.bias"], up))
            y, gelu_backward = self.gelu(up)
            y, down_backward = self.linear(layer + ".down.weight", y)
            y = w.add(y, w.columns(self.parameters[layer + ".down.bias"], y))

        def backward(dy):
            with w.at("perceptron.backward"):
                self.gradients[layer + ".down.bias"] = w.sum(dy, 0)
                dup = gelu_backward(down_backward(dy))
                self.gradients[layer + ".up.bias"] = w.sum(dup, 0)
                return up_backward(dup)

        return y, backward

    def residual(self, layer, norm, part, x):
        """y = x + part(norm(x))"""
        normalized, norm_backward = self.normalize(f"{layer}.{norm}", x)
        y, part_backward = part(layer, normalized)
        return (self.w.add(x, y),
                lambda dy: self.w.add(dy, norm_backward(part_backward(dy))))

    def run(self, tokens, targets):
        """The loss; the gradients of all parameters are in `gradients`."""
        w, o = self.w, self.o
        count, table = o.batch * o.sequence, self.parameters["tokens"]
        backwards = []
        w.comment("Forward.")
        with w.at("embedding"):
            hot = w.one_hot(w.merge(tokens, 0, 2), o.vocabulary, o.element)
            x = w.dot(hot, table)
            positions = w.broadcast(self.parameters["positions"],
                                    (o.batch, o.sequence, o.width), [1, 2])
            x = w.add(x, w.merge(positions, 0, 2))
        for layer in range(o.layers):
            with w.at(f"layer{layer}"):
                for norm, part in ("norm1", self.attention), ("norm2", self.perceptron):
                    x, backward = self.residual(f"layer{layer}", norm, part, x)
                    backwards.append((f"layer{layer}", backward))
        x, backward = self.normalize("norm", x)
        backwards.append((None, backward))
        with w.at("loss"):
            # -mean(log softmax(logits)[target]); dlogits = (softmax - target) / count
            logits = w.dot(x, table, contract=(1, 1))
            p, total, shifted = self.softmax(logits)
            hot_targets = w.one_hot(w.merge(targets, 0, 2), o.vocabulary, o.element)
            chosen = w.sum(w.multiply(hot_targets, shifted), 1)
            loss = w.scale(w.sum(w.subtract(w.unary("log", total), chosen), 0), 1 / count)

        w.comment("Backward.")
        with w.at("loss.backward"):
            dlogits = w.scale(w.subtract(p, hot_targets), 1 / count)
            dtable = w.dot(dlogits, x, contract=(0, 0))
            dx = w.dot(dlogits, table)
        for place, backward in reversed(backwards):
            with w.at(place):
                dx = backward(dx)
        with w.at("embedding.backward"):
            self.gradients["tokens"] = w.add(dtable, w.dot(hot, dx, contract=(0, 0)))
            self.gradients["positions"] = w.sum(w.split(dx, 0, (o.batch, o.sequence)), 0)
        return loss

    def update(self, moments1, moments2, steps):
        """New parameters, followed by the new state."""
        w, o = self.w, self.o
        w.comment("Update.")
        if o.optimizer == "sgd":
            with w.at("update"):
                return [w.subtract(x, w.scale(self.gradients[name], o.rate))
                        for name, x in self.parameters.items()]
        beta1, beta2 = 0.9, 0.999
        new = {}, {}, {}
        with w.at("update"):
            steps = w.offset(steps, 1)
            correction1, correction2 = (
                w.subtract(w.constant(1, (), o.element),
                           w.binary("power", w.constant(beta, (), o.element), steps))
                for beta in (beta1, beta2))
            for name, x in self.parameters.items():
                with w.at(name):
                    g = self.gradients[name]
                    m = w.add(w.scale(moments1[name], beta1), w.scale(g, 1 - beta1))
                    v = w.add(w.scale(moments2[name], beta2),
                              w.scale(w.multiply(g, g), 1 - beta2))
                    mhat = w.divide(m, w.broadcast(correction1, x.shape, []))
                    vhat = w.divide(v, w.broadcast(correction2, x.shape, []))
                    change = w.divide(mhat, w.offset(w.unary("sqrt", vhat), 1e-8))
                    change = w.scale(w.add(change, w.scale(x, o.decay)), o.rate)
                    new[0][name], new[1][name], new[2][name] = w.subtract(x, change), m, v
        return [x for part in new for x in part.values()] + [steps]


def argument_list(o):
    """Names and types of the arguments of @step."""
    arguments = dict(parameter_shapes(o))
    if o.optimizer == "adamw":
        for state in "moment1", "moment2":
            arguments |= {f"{state}.{name}": shape for name, shape in parameter_shapes(o).items()}
        arguments["steps"] = ()
    labels = (o.batch, o.sequence)
    return ([Value(f"%{name}", shape, o.element) for name, shape in arguments.items()]
            + [Value("%input_tokens", labels, "i32"), Value("%target_tokens", labels, "i32")])


def function(header, writer, results):
    writer.place = ""
    names, types = ", ".join(x.name for x in results), ", ".join(x.type for x in results)
    writer.line(f"return {names} : {types}")
    return [f"func.func {header} -> ({types}) {{", *writer.lines, "}"]


def step_function(o):
    writer = {"linalg": LinalgWriter, "stablehlo": StableHLOWriter}[o.dialect]()
    arguments = argument_list(o)
    names = list(parameter_shapes(o))
    parts = [dict(zip(names, arguments[i * len(names):])) for i in range(3)]
    step = Step(writer, o, parts[0])
    loss = step.run(*arguments[-2:])
    results = step.update(parts[1], parts[2], arguments[-3]) + [loss]
    header = "@step(" + ",\n                ".join(f"{x.name}: {x.type}" for x in arguments) + ")"
    return function(header, writer, results)


# --- Checking it --------------------------------------------------------------------------------

class GradientCheck:
    """Writes a function that calls @step on deterministic values."""

    def __init__(self, options):
        self.o, self.w = options, LinalgWriter()

    def start_value(self, number, argument):
        """From the sine of the element's number, or for tokens its remainder."""
        name, shape, element = argument.name[1:], argument.shape, argument.element
        start, size = (1.0, 0.1) if name.endswith(".scale") else (0.0, 0.3)
        index, body = "%zero", ["%zero = arith.constant 0 : index"]
        for d, extent in enumerate(shape):
            body += [f"%e{d} = arith.constant {extent} : index",
                     f"%m{d} = arith.muli {index}, %e{d} : index",
                     f"%i{d} = linalg.index {d} : index",
                     f"%n{d} = arith.addi %m{d}, %i{d} : index"]
            index = f"%n{d}"
        body.append(f"%i = arith.index_cast {index} : index to i32")
        if element == "i32":
            body += [f"%factor = arith.constant {7 + 4 * number % 11} : i32",
                     "%product = arith.muli %i, %factor : i32",
                     f"%size = arith.constant {self.o.vocabulary} : i32",
                     "%r = arith.remsi %product, %size : i32"]
        else:
            body += [f"%float = arith.sitofp %i : i32 to {element}",
                     f"%phase = arith.constant {number}.0 : {element}",
                     f"%angle = arith.addf %float, %phase : {element}",
                     f"%sine = math.sin %angle : {element}",
                     f"%size = arith.constant {size} : {element}",
                     f"%scaled = arith.mulf %sine, %size : {element}",
                     f"%start = arith.constant {start} : {element}",
                     f"%r = arith.addf %scaled, %start : {element}"]
        return self.w.generic([], shape, element, [], body)

    def call(self, arguments):
        """The new parameters and the loss."""
        w, shapes = self.w, [*parameter_shapes(self.o).values(), ()]
        base, types = f"%{w.next_name}", ", ".join(tensor(shape, self.o.element) for shape in shapes)
        w.next_name += 1
        w.line(f"{base}:{len(shapes)} = call @step({', '.join(x.name for x in arguments)}) : "
               f"({', '.join(x.type for x in arguments)}) -> ({types})")
        return [Value(f"{base}#{i}", shape, self.o.element) for i, shape in enumerate(shapes)]

    def function(self):
        """With x' = x - rate * g for one parameter: loss(x) - loss(x') is about |x - x'|^2 / rate."""
        w, o = self.w, self.o
        arguments = [self.start_value(*item) for item in enumerate(argument_list(o))]
        *parameters, loss = self.call(arguments)
        for i, parameter in enumerate(parameters):
            *_, new_loss = self.call(arguments[:i] + [parameter] + arguments[i + 1:])
            change = w.subtract(arguments[i], parameter)
            promised = w.scale(w.sum(w.multiply(change, change), *range(len(change.shape))), 1 / o.rate)
            error = w.offset(w.divide(w.subtract(loss, new_loss), promised), -1)
            error = w.op(f"math.absf {error.name} : {error.type}", (), o.element)
            bound = w.constant(1e-4, (), o.element)
            good = w.op(f"arith.cmpf olt, {error.name}, {bound.name} : {error.type}", (), "i1")
            good = w.op(f"tensor.extract {good.name}[] : {good.type}", (), "i1")
            w.line(f"vector.print {good.name} : i1")
        return ["func.func @main() {", *w.lines, "  return", "}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dialect", choices=["linalg", "stablehlo"], default="linalg")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=32)
    parser.add_argument("--vocabulary", type=int, default=128)
    parser.add_argument("--element", choices=["f64", "f32", "bf16", "f16"], default="f32")
    parser.add_argument("--optimizer", choices=["adamw", "sgd"], default="adamw")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--decay", type=float, default=0.01, help="weight decay of adamw")
    parser.add_argument("--check-gradients", action="store_true")
    options = parser.parse_args()
    for name in "layers", "width", "heads", "batch", "sequence", "vocabulary":
        if getattr(options, name) < 1:
            parser.error(f"expected --{name} to be at least 1")
    if options.width % options.heads:
        parser.error("expected --width to be a multiple of --heads")
    if options.check_gradients and (options.dialect, options.optimizer) != ("linalg", "sgd"):
        parser.error("--check-gradients needs --dialect=linalg and --optimizer=sgd")
    check = GradientCheck(options).function() if options.check_gradients else []
    print("\n".join(["module {", *step_function(options), *check, "}"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
