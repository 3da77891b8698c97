# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX that keep a memory budget. docs/jax.md shows how."""

from remat.jax.explain import explain
from remat.jax.explanation import Advice, Explanation
from remat.jax.largest_batch import BatchRow, LargestBatch, largest_batch
from remat.jax.rematerialize import Rematerialized, rematerialize
from remat.jax.unsupported import UnsupportedError

__all__ = [
    "Advice",
    "BatchRow",
    "Explanation",
    "LargestBatch",
    "Rematerialized",
    "UnsupportedError",
    "explain",
    "largest_batch",
    "rematerialize",
]
