# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A causal transformer with dropout: each step splits the key that the state carries.
"""Dropout by explicit keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from remat.examples import common, gpt2, transformer
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State
from remat.examples.source import Source


@dataclass(frozen=True)
class Config(gpt2.ModelConfig):
    """GPT-2 with the width of the first transformers; `rate` is the share of zeros."""

    layers: int = 6
    width: int = 512
    heads: int = 8
    vocabulary: int = 32000
    sequence: int = 512
    batch: int = 16
    rate: float = 0.1


REAL = Config()
TINY = Config(layers=2, width=32, heads=4, vocabulary=250, sequence=32, batch=2,
              learning_rate=1e-2)


def drop(key: jax.Array, x: jax.Array, rate: float) -> jax.Array:
    """Zeros with probability `rate`; the rest is scaled up to the same mean."""
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), 0)


def layer(params: Params, key: jax.Array, x: jax.Array, config: Config) -> jax.Array:
    """A layer of a transformer, with dropout of what is added to the residual stream."""
    attention_key, perceptron_key = jax.random.split(key)
    y = transformer.attention(params["attention"], x, config.heads, causal=True)
    x = x + drop(attention_key, y, config.rate)
    y = transformer.perceptron(params["perceptron"], x, jax.nn.gelu)
    return x + drop(perceptron_key, y, config.rate)


def logits(params: Params, key: jax.Array, tokens: jax.Array, config: Config) -> jax.Array:
    """int32 tokens [batch, length] -> [batch, length, padded vocabulary]."""
    params = common.cast(params, config.compute_dtype)
    keys = jax.random.split(key, config.layers + 1)
    apply = common.rematerialised(
        partial(layer, config=config), config.remat_layers, config.remat_policy)
    x = params["tokens"][tokens] + params["positions"][: tokens.shape[1]]
    x = drop(keys[0], x, config.rate)
    if config.scan_layers:
        x, _ = jax.lax.scan(lambda x, layer: (apply(*layer, x), None), x,
                            (params["layers"], keys[1:]))
    else:
        for layer_params, layer_key in zip(params["layers"], keys[1:]):
            x = apply(layer_params, layer_key, x)
    return common.layer_norm(params["norm"], x) @ params["tokens"].T


def make(config: Config) -> Example:
    """The state is that of GPT-2 and a `key`; the batch is the same as there."""
    optimizer = gpt2.make_optimizer(config)

    def loss(params: Params, key: jax.Array, tokens: jax.Array) -> jax.Array:
        return common.cross_entropy(logits(params, key, tokens[:, :-1], config), tokens[:, 1:])

    def step(state: State, batch: Batch) -> tuple[State, jax.Array]:
        next_key, key = jax.random.split(state["key"])
        value, grads = jax.value_and_grad(loss)(state["params"], key, batch)
        params, moments = optimizer.update(state["params"], grads, state["optimizer"])
        return {"params": params, "optimizer": moments, "key": next_key}, value

    def draw_state(source: Source) -> State:
        return {**gpt2.draw_state(source, config), "key": source.key()}

    return Example("dropout", config, step, draw_state, partial(gpt2.draw_batch, config=config))
