# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layers, initial values and losses that several models use. What one model alone uses is in its file.
"""Building blocks in plain JAX: parameters are dicts of arrays, layers are functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Params = dict[str, Any]


def normal(key: jax.Array, shape: tuple[int, ...], scale: float) -> jax.Array:
    """Normal values with standard deviation `scale`."""
    return scale * jax.random.normal(key, shape, jnp.float32)


def dense_init(key: jax.Array, inputs: int, outputs: int, scale: float | None = None) -> Params:
    """A dense layer; without `scale`, He's initial values for ReLU."""
    scale = (2 / inputs) ** 0.5 if scale is None else scale
    return {"kernel": normal(key, (inputs, outputs), scale), "bias": jnp.zeros(outputs)}


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


def attention(qkv: jax.Array, heads: int, *, causal: bool) -> jax.Array:
    """Softmax attention over explicit scores: [batch, length, 3 width] -> [batch, length, width].

    The softmax is in f32, as mixed precision training has it.
    """
    batch, length, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = jnp.split(qkv.reshape(batch, length, 3 * heads, width // heads), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    scores = scores.astype(jnp.float32)
    if causal:
        visible = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(visible, scores, jnp.finfo(jnp.float32).min)
    weights = jax.nn.softmax(scores, axis=-1).astype(v.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, width)


def cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean of the negative log likelihood, in f32: logits [..., classes], integer targets [...]."""
    logits = logits.astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - chosen).mean()


def cast(params: Any, dtype: str) -> Any:
    """Parameters in the dtype of the computation; gradients come back in that of the parameters."""
    return jax.tree.map(lambda p: p.astype(dtype), params)


def rematerialised(layer: Callable[..., Any], enabled: bool, policy: str | None
                   ) -> Callable[..., Any]:
    """`layer` under `jax.checkpoint` if enabled; `policy` names one of `jax.checkpoint_policies`."""
    if not enabled:
        return layer
    return jax.checkpoint(layer, policy=policy and getattr(jax.checkpoint_policies, policy))
