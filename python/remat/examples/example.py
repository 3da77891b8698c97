# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What an example is: a pure training step with makers of its state and of its data.
"""The one interface that all models of the zoo share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

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
