# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Accumulation of gradients, and the perceptron as its example. GPT-2 has it as an option.
"""Gradients of a batch, computed one microbatch after the other by `lax.scan`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from remat.examples import perceptron
from remat.examples.example import Batch, Example, train_step


def value_and_grad(loss: Callable[[Any, Batch], jax.Array], microbatches: int
                   ) -> Callable[[Any, Batch], tuple[jax.Array, Any]]:
    """As `jax.value_and_grad(loss)` for a loss that is a mean over the batch (the first axes).

    ValueError: the batch does not divide into that many microbatches.
    """

    def split(x: jax.Array) -> jax.Array:
        if x.shape[0] % microbatches:
            raise ValueError(f"expected a batch that {microbatches} microbatches divide, "
                             f"but got {x.shape[0]}")
        return x.reshape(microbatches, x.shape[0] // microbatches, *x.shape[1:])

    def accumulated(params: Any, batch: Batch) -> tuple[jax.Array, Any]:
        def accumulate(total: Any, microbatch: Batch) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, jax.value_and_grad(loss)(params, microbatch)), None

        zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
        total, _ = jax.lax.scan(accumulate, zero, jax.tree.map(split, batch))
        return jax.tree.map(lambda x: x / microbatches, total)

    return accumulated


@dataclass(frozen=True)
class Config(perceptron.Config):
    """The perceptron, with a larger batch in parts."""

    batch: int = 64
    microbatches: int = 8


REAL = Config()
TINY = Config(inputs=64, hidden=256, outputs=64, batch=16, microbatches=4)


def make(config: Config) -> Example:
    """The step of the perceptron with accumulated gradients."""
    gradient = partial(value_and_grad, microbatches=config.microbatches)
    step = train_step(partial(perceptron.loss, config=config), perceptron.make_optimizer(config),
                      gradient)
    return Example("accumulation", config, step, partial(perceptron.draw_state, config=config),
                   partial(perceptron.draw_batch, config=config))
