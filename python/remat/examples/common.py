# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layers, initial values and losses that several models use. What one alone uses is in its file.
"""Building blocks in plain JAX: parameters are dicts of arrays, layers are functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from remat.examples.source import Source

Params = dict[str, Any]


def dense_init(source: Source, inputs: int, outputs: int, scale: float | None = None) -> Params:
    """A dense layer; without `scale`, He's initial values for ReLU."""
    scale = (2 / inputs) ** 0.5 if scale is None else scale
    return {"kernel": source.normal((inputs, outputs), scale), "bias": jnp.zeros(outputs)}


def dense(params: Params, x: jax.Array) -> jax.Array:
    """[..., inputs] -> [..., outputs]."""
    return x @ params["kernel"] + params["bias"]


def norm_init(width: int) -> Params:
    """Scale and bias of a normalisation over `width` channels."""
    return {"scale": jnp.ones(width), "bias": jnp.zeros(width)}


def layer_norm(params: Params, x: jax.Array, epsilon: float = 1e-5) -> jax.Array:
    """Normalises the last axis, with statistics in f32."""
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + epsilon)
    return y.astype(x.dtype) * params["scale"] + params["bias"]


def cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean of the negative log likelihood, in f32: logits [..., classes], integer targets [...]."""
    logits = logits.astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - chosen).mean()


def cast(tree: Any, dtype: str) -> Any:
    """Arrays in the dtype of the computation; gradients come back in that of the parameters."""
    return jax.tree.map(lambda x: x.astype(dtype), tree)


def rematerialised(layer: Callable[..., Any], enabled: bool, policy: str | None
                   ) -> Callable[..., Any]:
    """`layer` under `jax.checkpoint` if enabled; `policy` is a name in `jax.checkpoint_policies`."""
    if not enabled:
        return layer
    chosen = getattr(jax.checkpoint_policies, policy) if policy else None
    return jax.checkpoint(layer, policy=chosen)


def draw_labelled_images(source: Source, config: Any) -> dict[str, jax.Array]:
    """Normal images [batch, image, image, 3] and int32 labels [batch]."""
    return {
        "images": source.normal((config.batch, config.image, config.image, 3)),
        "labels": source.integers((config.batch,), config.classes),
    }
