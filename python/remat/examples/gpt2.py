# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GPT-2 with full logits, explicit attention scores and a tied head. No dropout.
"""GPT-2 (Radford et al., 2019): a causal transformer, small by default."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from remat.examples import common
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State
from remat.examples.optimizers import AdamW


@dataclass(frozen=True)
class Config:
    """GPT-2 small. `compute_dtype="bfloat16"` is mixed precision with f32 master parameters."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    vocabulary: int = 50257
    sequence: int = 1024
    batch: int = 4
    learning_rate: float = 6e-4
    weight_decay: float = 0.1
    compute_dtype: str = "float32"
    scan_layers: bool = False
    remat_layers: bool = False
    remat_policy: str | None = None

    @property
    def padded_vocabulary(self) -> int:
        """Rows of the embedding: a multiple of 128 suits matrix units (50304 for 50257)."""
        return -(-self.vocabulary // 128) * 128


REAL = Config()
TINY = Config(layers=3, width=32, heads=4, vocabulary=250, sequence=32, batch=2,
              learning_rate=1e-2)


def init_layer(key: jax.Array, config: Config) -> Params:
    """Parameters of one layer."""
    keys = jax.random.split(key, 4)
    width = config.width
    # What is added to the residual stream is scaled down by the number of such additions.
    residual = 0.02 * (2 * config.layers) ** -0.5
    return {
        "norm1": common.norm_init(width),
        "qkv": common.dense_init(keys[0], width, 3 * width, 0.02),
        "out": common.dense_init(keys[1], width, width, residual),
        "norm2": common.norm_init(width),
        "up": common.dense_init(keys[2], width, 4 * width, 0.02),
        "down": common.dense_init(keys[3], 4 * width, width, residual),
    }


def init(key: jax.Array, config: Config) -> Params:
    """All parameters; with `scan_layers` those of the layers are stacked along a first axis."""
    token_key, position_key, layer_key = jax.random.split(key, 3)
    layer_keys = jax.random.split(layer_key, config.layers)
    if config.scan_layers:
        layers = jax.vmap(lambda k: init_layer(k, config))(layer_keys)
    else:
        layers = [init_layer(k, config) for k in layer_keys]
    return {
        "tokens": common.normal(token_key, (config.padded_vocabulary, config.width), 0.02),
        "positions": common.normal(position_key, (config.sequence, config.width), 0.01),
        "layers": layers,
        "norm": common.norm_init(config.width),
    }


def layer(params: Params, x: jax.Array, heads: int) -> jax.Array:
    """One layer, normalised before attention and before the perceptron."""
    mixed = common.attention(
        common.dense(params["qkv"], common.layer_norm(params["norm1"], x)), heads, causal=True)
    x = x + common.dense(params["out"], mixed)
    hidden = common.dense(params["up"], common.layer_norm(params["norm2"], x))
    return x + common.dense(params["down"], jax.nn.gelu(hidden, approximate=True))


def logits(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """int32 tokens [batch, length] -> [batch, length, padded vocabulary]."""
    params = common.cast(params, config.compute_dtype)
    apply = common.rematerialised(
        lambda p, x: layer(p, x, config.heads), config.remat_layers, config.remat_policy)
    x = params["tokens"][tokens] + params["positions"][: tokens.shape[1]]
    if config.scan_layers:
        x, _ = jax.lax.scan(lambda x, p: (apply(p, x), None), x, params["layers"])
    else:
        for layer_params in params["layers"]:
            x = apply(layer_params, x)
    return common.layer_norm(params["norm"], x) @ params["tokens"].T


def make(config: Config) -> Example:
    """The batch is int32 tokens [batch, sequence + 1]: each token but the last predicts the next."""
    optimizer = AdamW(config.learning_rate, config.weight_decay, beta2=0.95)

    def loss(params: Params, tokens: jax.Array) -> jax.Array:
        return common.cross_entropy(logits(params, tokens[:, :-1], config), tokens[:, 1:])

    def step(state: State, batch: Batch) -> tuple[State, jax.Array]:
        value, grads = jax.value_and_grad(loss)(state["params"], batch)
        params, moments = optimizer.update(state["params"], grads, state["optimizer"])
        return {"params": params, "optimizer": moments}, value

    def make_state(seed: int) -> State:
        params = init(jax.random.key(seed), config)
        return {"params": params, "optimizer": optimizer.init(params)}

    def make_batch(seed: int) -> Batch:
        shape = (config.batch, config.sequence + 1)
        return jax.random.randint(jax.random.key(seed), shape, 0, config.vocabulary, jnp.int32)

    return Example("gpt2", config, step, make_state, make_batch)
