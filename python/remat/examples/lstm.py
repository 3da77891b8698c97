# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A language model of stacked LSTMs; every layer is one `lax.scan` over time.
"""LSTM language model with clipped gradients (Zaremba et al., arXiv:1409.2329)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from remat.examples import common
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State, initial_state, train_step
from remat.examples.optimizers import AdamW, Clipped
from remat.examples.source import Source

Memory = tuple[jax.Array, jax.Array]
"""Hidden and cell state, each [batch, width]."""


@dataclass(frozen=True)
class Config:
    """Tokens [batch, sequence], as wide inside as their embedding."""

    layers: int = 2
    width: int = 1024
    vocabulary: int = 10000
    sequence: int = 256
    batch: int = 64
    learning_rate: float = 1e-3
    clip: float = 5.0


REAL = Config()
TINY = Config(width=32, vocabulary=100, sequence=16, batch=4, learning_rate=1e-2, clip=1.0)


def init_cell(source: Source, width: int) -> Params:
    """One layer; an open forget gate lets gradients through from the start."""
    return {
        "input": source.normal((width, 4 * width), width ** -0.5),
        "hidden": source.normal((width, 4 * width), width ** -0.5),
        "bias": jnp.repeat(jnp.array([0.0, 1.0, 0.0, 0.0]), width),
    }


def init(source: Source, config: Config) -> Params:
    """All parameters."""
    width = config.width
    return {
        "tokens": source.normal((config.vocabulary, width), 0.1),
        "layers": [init_cell(source, width) for _ in range(config.layers)],
        "head": common.dense_init(source, width, config.vocabulary, width ** -0.5),
    }


def cell(params: Params, memory: Memory, x: jax.Array) -> tuple[Memory, jax.Array]:
    """One step in time of one layer: input [batch, width] -> output, which is the hidden state."""
    hidden, content = memory
    gates = x @ params["input"] + hidden @ params["hidden"] + params["bias"]
    enter, forget, candidate, leave = jnp.split(gates, 4, axis=-1)
    content = (jax.nn.sigmoid(forget) * content
               + jax.nn.sigmoid(enter) * jnp.tanh(candidate))
    hidden = jax.nn.sigmoid(leave) * jnp.tanh(content)
    return (hidden, content), hidden


def logits(params: Params, tokens: jax.Array) -> jax.Array:
    """int32 [batch, length] -> [length, batch, vocabulary]: time comes first, as it is scanned."""
    x = params["tokens"][tokens.T]
    zero = jnp.zeros_like(x[0])
    for layer in params["layers"]:
        _, x = jax.lax.scan(partial(cell, layer), (zero, zero), x)
    return common.dense(params["head"], x)


def loss(params: Params, tokens: jax.Array) -> jax.Array:
    """Of tokens [batch, length + 1]: each but the last predicts the next."""
    return common.cross_entropy(logits(params, tokens[:, :-1]), tokens[:, 1:].T)


def make(config: Config) -> Example:
    """The batch is int32 tokens [batch, sequence + 1]."""
    optimizer = Clipped(AdamW(config.learning_rate), config.clip)

    def draw_state(source: Source) -> State:
        return initial_state(source, partial(init, config=config), optimizer)

    def draw_batch(source: Source) -> Batch:
        return source.integers((config.batch, config.sequence + 1), config.vocabulary)

    return Example("lstm", config, train_step(loss, optimizer), draw_state, draw_batch)
