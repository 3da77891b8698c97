# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses and optimizers of the zoo against slow and obvious twins in NumPy.

RUN: %pytest %s
"""

import math
import os

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")

import numpy as np  # noqa: E402

from remat import examples  # noqa: E402
from remat.examples import (accumulation, common, convolution, dropout, gpt2, lstm,  # noqa: E402
                            mixture_of_experts, perceptron, resnet50, transformer, unet, vit, yolo)
from remat.examples.optimizers import SGD, AdamW, Clipped  # noqa: E402
from remat.examples.source import Source  # noqa: E402


def draw(*shape, seed=0):
    """Normal f32 values."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(actual, expected, tolerance=2e-5):
    """Equal up to rounding of f32."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_adamw():
    optimizer = AdamW(0.1, weight_decay=0.5, beta1=0.8, beta2=0.9, epsilon=1e-3)
    params = {"matrix": draw(3, 4), "bias": draw(4)}
    state = optimizer.init(params)
    expected = {name: value.astype(np.float64) for name, value in params.items()}
    mean = {name: 0.0 for name in params}
    square = {name: 0.0 for name in params}
    for count in range(1, 4):
        grads = {"matrix": draw(3, 4, seed=count), "bias": draw(4, seed=10 + count)}
        params, state = optimizer.update(params, grads, state)
        for name, g in grads.items():
            mean[name] = 0.8 * mean[name] + 0.2 * g
            square[name] = 0.9 * square[name] + 0.1 * g ** 2
            step = mean[name] / (1 - 0.8 ** count)
            step = step / (np.sqrt(square[name] / (1 - 0.9 ** count)) + 1e-3)
            decay = 0.5 if name == "matrix" else 0.0
            expected[name] = expected[name] - 0.1 * (step + decay * expected[name])
            assert_close(params[name], expected[name])
    assert int(state["count"]) == 3


def test_sgd():
    optimizer = SGD(0.1, momentum=0.8, weight_decay=0.5)
    params = {"matrix": draw(3, 4), "bias": draw(4)}
    state = optimizer.init(params)
    expected, velocity = dict(params), {"matrix": 0.0, "bias": 0.0}
    for count in range(1, 4):
        grads = {"matrix": draw(3, 4, seed=count), "bias": draw(4, seed=10 + count)}
        params, state = optimizer.update(params, grads, state)
        for name, g in grads.items():
            decay = 0.5 if name == "matrix" else 0.0
            velocity[name] = 0.8 * velocity[name] + g + decay * expected[name]
            expected[name] = expected[name] - 0.1 * velocity[name]
            assert_close(params[name], expected[name])


@pytest.mark.parametrize("limit, scale", [(2.5, 0.5), (5.0, 1.0), (50.0, 1.0)])
def test_clipped(limit, scale):
    """The gradients have the norm 5 together."""
    params = {"a": np.zeros(1, np.float32), "b": np.zeros(1, np.float32)}
    grads = {"a": np.array([3], np.float32), "b": np.array([4], np.float32)}
    optimizer = Clipped(SGD(1.0, momentum=0.0), limit)
    params, _ = optimizer.update(params, grads, optimizer.init(params))
    assert_close(params["a"], [-3 * scale])
    assert_close(params["b"], [-4 * scale])


def test_accumulation_is_the_full_batch():
    config = accumulation.TINY
    params = perceptron.init(Source(0), config)
    batch = perceptron.draw_batch(Source(1), config)

    def loss(params, batch):
        return perceptron.loss(params, batch, config)

    value, grads = jax.value_and_grad(loss)(params, batch)
    parts, part_grads = accumulation.value_and_grad(loss, 4)(params, batch)
    assert_close(parts, value)
    jax.tree.map(assert_close, part_grads, grads)


def test_perceptron_loss():
    config = perceptron.TINY
    params = jax.tree.map(np.asarray, perceptron.init(Source(0), config))
    batch = jax.tree.map(np.asarray, perceptron.draw_batch(Source(1), config))
    hidden = np.maximum(batch["inputs"] @ params["up"]["kernel"] + params["up"]["bias"], 0)
    outputs = hidden @ params["down"]["kernel"] + params["down"]["bias"]
    assert_close(perceptron.loss(params, batch, config), ((outputs - batch["targets"]) ** 2).mean())


def test_cross_entropy():
    logits, targets = draw(3, 5, 7), np.arange(15).reshape(3, 5) % 7
    expected = np.mean([-math.log(softmax(logits)[i, j, targets[i, j]])
                        for i in range(3) for j in range(5)])
    assert_close(common.cross_entropy(logits, targets), expected)


def test_layer_norm():
    params = {"scale": draw(8, seed=1), "bias": draw(8, seed=2)}
    x = 3 * draw(2, 5, 8) + 1
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    assert_close(common.layer_norm(params, x), expected * params["scale"] + params["bias"])


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    batch, length, heads, size = 2, 5, 3, 4
    width = heads * size
    qkv = draw(batch, length, 3 * width)
    expected = np.zeros((batch, length, width), np.float32)
    for b in range(batch):
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            q, k, v = (qkv[b, :, start:start + width][:, part]
                       for start in (0, width, 2 * width))
            for i in range(length):
                seen = i + 1 if causal else length
                weights = softmax(q[i] @ k[:seen].T / math.sqrt(size))
                expected[b, i, part] = weights @ v[:seen]
    assert_close(transformer.attend(qkv, heads, causal=causal), expected)


def test_gpt2_does_not_see_the_future():
    params = gpt2.init(Source(0), gpt2.TINY)
    tokens = np.array(gpt2.draw_batch(Source(1), gpt2.TINY))[:, :-1]
    before = gpt2.logits(params, tokens, gpt2.TINY)
    tokens[:, 20] = (tokens[:, 20] + 1) % 250
    after = gpt2.logits(params, tokens, gpt2.TINY)
    assert_close(after[:, :20], before[:, :20])
    assert (abs(after - before)[:, 20:].max((0, 2)) > 1e-6).all()


def test_patches():
    images = draw(2, 6, 9, 3)
    patches = vit.to_patches(images, 3)
    assert patches.shape == (2, 6, 27)
    for row in range(2):
        for column in range(3):
            tile = images[:, 3 * row:3 * row + 3, 3 * column:3 * column + 3]
            np.testing.assert_array_equal(patches[:, 3 * row + column], tile.reshape(2, -1))


@pytest.mark.parametrize("size, stride, padding", [(3, 2, 1), (2, 2, 0), (5, 1, 2)])
def test_max_pool(size, stride, padding):
    x = draw(2, 8, 8, 3)
    wide = np.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)),
                  constant_values=-np.inf)
    cells = (8 + 2 * padding - size) // stride + 1
    expected = np.zeros((2, cells, cells, 3), np.float32)
    for i in range(cells):
        for j in range(cells):
            window = wide[:, i * stride:i * stride + size, j * stride:j * stride + size]
            expected[:, i, j] = window.max((1, 2))
    np.testing.assert_array_equal(convolution.max_pool(x, size, stride, padding), expected)


@pytest.mark.parametrize("size, stride", [(3, 1), (3, 2), (7, 2), (6, 2), (1, 1)])
def test_convolution(size, stride):
    kernel, x = draw(size, size, 3, 4, seed=1), draw(2, 8, 8, 3)
    edge = (size - 1) // 2
    wide = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    cells = (8 + 2 * edge - size) // stride + 1
    expected = np.zeros((2, cells, cells, 4), np.float32)
    for i in range(cells):
        for j in range(cells):
            window = wide[:, i * stride:i * stride + size, j * stride:j * stride + size]
            expected[:, i, j] = np.tensordot(window, kernel, 3)
    assert_close(convolution.conv(kernel, x, stride), expected, 1e-4)


def test_batch_norm_normalises_and_moves_the_statistics():
    params = {"scale": draw(3, seed=1), "bias": draw(3, seed=2)}
    statistics = {"mean": draw(3, seed=3), "variance": abs(draw(3, seed=4))}
    x = 3 * draw(4, 5, 6, 3) + 1
    y, moved = convolution.batch_norm(params, statistics, x)
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    assert_close(y, (x - mean) / np.sqrt(variance + 1e-5) * params["scale"] + params["bias"])
    assert_close(moved["mean"], 0.9 * statistics["mean"] + 0.1 * mean)
    assert_close(moved["variance"], 0.9 * statistics["variance"] + 0.1 * variance)


def test_statistics_of_resnet_are_those_of_the_model():
    """What a step returns has the structure of the initial ones, and comes from the batch."""
    config = resnet50.TINY
    params = resnet50.init(Source(0), config)
    statistics = convolution.init_statistics(params)
    images = draw(2, 32, 32, 3)
    moved = jax.eval_shape(
        lambda: resnet50.logits(params, statistics, images, config)[1])
    assert jax.tree.structure(moved) == jax.tree.structure(statistics)
    stem = np.asarray(convolution.conv(params["stem"]["kernel"], images, 2))
    _, after = convolution.unit(params["stem"], statistics["stem"], images, stride=2)
    assert_close(after["norm"]["mean"], 0.1 * stem.mean((0, 1, 2)))


def test_group_norm():
    params = {"scale": draw(6, seed=1), "bias": draw(6, seed=2)}
    x = 3 * draw(2, 4, 5, 6) + 1
    expected = np.zeros_like(x)
    for image in range(2):
        for group in range(3):
            part = x[image, :, :, 2 * group:2 * group + 2]
            expected[image, :, :, 2 * group:2 * group + 2] = (
                (part - part.mean()) / np.sqrt(part.var() + 1e-5))
    assert_close(unet.group_norm(params, x, groups=3), expected * params["scale"] + params["bias"])


def test_lstm():
    config = lstm.TINY
    params = jax.tree.map(np.asarray, lstm.init(Source(0), config))
    tokens = np.asarray(examples.get("lstm").make_batch(1))
    x = params["tokens"][tokens]
    for layer in params["layers"]:
        hidden = content = np.zeros((config.batch, config.width), np.float32)
        outputs = []
        for time in range(tokens.shape[1]):
            gates = x[:, time] @ layer["input"] + hidden @ layer["hidden"] + layer["bias"]
            enter, forget, candidate, leave = np.split(gates, 4, axis=1)
            content = sigmoid(forget) * content + sigmoid(enter) * np.tanh(candidate)
            hidden = sigmoid(leave) * np.tanh(content)
            outputs.append(hidden)
        x = np.stack(outputs, axis=1)
    expected = x @ params["head"]["kernel"] + params["head"]["bias"]
    assert_close(lstm.logits(params, tokens).swapaxes(0, 1), expected, 1e-4)


def test_dropout_keeps_the_mean():
    x = np.ones(100_000, np.float32)
    y = np.asarray(dropout.drop(jax.random.key(0), x, 0.25))
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.75)}
    assert abs(y.mean() - 1) < 0.01


def routed(scores, choices, capacity):
    """Weights of routing, token by token; also how many wishes found no place."""
    batch, length, experts = scores.shape
    weights, dropped = np.zeros((batch, length, experts, capacity), np.float32), 0
    for row in range(batch):
        taken = [0] * experts
        for choice in range(choices):
            for token in range(length):
                probabilities = softmax(scores[row, token])
                order = np.argsort(-probabilities, kind="stable")[:choices]
                expert = order[choice]
                if taken[expert] == capacity:
                    dropped += 1
                    continue
                gate = probabilities[expert] / probabilities[order].sum()
                weights[row, token, expert, taken[expert]] = gate
                taken[expert] += 1
    return weights, dropped


@pytest.mark.parametrize("choices", [1, 2, 3])
@pytest.mark.parametrize("capacity", [1, 3, 12])
def test_routing(choices, capacity):
    scores = draw(3, 12, 5)
    weights, _ = mixture_of_experts.route(scores, choices, capacity)
    expected, dropped = routed(scores, choices, capacity)
    assert_close(weights, expected)
    assert (dropped > 0) == (capacity < 12)


def test_mixture():
    config = mixture_of_experts.TINY
    params = mixture_of_experts.init_layer(Source(0), config)["mixture"]
    params = {**jax.tree.map(np.asarray, params), "router": draw(32, 4, seed=1)}
    x = draw(2, 16, 32, seed=2)
    normal = np.asarray(common.layer_norm(params["norm"], x))
    weights, dropped = routed(normal @ params["router"], config.choices, config.capacity)
    assert dropped > 0
    expected = np.zeros_like(x)
    for row, token, expert, place in zip(*np.nonzero(weights)):
        hidden = jax.nn.gelu(normal[row, token] @ params["up"][expert])
        expected[row, token] += (
            weights[row, token, expert, place] * (hidden @ params["down"][expert]))
    assert_close(mixture_of_experts.mixture(params, x, config)[0], expected)


@pytest.mark.parametrize("scale, imbalance", [(0.0, 1.0), (1000.0, 4.0)])
def test_imbalance(scale, imbalance):
    """All scores equal: probabilities are balanced. All tokens want one expert: the worst."""
    scores = np.full((2, 8, 4), 0.0, np.float32)
    scores[..., 1] = scale
    assert_close(mixture_of_experts.route(scores, 2, 8)[1], imbalance)


def test_complete_iou():
    box = np.array([10, 10, 4, 2], np.float32)
    assert_close(yolo.complete_iou(box, box), 1.0)
    # Half of the box to the right: 1/3 in common, centres 2 apart, hull 6 by 2.
    assert_close(yolo.complete_iou(box, box + np.float32([2, 0, 0, 0])), 1 / 3 - 4 / 40)
    # Apart: no overlap, only distance.
    assert_close(yolo.complete_iou(box, box + np.float32([8, 0, 0, 0])), -64 / (12 ** 2 + 2 ** 2))
    # The same centre, turned: 4 of 12 in common, and another shape.
    shape = 4 / math.pi ** 2 * (math.atan2(4, 2) - math.atan2(2, 4)) ** 2
    expected = 1 / 3 - shape ** 2 / (1 - 1 / 3 + shape)
    assert_close(yolo.complete_iou(box, np.float32([10, 10, 2, 4])), expected)


def test_decoded_boxes():
    raw = np.zeros((2, 3, 4), np.float32)
    raw[1, 2] = [50, -50, 50, -50]
    boxes = np.asarray(yolo.decode(raw, 8))
    assert_close(boxes[0, 1], [12, 4, 32, 32])
    assert_close(boxes[1, 2], [(2 + 1.5) * 8, (1 - 0.5) * 8, 16 * 8, 0])


def test_binary_cross_entropy():
    logits, targets = draw(20), np.linspace(0, 1, 20, dtype=np.float32)
    expected = -(targets * np.log(sigmoid(logits)) + (1 - targets) * np.log(1 - sigmoid(logits)))
    assert_close(yolo.binary_cross_entropy(logits, targets), expected)
    assert_close(yolo.binary_cross_entropy(np.float32(1000), 0.0), 1000.0)


def test_loss_of_a_scale():
    """By cells: boxes and classes count where there is an object, certainty everywhere."""
    config = yolo.TINY
    targets = jax.tree.map(np.asarray, yolo.draw_targets(Source(0), config, 8))
    assert 0 < targets["positive"].sum() < targets["positive"].size / 4
    raw = draw(*targets["positive"].shape, 5 + config.classes)
    boxes = np.asarray(yolo.decode(raw[..., :4], 8))
    box, certain, classes = [], [], []
    for cell in np.ndindex(targets["positive"].shape):
        iou = 0.0
        if targets["positive"][cell]:
            iou = float(yolo.complete_iou(boxes[cell], targets["box"][cell]))
            box.append(1 - iou)
            label = np.eye(config.classes)[targets["class"][cell]]
            classes.append(yolo.binary_cross_entropy(raw[cell][5:], label).mean())
        certain.append(yolo.binary_cross_entropy(raw[cell][4], max(iou, 0.0)))
    expected = 0.05 * np.mean(box) + np.mean(certain) + 0.5 * np.mean(classes)
    assert_close(yolo.scale_loss(raw, targets, 8), expected, 1e-4)


def test_objects_have_their_centre_in_their_cell():
    boxes = np.asarray(yolo.draw_targets(Source(0), yolo.TINY, 8)["box"])
    rows, columns = np.indices(boxes.shape[1:3])
    np.testing.assert_array_equal(boxes[..., 0] // 8, np.broadcast_to(columns, boxes.shape[:3]))
    np.testing.assert_array_equal(boxes[..., 1] // 8, np.broadcast_to(rows, boxes.shape[:3]))


def test_sources_without_a_seed_have_the_same_shapes():
    def everything(source):
        return [source.normal((2, 3), 2.0), source.uniform((4,), 0, 1), source.integers((5,), 9),
                source.key()]

    abstract = jax.eval_shape(lambda: everything(Source(None)))
    concrete = everything(Source(0))
    assert [(x.shape, x.dtype) for x in abstract] == [(x.shape, x.dtype) for x in concrete]


def test_scale_of_normal_values():
    values = np.asarray(Source(0).normal((100_000,), 3.0))
    assert abs(values.mean()) < 0.05 and abs(values.std() - 3) < 0.05
