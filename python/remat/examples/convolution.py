# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Convolutions, pooling and batch normalisation; images are [batch, height, width, channels].
"""Layers of convolutional networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from remat.examples import common
from remat.examples.common import Params
from remat.examples.source import Source

Statistics = Any
"""Running mean and variance of each batch normalisation, in the structure of the parameters."""


def conv_init(source: Source, size: int, inputs: int, outputs: int) -> jax.Array:
    """A kernel [size, size, inputs, outputs] with He's initial values."""
    return source.normal((size, size, inputs, outputs), (2 / (size * size * inputs)) ** 0.5)


def conv(kernel: jax.Array, x: jax.Array, stride: int = 1) -> jax.Array:
    """A convolution; at stride 1 and for odd kernels, as large as its input."""
    padding = [((size - 1) // 2, (size - 1) // 2) for size in kernel.shape[:2]]
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x: jax.Array, size: int, stride: int, padding: int = 0) -> jax.Array:
    """The largest value of each window."""
    edges = (padding, padding)
    return jax.lax.reduce_window(
        x, -jnp.inf, jax.lax.max, (1, size, size, 1), (1, stride, stride, 1),
        ((0, 0), edges, edges, (0, 0)))


def batch_norm(params: Params, statistics: Statistics, x: jax.Array, momentum: float = 0.9,
               epsilon: float = 1e-5) -> tuple[jax.Array, Statistics]:
    """Normalises by mean and variance of the batch, in f32, and moves the running ones."""
    y = x.astype(jnp.float32)
    mean = y.mean((0, 1, 2))
    variance = jnp.square(y - mean).mean((0, 1, 2))
    y = (y - mean) * (jax.lax.rsqrt(variance + epsilon) * params["scale"]) + params["bias"]
    moved = {"mean": momentum * statistics["mean"] + (1 - momentum) * mean,
             "variance": momentum * statistics["variance"] + (1 - momentum) * variance}
    return y.astype(x.dtype), moved


def unit_init(source: Source, size: int, inputs: int, outputs: int) -> Params:
    """A convolution with its batch normalisation."""
    return {"kernel": conv_init(source, size, inputs, outputs), "norm": common.norm_init(outputs)}


def unit(params: Params, statistics: Statistics, x: jax.Array, stride: int = 1,
         activation: Callable[[jax.Array], jax.Array] | None = None
         ) -> tuple[jax.Array, Statistics]:
    """Convolution, batch normalisation, activation."""
    y = conv(params["kernel"], x, stride)
    y, norm = batch_norm(params["norm"], statistics["norm"], y)
    return (activation(y) if activation else y), {"norm": norm}


def init_statistics(params: Any) -> Statistics:
    """For each unit in `params`, mean 0 and variance 1."""
    if isinstance(params, list):
        return [init_statistics(child) for child in params]
    if "scale" in params:
        return {"mean": jnp.zeros_like(params["scale"]), "variance": jnp.ones_like(params["scale"])}
    return {name: init_statistics(child) for name, child in params.items()
            if isinstance(child, (dict, list))}
