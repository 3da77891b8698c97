# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX that keep a memory budget. docs/jax.md shows how."""

from remat.jax.rematerialize import Rematerialized, rematerialize
from remat.jax.unsupported import UnsupportedError

__all__ = ["Rematerialized", "UnsupportedError", "rematerialize"]
