# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention and the layer of transformers. Embeddings and heads are in the files of the models.
"""The pre-normalised transformer layer."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from remat.examples import common
from remat.examples.common import Params
from remat.examples.source import Source


def init_attention(source: Source, width: int, residual: float) -> Params:
    """Attention with its normalisation; `residual` is the scale of the product that ends it."""
    return {
        "norm": common.norm_init(width),
        "qkv": common.dense_init(source, width, 3 * width, 0.02),
        "out": common.dense_init(source, width, width, residual),
    }


def init_perceptron(source: Source, width: int, residual: float) -> Params:
    """The perceptron, four times as wide inside, with its normalisation."""
    return {
        "norm": common.norm_init(width),
        "up": common.dense_init(source, width, 4 * width, 0.02),
        "down": common.dense_init(source, 4 * width, width, residual),
    }


def init_layer(source: Source, width: int, layers: int) -> Params:
    """Parameters of one of `layers` layers."""
    residual = residual_scale(layers)
    return {
        "attention": init_attention(source, width, residual),
        "perceptron": init_perceptron(source, width, residual),
    }


def residual_scale(layers: int) -> float:
    """Initial scale of what is added to the residual stream: smaller where more is added."""
    return 0.02 * (2 * layers) ** -0.5


def attend(qkv: jax.Array, heads: int, *, causal: bool) -> jax.Array:
    """Attention over explicit scores: [batch, length, 3 width] -> [batch, length, width]."""
    batch, length, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = jnp.split(qkv.reshape(batch, length, 3 * heads, width // heads), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    if causal:
        visible = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(visible, scores, jnp.finfo(scores.dtype).min)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)
    return mixed.reshape(batch, length, width)


def attention(params: Params, x: jax.Array, heads: int, *, causal: bool) -> jax.Array:
    """What attention adds to the residual stream."""
    qkv = common.dense(params["qkv"], common.layer_norm(params["norm"], x))
    return common.dense(params["out"], attend(qkv, heads, causal=causal))


def perceptron(params: Params, x: jax.Array, activation: Callable[[jax.Array], jax.Array]
               ) -> jax.Array:
    """What the perceptron adds to the residual stream."""
    hidden = common.dense(params["up"], common.layer_norm(params["norm"], x))
    return common.dense(params["down"], activation(hidden))


def layer(params: Params, x: jax.Array, heads: int, *, causal: bool,
          activation: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """[batch, length, width] -> the same, normalised before attention and before the perceptron."""
    x = x + attention(params["attention"], x, heads, causal=causal)
    return x + perceptron(params["perceptron"], x, activation)
