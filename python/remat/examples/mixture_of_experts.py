# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A causal transformer whose perceptrons are mixtures of experts. Each row of the batch is one
# group: its tokens compete for the places of every expert.
"""Mixture of experts: top-k routing with capacity (GShard, arXiv:2006.16668)."""

from __future__ import annotations

import math
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
    """`choices` experts for each token; `slack` is the share of places to tokens times choices."""

    layers: int = 8
    width: int = 512
    heads: int = 8
    experts: int = 8
    choices: int = 2
    slack: float = 1.25
    balance: float = 0.01
    vocabulary: int = 32000
    sequence: int = 512
    batch: int = 8
    learning_rate: float = 1e-3

    @property
    def capacity(self) -> int:
        """Places of one expert for the tokens of one row."""
        return math.ceil(self.slack * self.choices * self.sequence / self.experts)


REAL = Config()
TINY = Config(layers=2, width=32, heads=4, experts=4, vocabulary=100, sequence=16, batch=2,
              learning_rate=1e-2)


def route(scores: jax.Array, choices: int, capacity: int
          ) -> tuple[jax.Array, jax.Array]:
    """From scores [batch, length, experts] to weights, and a measure of imbalance.

    The weights [batch, length, experts, capacity] say which place of which expert a token takes and
    how much its output counts. First choices of all tokens come before second ones, then earlier
    tokens before later ones; who finds no place left is dropped. The measure is the one of Switch
    (arXiv:2101.03961, eq. 4): 1 if balanced, the number of experts at worst.
    """
    experts = scores.shape[-1]
    probabilities = jax.nn.softmax(scores)
    gates, chosen = jax.lax.top_k(probabilities, choices)
    gates = gates / gates.sum(-1, keepdims=True)
    # [batch, choices, length, experts]: the order in which places are given away.
    wanted = jax.nn.one_hot(chosen, experts).swapaxes(1, 2)
    flat = wanted.reshape(wanted.shape[0], -1, experts)
    place = (jnp.cumsum(flat, axis=1) * flat - 1).reshape(wanted.shape)
    # Outside [0, capacity), one_hot is zero: not wanted, or no place left.
    places = jax.nn.one_hot(place.astype(jnp.int32), capacity)
    weights = jnp.einsum("bsk,bksec->bsec", gates, places)
    first = wanted[:, 0].mean((0, 1))
    return weights, experts * (first * probabilities.mean((0, 1))).sum()


def mixture(params: Params, x: jax.Array, config: Config) -> tuple[jax.Array, jax.Array]:
    """What the experts add to the residual stream, and the imbalance of their load."""
    x = common.layer_norm(params["norm"], x)
    weights, imbalance = route(x @ params["router"], config.choices, config.capacity)
    placed = (weights > 0).astype(x.dtype)
    inputs = jnp.einsum("bsec,bsd->ebcd", placed, x)
    hidden = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inputs, params["up"]))
    outputs = jnp.einsum("ebcf,efd->ebcd", hidden, params["down"])
    return jnp.einsum("bsec,ebcd->bsd", weights, outputs), imbalance


def init_layer(source: Source, config: Config) -> Params:
    """Attention, router and experts."""
    width, residual = config.width, transformer.residual_scale(config.layers)
    return {
        "attention": transformer.init_attention(source, width, residual),
        "mixture": {
            "norm": common.norm_init(width),
            "router": source.normal((width, config.experts), 0.02),
            "up": source.normal((config.experts, width, 4 * width), 0.02),
            "down": source.normal((config.experts, 4 * width, width), residual),
        },
    }


def init(source: Source, config: Config) -> Params:
    """All parameters."""
    return {
        "tokens": source.normal((config.vocabulary, config.width), 0.02),
        "positions": source.normal((config.sequence, config.width), 0.01),
        "layers": [init_layer(source, config) for _ in range(config.layers)],
        "norm": common.norm_init(config.width),
    }


def loss(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """Cross-entropy of tokens [batch, length + 1], and the imbalance of all layers."""
    x = params["tokens"][tokens[:, :-1]] + params["positions"]
    imbalance = jnp.float32(0)
    for layer in params["layers"]:
        x = x + transformer.attention(layer["attention"], x, config.heads, causal=True)
        y, layer_imbalance = mixture(layer["mixture"], x, config)
        x = x + y
        imbalance = imbalance + layer_imbalance
    logits = common.layer_norm(params["norm"], x) @ params["tokens"].T
    return common.cross_entropy(logits, tokens[:, 1:]) + config.balance * imbalance


def make(config: Config) -> Example:
    """The batch is int32 tokens [batch, sequence + 1]."""
    optimizer = AdamW(config.learning_rate)

    def draw_state(source: Source) -> State:
        return initial_state(source, partial(init, config=config), optimizer)

    def draw_batch(source: Source) -> Batch:
        return source.integers((config.batch, config.sequence + 1), config.vocabulary)

    return Example("mixture_of_experts", config,
                   train_step(partial(loss, config=config), optimizer), draw_state, draw_batch)
