# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A detector in the manner of YOLOv5-s, without anchors to choose from: one box for each cell of
# each scale. Assignment of boxes to cells belongs to the data, which come dense.
"""A YOLO-like detector: CSP backbone, pyramid in both directions, heads at strides 8, 16 and 32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from remat.examples import common, convolution
from remat.examples.common import Params
from remat.examples.convolution import Statistics
from remat.examples.example import (Batch, Example, State, initial_state,
                                    train_step_with_statistics)
from remat.examples.optimizers import SGD
from remat.examples.source import Source

STRIDES = (8, 16, 32)
BOX_WEIGHT, OBJECT_WEIGHT, CLASS_WEIGHT = 0.05, 1.0, 0.5


@dataclass(frozen=True)
class Config:
    """`width` channels after the stem, doubled by each stage; `depths` counts its bottlenecks."""

    width: int = 32
    depths: tuple[int, int, int, int] = (1, 2, 3, 1)
    neck_depth: int = 1
    image: int = 640
    classes: int = 80
    batch: int = 16
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    compute_dtype: str = "float32"
    remat_layers: bool = False
    remat_policy: str | None = None


REAL = Config()
TINY = Config(width=8, depths=(1, 1, 2, 1), image=64, classes=4, batch=2, learning_rate=0.02)

silu_unit = partial(convolution.unit, activation=jax.nn.silu)


def init_stage(source: Source, inputs: int, outputs: int, depth: int) -> Params:
    """A CSP stage: one half of the channels goes through `depth` bottlenecks, one passes by."""
    half = outputs // 2
    return {
        "through": convolution.unit_init(source, 1, inputs, half),
        "past": convolution.unit_init(source, 1, inputs, half),
        "bottlenecks": [{"reduce": convolution.unit_init(source, 1, half, half),
                         "spatial": convolution.unit_init(source, 3, half, half)}
                        for _ in range(depth)],
        "merge": convolution.unit_init(source, 1, outputs, outputs),
    }


def stage(params: Params, statistics: Statistics, x: jax.Array, shortcut: bool
          ) -> tuple[jax.Array, Statistics]:
    """A CSP stage; `shortcut` adds the input of each bottleneck to its output."""
    moved: dict[str, Any] = {"bottlenecks": []}
    past, moved["past"] = silu_unit(params["past"], statistics["past"], x)
    x, moved["through"] = silu_unit(params["through"], statistics["through"], x)
    for block, running in zip(params["bottlenecks"], statistics["bottlenecks"]):
        y, reduce = silu_unit(block["reduce"], running["reduce"], x)
        y, spatial = silu_unit(block["spatial"], running["spatial"], y)
        x = x + y if shortcut else y
        moved["bottlenecks"].append({"reduce": reduce, "spatial": spatial})
    x, moved["merge"] = silu_unit(
        params["merge"], statistics["merge"], jnp.concatenate([x, past], axis=-1))
    return x, moved


def init_pooling(source: Source, width: int) -> Params:
    """Spatial pyramid pooling."""
    return {"reduce": convolution.unit_init(source, 1, width, width // 2),
            "merge": convolution.unit_init(source, 1, 2 * width, width)}


def pooling(params: Params, statistics: Statistics, x: jax.Array) -> tuple[jax.Array, Statistics]:
    """The image beside three of its maxima over ever larger windows."""
    x, reduce = silu_unit(params["reduce"], statistics["reduce"], x)
    scales = [x]
    for _ in range(3):
        scales.append(convolution.max_pool(scales[-1], size=5, stride=1, padding=2))
    x, merge = silu_unit(
        params["merge"], statistics["merge"], jnp.concatenate(scales, axis=-1))
    return x, {"reduce": reduce, "merge": merge}


def enlarge(x: jax.Array) -> jax.Array:
    """Twice as high and wide, by repetition."""
    return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)


def init_head(source: Source, width: int, classes: int) -> Params:
    """Few cells hold an object: it begins with a probability of one in a hundred."""
    prior = jnp.zeros(5 + classes).at[4:].set(-math.log(99))
    return {"kernel": source.normal((width, 5 + classes), 0.01), "bias": prior}


def init(source: Source, config: Config) -> Params:
    """All parameters."""
    widths = [config.width << level for level in range(5)]
    small, middle, large = widths[2:]
    unit, depth = convolution.unit_init, config.neck_depth
    return {
        "stem": unit(source, 6, 3, widths[0]),
        "backbone": [{"halve": unit(source, 3, inputs, outputs),
                      "stage": init_stage(source, outputs, outputs, stage_depth)}
                     for inputs, outputs, stage_depth in zip(widths, widths[1:], config.depths)],
        "pooling": init_pooling(source, large),
        "neck": {
            "reduce_large": unit(source, 1, large, middle),
            "up_middle": init_stage(source, 2 * middle, middle, depth),
            "reduce_middle": unit(source, 1, middle, small),
            "up_small": init_stage(source, 2 * small, small, depth),
            "halve_small": unit(source, 3, small, small),
            "down_middle": init_stage(source, 2 * small, middle, depth),
            "halve_middle": unit(source, 3, middle, middle),
            "down_large": init_stage(source, 2 * middle, large, depth),
        },
        "heads": [init_head(source, width, config.classes) for width in (small, middle, large)],
    }


def predict(params: Params, statistics: Statistics, images: jax.Array, config: Config
            ) -> tuple[list[jax.Array], Statistics]:
    """[batch, height, width, 3] -> for each stride [batch, rows, columns, 5 + classes].

    The five are the raw box and whether there is an object.
    """
    params, images = common.cast((params, images), config.compute_dtype)
    rematerialised = partial(common.rematerialised, enabled=config.remat_layers,
                             policy=config.remat_policy)
    backbone_stage = rematerialised(partial(stage, shortcut=True))
    neck_stage = rematerialised(partial(stage, shortcut=False))
    moved: dict[str, Any] = {"backbone": [], "neck": {}, "heads": [{} for _ in STRIDES]}
    x, moved["stem"] = silu_unit(params["stem"], statistics["stem"], images, stride=2)
    levels = []
    for level, running in zip(params["backbone"], statistics["backbone"]):
        x, halve = silu_unit(level["halve"], running["halve"], x, stride=2)
        x, inner = backbone_stage(level["stage"], running["stage"], x)
        moved["backbone"].append({"halve": halve, "stage": inner})
        levels.append(x)
    x, moved["pooling"] = rematerialised(pooling)(params["pooling"], statistics["pooling"], x)

    def neck(name: str, layer: Any, x: jax.Array) -> jax.Array:
        y, moved["neck"][name] = layer(params["neck"][name], statistics["neck"][name], x)
        return y

    def join(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.concatenate([a, b], axis=-1)

    halve = partial(silu_unit, stride=2)
    large = neck("reduce_large", silu_unit, x)
    middle = neck("up_middle", neck_stage, join(enlarge(large), levels[2]))
    middle = neck("reduce_middle", silu_unit, middle)
    small = neck("up_small", neck_stage, join(enlarge(middle), levels[1]))
    middle = neck("down_middle", neck_stage, join(neck("halve_small", halve, small), middle))
    large = neck("down_large", neck_stage, join(neck("halve_middle", halve, middle), large))
    outputs = [common.dense(head, x).astype(jnp.float32)
               for head, x in zip(params["heads"], (small, middle, large))]
    return outputs, moved


def decode(raw: jax.Array, stride: int) -> jax.Array:
    """Raw boxes [..., rows, columns, 4] -> centre x, y, width and height in pixels.

    The centre is at most one cell outside its own, the size at most 16 strides.
    """
    rows, columns = raw.shape[-3:-1]
    y, x = jnp.meshgrid(jnp.arange(rows), jnp.arange(columns), indexing="ij")
    squashed = 2 * jax.nn.sigmoid(raw)
    centre = (jnp.stack([x, y], axis=-1) + squashed[..., :2] - 0.5) * stride
    return jnp.concatenate([centre, squashed[..., 2:] ** 2 * (4 * stride)], axis=-1)


def complete_iou(a: jax.Array, b: jax.Array, epsilon: float = 1e-7) -> jax.Array:
    """Overlap of boxes [..., 4], less distance and difference in shape (CIoU, arXiv:1911.08287)."""
    centre_a, size_a, centre_b, size_b = a[..., :2], a[..., 2:], b[..., :2], b[..., 2:]
    low_a, high_a = centre_a - size_a / 2, centre_a + size_a / 2
    low_b, high_b = centre_b - size_b / 2, centre_b + size_b / 2
    overlap = jnp.maximum(jnp.minimum(high_a, high_b) - jnp.maximum(low_a, low_b), 0).prod(-1)
    iou = overlap / (size_a.prod(-1) + size_b.prod(-1) - overlap + epsilon)
    hull = jnp.maximum(high_a, high_b) - jnp.minimum(low_a, low_b)
    distance = ((centre_a - centre_b) ** 2).sum(-1) / ((hull ** 2).sum(-1) + epsilon)
    angle = (jnp.arctan2(size_a[..., 0], size_a[..., 1])
             - jnp.arctan2(size_b[..., 0], size_b[..., 1]))
    shape = 4 / math.pi ** 2 * angle ** 2
    weight = jax.lax.stop_gradient(shape / (1 - iou + shape + epsilon))
    return iou - distance - weight * shape


def binary_cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Of each element, stable for logits of any size."""
    return jnp.maximum(logits, 0) - logits * targets + jnp.log1p(jnp.exp(-jnp.abs(logits)))


def scale_loss(raw: jax.Array, targets: Batch, stride: int) -> jax.Array:
    """Box, object and class loss of one scale; objects are as certain as their boxes are good."""
    positive = targets["positive"].astype(jnp.float32)
    count = jnp.maximum(positive.sum(), 1)
    iou = complete_iou(decode(raw[..., :4], stride), targets["box"])
    box = ((1 - iou) * positive).sum() / count
    certainty = jax.lax.stop_gradient(jnp.maximum(iou, 0)) * positive
    certain = binary_cross_entropy(raw[..., 4], certainty).mean()
    labels = jax.nn.one_hot(targets["class"], raw.shape[-1] - 5)
    classes = (binary_cross_entropy(raw[..., 5:], labels).mean(-1) * positive).sum() / count
    return BOX_WEIGHT * box + OBJECT_WEIGHT * certain + CLASS_WEIGHT * classes


def draw_targets(source: Source, config: Config, stride: int) -> Batch:
    """One cell in twenty has an object: its centre in the cell, its sides up to eight strides."""
    cells = config.image // stride
    shape = (config.batch, cells, cells)
    corner = jnp.stack(jnp.meshgrid(jnp.arange(cells), jnp.arange(cells)), axis=-1) * stride
    centre = corner + source.uniform((*shape, 2), 0, stride)
    size = source.uniform((*shape, 2), stride, 8 * stride)
    return {
        "box": jnp.concatenate([centre, size], axis=-1),
        "positive": source.uniform(shape, 0, 1) < 0.05,
        "class": source.integers(shape, config.classes),
    }


def make(config: Config) -> Example:
    """The batch is {"images": [batch, height, width, 3], "targets": for each stride, dense}."""
    optimizer = SGD(config.learning_rate, weight_decay=config.weight_decay)

    def loss(params: Params, statistics: Statistics, batch: Batch
             ) -> tuple[jax.Array, Statistics]:
        outputs, moved = predict(params, statistics, batch["images"], config)
        losses = map(scale_loss, outputs, batch["targets"], STRIDES)
        return sum(losses, start=jnp.float32(0)), moved

    def draw_state(source: Source) -> State:
        state = initial_state(source, partial(init, config=config), optimizer)
        return {**state, "statistics": convolution.init_statistics(state["params"])}

    def draw_batch(source: Source) -> Batch:
        return {"images": source.normal((config.batch, config.image, config.image, 3)),
                "targets": [draw_targets(source, config, stride) for stride in STRIDES]}

    return Example("yolo", config, train_step_with_statistics(loss, optimizer), draw_state,
                   draw_batch)
