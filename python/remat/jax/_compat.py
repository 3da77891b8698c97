# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What depends on the version of JAX, or is not public in it."""

from __future__ import annotations

from typing import Any

from jax._src import core as _core
from jax._src import source_info_util as _source_info_util
from jax.interpreters import mlir

try:
    from jax.extend.core import jaxprs_in_params
except ImportError:  # before 0.7
    from jax.core import jaxprs_in_params

__all__ = [
    "CPU_COMPILER_OPTIONS",
    "hide_from_locations",
    "is_tracing",
    "jaxprs_in_params",
    "splits_shapes",
]

#: XLA:CPU drops optimization barriers before it merges equal operations, and so undoes every
#: recomputation (also that of `jax.checkpoint`), unless it is compiled with these options.
CPU_COMPILER_OPTIONS = {"xla_disable_hlo_passes": "cse_barrier_expander"}


def is_tracing() -> bool:
    """Whether some transformation of JAX (jit, grad, vmap, scan, ...) is tracing right now."""
    return not _core.trace_state_clean()


def splits_shapes(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether shapes are global and will be split among devices, unlike in the body of `shard_map`."""
    context: Any = ctx.module_context.axis_context
    if isinstance(context, mlir.ShardingContext):
        return context.num_devices > 1
    if isinstance(context, mlir.SPMDAxisContext):
        split = [size for name, size in context.mesh.shape.items() if name not in context.manual_axes]
        return any(size > 1 for size in split)
    return False


def hide_from_locations(folder: str) -> None:
    """Source locations of operations are those of the user's code, not of files in `folder`."""
    _source_info_util.register_exclusion(folder)
