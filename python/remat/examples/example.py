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

State = Any
"""A pytree of arrays: parameters, state of the optimizer, statistics, keys."""
Batch = Any
"""A pytree of arrays: inputs and targets."""


@dataclass(frozen=True)
class Example:
    """A model with its optimizer.

    `step(state, batch)` returns `(state, loss)`: pure, to be jitted with `donate_argnums=0`. The
    new state has the structure, shapes and dtypes of the old one. `make_state(seed)` and
    `make_batch(seed)` allocate; the shapes come without any allocation.
    """

    name: str
    config: Any
    step: Callable[[State, Batch], tuple[State, jax.Array]]
    make_state: Callable[[int], State]
    make_batch: Callable[[int], Batch]

    def state_shapes(self) -> State:
        """`jax.ShapeDtypeStruct`s in the structure of the state."""
        return jax.eval_shape(self.make_state, 0)

    def batch_shapes(self) -> Batch:
        """`jax.ShapeDtypeStruct`s in the structure of the batch."""
        return jax.eval_shape(self.make_batch, 0)


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


def state_maker(init: Callable[[jax.Array], Any], optimizer: Optimizer) -> Callable[[int], State]:
    """From a seed to {"params", "optimizer"}."""

    def make_state(seed: int) -> State:
        params = init(jax.random.key(seed))
        return {"params": params, "optimizer": optimizer.init(params)}

    return make_state
