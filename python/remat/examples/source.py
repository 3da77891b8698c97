# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where initial values and synthetic data come from. A step that needs random numbers has a key.
"""Random numbers from a seed, or only their shapes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

Shape = tuple[int, ...]


class Source:
    """A stream of random arrays. Drawn by NumPy: nothing has to be compiled for each shape.

    Without a seed all arrays are zeros of JAX, so that under `jax.eval_shape` nothing is allocated.
    """

    def __init__(self, seed: int | None) -> None:
        self._generator = None if seed is None else np.random.default_rng(seed)

    def normal(self, shape: Shape, scale: float = 1.0) -> jax.Array:
        """f32 with mean 0 and standard deviation `scale`."""
        if self._generator is None:
            return jnp.zeros(shape, jnp.float32)
        values = self._generator.standard_normal(shape, np.float32)
        values *= np.float32(scale)
        return jnp.asarray(values)

    def uniform(self, shape: Shape, low: float, high: float) -> jax.Array:
        """f32 in [low, high)."""
        if self._generator is None:
            return jnp.zeros(shape, jnp.float32)
        return jnp.asarray(self._generator.uniform(low, high, shape), jnp.float32)

    def integers(self, shape: Shape, end: int) -> jax.Array:
        """int32 in [0, end)."""
        if self._generator is None:
            return jnp.zeros(shape, jnp.int32)
        return jnp.asarray(self._generator.integers(0, end, shape, np.int32))

    def key(self) -> jax.Array:
        """A key for `jax.random`."""
        return jax.random.key(self.integers((), 2**31 - 1))
