# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What depends on the version of JAX, or is not public in it."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, Iterator, Sequence

from jax._src import config as _config
from jax._src import core as _core
from jax._src import mesh as _mesh
from jax._src import source_info_util as _source_info_util
from jax._src.interpreters import mlir as _mlir
from jax.extend.core import ClosedJaxpr
from jax.interpreters import mlir
from jaxlib.mlir import ir

try:
    from jax.extend.core import jaxprs_in_params
except ImportError:  # before 0.7
    from jax.core import jaxprs_in_params

__all__ = [
    "CPU_COMPILER_OPTIONS",
    "NamedAxisEffect",
    "hide_from_locations",
    "is_tracing",
    "jaxprs_in_params",
    "lower_for_one_device",
    "manual_context",
    "outside_of_shard_map",
    "splits_shapes",
]

NamedAxisEffect = _core.NamedAxisEffect

#: XLA:CPU drops optimization barriers before it merges equal operations, and so undoes every
#: recomputation (also that of `jax.checkpoint`), unless it is compiled with these options.
CPU_COMPILER_OPTIONS = {"xla_disable_hlo_passes": "cse_barrier_expander"}


def is_tracing() -> bool:
    """Whether some transformation of JAX (jit, grad, vmap, scan, ...) is tracing right now."""
    return not _core.trace_state_clean()


def splits_shapes(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether shapes are global and will be split, unlike in the body of `shard_map`."""
    context: Any = ctx.module_context.axis_context
    if isinstance(context, mlir.ShardingContext):
        return context.num_devices > 1
    if isinstance(context, mlir.SPMDAxisContext):
        sizes = context.mesh.shape.items()
        return any(size > 1 for name, size in sizes if name not in context.manual_axes)
    return False


def manual_context(ctx: mlir.LoweringRuleContext) -> Any:
    """What the body of `shard_map` that is being lowered knows of the devices; None elsewhere.

    It has the attributes `mesh` and `manual_axes`.
    """
    context: Any = ctx.module_context.axis_context
    return context if isinstance(context, mlir.SPMDAxisContext) else None


def lower_for_one_device(
    name: str, jaxpr: ClosedJaxpr, donated: Sequence[bool], platform: str, axis_context: Any
) -> ir.Module:
    """The module of a function with collectives, whose function `main` has shapes of one device."""
    options: dict[str, Any] = {
        "num_const_args": 0,
        "in_avals": jaxpr.in_avals,
        "name_stack": _source_info_util.NameStack(),
    }
    known = inspect.signature(_mlir.lower_jaxpr_to_module).parameters
    lowered: Any = _mlir.lower_jaxpr_to_module(
        name,
        jaxpr,
        ordered_effects=[],
        platforms=(platform,),
        backend=None,
        axis_context=axis_context,
        donated_args=list(donated),
        lowering_parameters=mlir.LoweringParameters(),
        **{key: value for key, value in options.items() if key in known},
    )
    module: ir.Module = lowered.module
    return module


@contextlib.contextmanager
def outside_of_shard_map() -> Iterator[None]:
    """What is traced meanwhile knows nothing of a `shard_map` that is being lowered."""
    axes = _core.trace_ctx.axis_env
    _core.trace_ctx.set_axis_env(_core.top_axis_env)
    try:
        with _mesh.use_abstract_mesh(_mesh.empty_abstract_mesh), _config._check_vma(False):
            yield
    finally:
        _core.trace_ctx.set_axis_env(axes)


def hide_from_locations(folder: str) -> None:
    """Source locations of operations are those of the user's code, not of files in `folder`."""
    _source_info_util.register_exclusion(folder)
