# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A U-Net for segmentation, as deep as the original and with padded convolutions.
"""U-Net (Ronneberger et al., arXiv:1505.04597) with group normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from remat.examples import common, convolution
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State, initial_state, train_step
from remat.examples.optimizers import AdamW
from remat.examples.source import Source


@dataclass(frozen=True)
class Config:
    """`width` channels at full size; each of `levels` halves the image and doubles the channels."""

    levels: int = 4
    width: int = 64
    groups: int = 32
    image: int = 512
    classes: int = 2
    batch: int = 4
    learning_rate: float = 1e-3
    compute_dtype: str = "float32"
    remat_layers: bool = False
    remat_policy: str | None = None


REAL = Config()
TINY = Config(levels=3, width=8, groups=4, image=32, batch=2, learning_rate=1e-2)


def group_norm(params: Params, x: jax.Array, groups: int, epsilon: float = 1e-5) -> jax.Array:
    """Normalises groups of channels of each image, with statistics in f32."""
    y = x.astype(jnp.float32).reshape(*x.shape[:3], groups, -1)
    y = y - y.mean((1, 2, 4), keepdims=True)
    y = y * jax.lax.rsqrt((y * y).mean((1, 2, 4), keepdims=True) + epsilon)
    return y.reshape(x.shape).astype(x.dtype) * params["scale"] + params["bias"]


def init_pair(source: Source, inputs: int, outputs: int) -> list[Params]:
    """Two convolutions with their normalisations."""
    return [{"kernel": convolution.conv_init(source, 3, channels, outputs),
             "norm": common.norm_init(outputs)}
            for channels in (inputs, outputs)]


def pair(params: list[Params], x: jax.Array, groups: int) -> jax.Array:
    """Twice: convolution, normalisation, ReLU."""
    for layer in params:
        x = convolution.conv(layer["kernel"], x)
        x = jax.nn.relu(group_norm(layer["norm"], x, groups))
    return x


def init(source: Source, config: Config) -> Params:
    """All parameters; `up` is in the order of use, smallest images first."""
    widths = [config.width << level for level in range(config.levels + 1)]
    return {
        "down": [init_pair(source, *shape) for shape in zip([3, *widths], widths)],
        "up": [{"enlarge": convolution.conv_init(source, 2, 2 * width, width),
                "merge": init_pair(source, 2 * width, width)}
               for width in widths[-2::-1]],
        "head": common.dense_init(source, config.width, config.classes, 0.01),
    }


def logits(params: Params, images: jax.Array, config: Config) -> jax.Array:
    """[batch, height, width, 3] -> [batch, height, width, classes]."""
    params, x = common.cast((params, images), config.compute_dtype)
    block = common.rematerialised(
        partial(pair, groups=config.groups), config.remat_layers, config.remat_policy)
    skipped = []
    for layer in params["down"][:-1]:
        x = block(layer, x)
        skipped.append(x)
        x = convolution.max_pool(x, size=2, stride=2)
    x = block(params["down"][-1], x)
    for layer, skip in zip(params["up"], reversed(skipped)):
        x = jax.lax.conv_transpose(x, layer["enlarge"], (2, 2), "VALID")
        x = block(layer["merge"], jnp.concatenate([skip, x], axis=-1))
    head = params["head"]
    return convolution.conv(head["kernel"][None, None], x) + head["bias"]


def make(config: Config) -> Example:
    """The batch is {"images", "labels"}: pixels and, for each, an int32 class."""
    optimizer = AdamW(config.learning_rate)

    def loss(params: Params, batch: Batch) -> jax.Array:
        return common.cross_entropy(logits(params, batch["images"], config), batch["labels"])

    def draw_state(source: Source) -> State:
        return initial_state(source, partial(init, config=config), optimizer)

    def draw_batch(source: Source) -> Batch:
        shape = (config.batch, config.image, config.image)
        return {"images": source.normal((*shape, 3)),
                "labels": source.integers(shape, config.classes)}

    return Example("unet", config, train_step(loss, optimizer), draw_state, draw_batch)
