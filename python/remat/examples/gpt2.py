# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GPT-2 with full logits, explicit attention scores and a tied head. No dropout.
"""GPT-2 (Radford et al., 2019): a causal transformer, small by default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from remat.examples import accumulation, common, transformer
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State, initial_state, train_step
from remat.examples.optimizers import AdamW
from remat.examples.source import Source


@dataclass(frozen=True)
class ModelConfig:
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


@dataclass(frozen=True)
class Config(ModelConfig):
    """More than one microbatch accumulates gradients."""

    microbatches: int = 1


REAL = Config()
TINY = Config(layers=3, width=32, heads=4, vocabulary=250, sequence=32, batch=2,
              learning_rate=1e-2)


def init(source: Source, config: ModelConfig) -> Params:
    """All parameters; with `scan_layers` those of the layers are stacked along a first axis."""
    layers = [transformer.init_layer(source, config.width, config.layers)
              for _ in range(config.layers)]
    if config.scan_layers:
        layers = jax.tree.map(lambda *parts: jnp.stack(parts), *layers)
    return {
        "tokens": source.normal((config.padded_vocabulary, config.width), 0.02),
        "positions": source.normal((config.sequence, config.width), 0.01),
        "layers": layers,
        "norm": common.norm_init(config.width),
    }


def logits(params: Params, tokens: jax.Array, config: ModelConfig) -> jax.Array:
    """int32 tokens [batch, length] -> [batch, length, padded vocabulary]."""
    params = common.cast(params, config.compute_dtype)
    layer = common.rematerialised(
        partial(transformer.layer, heads=config.heads, causal=True, activation=jax.nn.gelu),
        config.remat_layers, config.remat_policy)
    x = params["tokens"][tokens] + params["positions"][: tokens.shape[1]]
    if config.scan_layers:
        x, _ = jax.lax.scan(lambda x, p: (layer(p, x), None), x, params["layers"])
    else:
        for layer_params in params["layers"]:
            x = layer(layer_params, x)
    return common.layer_norm(params["norm"], x) @ params["tokens"].T


def loss(params: Params, tokens: jax.Array, config: ModelConfig) -> jax.Array:
    """Of tokens [batch, length + 1]: each but the last predicts the next."""
    return common.cross_entropy(logits(params, tokens[:, :-1], config), tokens[:, 1:])


def draw_batch(source: Source, config: ModelConfig) -> Batch:
    """int32 tokens [batch, sequence + 1]."""
    return source.integers((config.batch, config.sequence + 1), config.vocabulary)


def make_optimizer(config: ModelConfig) -> AdamW:
    """AdamW with the usual second momentum of language models."""
    return AdamW(config.learning_rate, config.weight_decay, beta2=0.95)


def draw_state(source: Source, config: ModelConfig) -> State:
    """The state before the first step."""
    return initial_state(source, partial(init, config=config), make_optimizer(config))


def make(config: Config) -> Example:
    """The batch is int32 tokens [batch, sequence + 1]."""
    gradient = jax.value_and_grad
    if config.microbatches > 1:
        gradient = partial(accumulation.value_and_grad, microbatches=config.microbatches)
    step = train_step(partial(loss, config=config), make_optimizer(config), gradient)
    return Example("gpt2", config, step, partial(draw_state, config=config),
                   partial(draw_batch, config=config))
