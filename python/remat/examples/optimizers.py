# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Optimizers as pure functions over pytrees. Schedules of the learning rate are left to the caller.
"""AdamW, SGD with momentum, and clipping of gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp

Params = Any
Path = tuple[Any, ...]
"""Where an array is in the parameters, as `jax.tree_util` has it."""


class Optimizer(Protocol):
    """What a training step needs of an optimizer."""

    def init(self, params: Params) -> Any:
        """The state before the first step."""

    def update(self, params: Params, grads: Params, state: Any) -> tuple[Params, Any]:
        """New parameters and new state."""


def decays(path: Path) -> bool:
    """Weights decay; biases and scales of normalisations do not."""
    return path[-1].key not in ("bias", "scale")


@dataclass(frozen=True)
class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter, arXiv:1711.05101)."""

    learning_rate: float
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def init(self, params: Params) -> dict[str, Any]:
        """First and second moments at zero, and the number of steps done."""
        return {
            "count": jnp.zeros((), jnp.int32),
            "mean": jax.tree.map(jnp.zeros_like, params),
            "square": jax.tree.map(jnp.zeros_like, params),
        }

    def update(self, params: Params, grads: Params, state: dict[str, Any]
               ) -> tuple[Params, dict[str, Any]]:
        """One step: new parameters and new state."""
        count = state["count"] + 1
        mean = jax.tree.map(lambda m, g: self.beta1 * m + (1 - self.beta1) * g,
                            state["mean"], grads)
        square = jax.tree.map(lambda s, g: self.beta2 * s + (1 - self.beta2) * g * g,
                              state["square"], grads)
        # Both moments start at zero; these undo their bias towards it.
        mean_scale = 1 / (1 - self.beta1 ** count.astype(jnp.float32))
        square_scale = 1 / (1 - self.beta2 ** count.astype(jnp.float32))

        def apply(path: Path, p: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
            step = m * mean_scale / (jnp.sqrt(s * square_scale) + self.epsilon)
            if decays(path):
                step = step + self.weight_decay * p
            return p - self.learning_rate * step

        params = jax.tree_util.tree_map_with_path(apply, params, mean, square)
        return params, {"count": count, "mean": mean, "square": square}


@dataclass(frozen=True)
class SGD:
    """Gradient descent with momentum and weight decay."""

    learning_rate: float
    momentum: float = 0.9
    weight_decay: float = 0.0

    def init(self, params: Params) -> Params:
        """The velocities, at zero."""
        return jax.tree.map(jnp.zeros_like, params)

    def update(self, params: Params, grads: Params, state: Params) -> tuple[Params, Params]:
        """One step: new parameters and new velocities."""

        def accelerate(path: Path, p: jax.Array, g: jax.Array, v: jax.Array) -> jax.Array:
            if self.weight_decay and decays(path):
                g = g + self.weight_decay * p
            return self.momentum * v + g

        state = jax.tree_util.tree_map_with_path(accelerate, params, grads, state)
        params = jax.tree.map(lambda p, v: p - self.learning_rate * v, params, state)
        return params, state


@dataclass(frozen=True)
class Clipped:
    """Another optimizer on gradients whose common Euclidean norm is at most `limit`."""

    optimizer: Optimizer
    limit: float

    def init(self, params: Params) -> Any:
        """The state of the other optimizer."""
        return self.optimizer.init(params)

    def update(self, params: Params, grads: Params, state: Any) -> tuple[Params, Any]:
        """One step of the other optimizer; all gradients are scaled by the same number."""
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        scale = self.limit / jnp.maximum(norm, self.limit)
        return self.optimizer.update(params, jax.tree.map(lambda g: g * scale, grads), state)
