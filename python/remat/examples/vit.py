# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A vision transformer without dropout.
"""ViT (Dosovitskiy et al., arXiv:2010.11929), ViT-B/16 by default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from remat.examples import common, transformer
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State, initial_state, train_step
from remat.examples.optimizers import AdamW
from remat.examples.source import Source


@dataclass(frozen=True)
class Config:
    """ViT-B/16 on 224 by 224 pixels in three channels."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    patch: int = 16
    image: int = 224
    classes: int = 1000
    batch: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    compute_dtype: str = "float32"
    remat_layers: bool = False
    remat_policy: str | None = None


REAL = Config()
TINY = Config(layers=3, width=32, heads=4, patch=4, image=16, classes=10, batch=4)


def init(source: Source, config: Config) -> Params:
    """All parameters."""
    pixels = 3 * config.patch ** 2
    length = (config.image // config.patch) ** 2 + 1
    return {
        "patches": common.dense_init(source, pixels, config.width, pixels ** -0.5),
        "class": source.normal((1, 1, config.width), 0.02),
        "positions": source.normal((length, config.width), 0.02),
        "layers": [transformer.init_layer(source, config.width, config.layers)
                   for _ in range(config.layers)],
        "norm": common.norm_init(config.width),
        # A head of zeros begins with equal probabilities.
        "head": {"kernel": jnp.zeros((config.width, config.classes)),
                 "bias": jnp.zeros(config.classes)},
    }


def to_patches(images: jax.Array, patch: int) -> jax.Array:
    """[batch, height, width, channels] -> [batch, patches, patch * patch * channels]."""
    batch, height, width, channels = images.shape
    tiles = images.reshape(batch, height // patch, patch, width // patch, patch, channels)
    return tiles.transpose(0, 1, 3, 2, 4, 5).reshape(batch, -1, patch * patch * channels)


def logits(params: Params, images: jax.Array, config: Config) -> jax.Array:
    """[batch, height, width, 3] -> [batch, classes], read from the class token."""
    params, images = common.cast((params, images), config.compute_dtype)
    layer = common.rematerialised(
        partial(transformer.layer, heads=config.heads, causal=False,
                activation=partial(jax.nn.gelu, approximate=False)),
        config.remat_layers, config.remat_policy)
    x = common.dense(params["patches"], to_patches(images, config.patch))
    token = jnp.broadcast_to(params["class"], (x.shape[0], 1, config.width))
    x = jnp.concatenate([token, x], axis=1) + params["positions"]
    for layer_params in params["layers"]:
        x = layer(layer_params, x)
    return common.dense(params["head"], common.layer_norm(params["norm"], x[:, 0]))


def make(config: Config) -> Example:
    """The batch is {"images": [batch, height, width, 3], "labels": int32 [batch]}."""
    optimizer = AdamW(config.learning_rate, config.weight_decay)

    def loss(params: Params, batch: Batch) -> jax.Array:
        return common.cross_entropy(logits(params, batch["images"], config), batch["labels"])

    def draw_state(source: Source) -> State:
        return initial_state(source, partial(init, config=config), optimizer)

    return Example("vit", config, train_step(loss, optimizer), draw_state,
                   partial(common.draw_labelled_images, config=config))
