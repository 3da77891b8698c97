# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ResNet-50 as it is trained: statistics of the batch in use, running ones kept beside.
"""ResNet-50 (He et al., arXiv:1512.03385), with the stride in the 3 by 3 convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax

from remat.examples import common, convolution
from remat.examples.common import Params
from remat.examples.convolution import Statistics
from remat.examples.example import (Batch, Example, State, initial_state,
                                    train_step_with_statistics)
from remat.examples.optimizers import SGD
from remat.examples.source import Source


@dataclass(frozen=True)
class Config:
    """`stages` counts the bottlenecks of each stage; `width` is that of the first stage."""

    stages: tuple[int, ...] = (3, 4, 6, 3)
    width: int = 64
    image: int = 224
    classes: int = 1000
    batch: int = 64
    learning_rate: float = 0.1
    weight_decay: float = 1e-4
    compute_dtype: str = "float32"
    remat_layers: bool = False
    remat_policy: str | None = None


REAL = Config()
TINY = Config(stages=(1, 2, 2, 1), width=8, image=64, classes=10, batch=4, learning_rate=0.02)


def init_bottleneck(source: Source, inputs: int, width: int, stride: int) -> Params:
    """Three units, and one on the shortcut where the shape changes."""
    params = {
        "reduce": convolution.unit_init(source, 1, inputs, width),
        "spatial": convolution.unit_init(source, 3, width, width),
        "expand": convolution.unit_init(source, 1, width, 4 * width),
    }
    if inputs != 4 * width or stride != 1:
        params["shortcut"] = convolution.unit_init(source, 1, inputs, 4 * width)
    return params


def bottleneck(params: Params, statistics: Statistics, x: jax.Array, stride: int
               ) -> tuple[jax.Array, Statistics]:
    """1 by 1, 3 by 3, 1 by 1, and the shortcut around them."""
    moved = {}
    y, moved["reduce"] = convolution.unit(
        params["reduce"], statistics["reduce"], x, activation=jax.nn.relu)
    y, moved["spatial"] = convolution.unit(
        params["spatial"], statistics["spatial"], y, stride, activation=jax.nn.relu)
    y, moved["expand"] = convolution.unit(params["expand"], statistics["expand"], y)
    if "shortcut" in params:
        x, moved["shortcut"] = convolution.unit(
            params["shortcut"], statistics["shortcut"], x, stride)
    return jax.nn.relu(x + y), moved


def strides(config: Config) -> list[int]:
    """Of all bottlenecks, in order: each stage but the first halves the image."""
    return [2 if stage > 0 and block == 0 else 1
            for stage, blocks in enumerate(config.stages) for block in range(blocks)]


def init(source: Source, config: Config) -> Params:
    """All parameters."""
    widths = [config.width << stage
              for stage, blocks in enumerate(config.stages) for _ in range(blocks)]
    inputs = [config.width] + [4 * width for width in widths]
    return {
        "stem": convolution.unit_init(source, 7, 3, config.width),
        "blocks": [init_bottleneck(source, *shape)
                   for shape in zip(inputs, widths, strides(config))],
        "head": common.dense_init(source, inputs[-1], config.classes, 0.01),
    }


def logits(params: Params, statistics: Statistics, images: jax.Array, config: Config
           ) -> tuple[jax.Array, Statistics]:
    """[batch, height, width, 3] -> [batch, classes]."""
    params, images = common.cast((params, images), config.compute_dtype)
    x, stem = convolution.unit(
        params["stem"], statistics["stem"], images, stride=2, activation=jax.nn.relu)
    x = convolution.max_pool(x, size=3, stride=2, padding=1)
    blocks = []
    for block_params, block_statistics, stride in zip(
            params["blocks"], statistics["blocks"], strides(config)):
        block = common.rematerialised(
            partial(bottleneck, stride=stride), config.remat_layers, config.remat_policy)
        x, moved = block(block_params, block_statistics, x)
        blocks.append(moved)
    x = x.mean((1, 2))
    return common.dense(params["head"], x), {"stem": stem, "blocks": blocks, "head": {}}


def make(config: Config) -> Example:
    """The batch is {"images": [batch, height, width, 3], "labels": int32 [batch]}."""
    optimizer = SGD(config.learning_rate, weight_decay=config.weight_decay)

    def loss(params: Params, statistics: Statistics, batch: Batch
             ) -> tuple[jax.Array, Statistics]:
        outputs, moved = logits(params, statistics, batch["images"], config)
        return common.cross_entropy(outputs, batch["labels"]), moved

    def draw_state(source: Source) -> State:
        state = initial_state(source, partial(init, config=config), optimizer)
        return {**state, "statistics": convolution.init_statistics(state["params"])}

    return Example("resnet50", config, train_step_with_statistics(loss, optimizer), draw_state,
                   partial(common.draw_labelled_images, config=config))
