# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What an example is, and how one is made of a loss and an optimizer.
"""The one interface that all models of the zoo share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from remat.examples.optimizers import Optimizer
from remat.examples.source import Source

State = Any
"""A pytree of arrays: parameters, state of the optimizer, statistics, keys."""
Batch = Any
"""A pytree of arrays: inputs and targets."""


@dataclass(frozen=True)
class Example:
    """A model with its optimizer.

    `step(state, batch)` returns `(state, loss)`: pure, to be jitted with `donate_argnums=0`. The
    new state has the structure, shapes and dtypes of the old one.
    """

    name: str
    config: Any
    step: Callable[[State, Batch], tuple[State, jax.Array]]
    draw_state: Callable[[Source], State]
    draw_batch: Callable[[Source], Batch]

    def make_state(self, seed: int) -> State:
        """The state before the first step."""
        return self.draw_state(Source(seed))

    def make_batch(self, seed: int) -> Batch:
        """Synthetic data."""
        return self.draw_batch(Source(seed))

    def state_shapes(self) -> State:
        """`jax.ShapeDtypeStruct`s in the structure of the state; nothing is allocated."""
        return jax.eval_shape(lambda: self.draw_state(Source(None)))

    def batch_shapes(self) -> Batch:
        """`jax.ShapeDtypeStruct`s in the structure of the batch; nothing is allocated."""
        return jax.eval_shape(lambda: self.draw_batch(Source(None)))


def train_step(loss: Callable[..., jax.Array], optimizer: Optimizer,
               gradient: Callable[..., Callable[..., Any]] = jax.value_and_grad
               ) -> Callable[[State, Batch], tuple[State, jax.Array]]:
    """A step over {"params", "optimizer"}; `loss(params, batch)`, differentiated by `gradient`."""

    def step(state: State, batch: Batch) -> tuple[State, jax.Array]:
        value, grads = gradient(loss)(state["params"], batch)
        params, moments = optimizer.update(state["params"], grads, state["optimizer"])
        return {"params": params, "optimizer": moments}, value

    return step


def train_step_with_statistics(loss: Callable[..., tuple[jax.Array, Any]], optimizer: Optimizer
                               ) -> Callable[[State, Batch], tuple[State, jax.Array]]:
    """A step over {"params", "optimizer", "statistics"}.

    `loss(params, statistics, batch)` returns `(loss, statistics)`: the running statistics of batch
    normalisation take no part in the gradient.
    """

    def step(state: State, batch: Batch) -> tuple[State, jax.Array]:
        (value, statistics), grads = jax.value_and_grad(loss, has_aux=True)(
            state["params"], state["statistics"], batch)
        params, moments = optimizer.update(state["params"], grads, state["optimizer"])
        return {"params": params, "optimizer": moments, "statistics": statistics}, value

    return step


def initial_state(source: Source, init: Callable[[Source], Any], optimizer: Optimizer) -> State:
    """{"params", "optimizer"} before the first step."""
    params = init(source)
    return {"params": params, "optimizer": jax.jit(optimizer.init)(params)}
