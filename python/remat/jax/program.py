# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function with fixed shapes as a program: its jaxpr, and its MLIR for one platform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.sharding import Mesh, PartitionSpec, Sharding
from remat.jax import _compat
from remat.jax.prune import prune
from remat.jax.sharded import body_of
from remat.jax.unsupported import check, check_inner_donation


@dataclass(frozen=True)
class Traced:
    """A function of arrays.

    It reads `operands`, and `jaxpr` computes what `finish` needs for the result.

    What the function does not read, and what it only passes on, is neither: XLA never sees it.
    """

    jaxpr: ClosedJaxpr
    operands: list[Any]
    donated: tuple[bool, ...]
    finish: Callable[[Sequence[Any]], Any]


def trace(
    name: str, fn: Callable[..., Any], leaves: Sequence[Any], donated: Sequence[bool]
) -> Traced:
    """Traces `fn(*leaves)`, any pytree of arrays. Arrays that it closes over become operands.

    Where the function is a `shard_map` and nothing else, its body is what can be planned, or not.
    """
    closed, shape = jax.make_jaxpr(fn, return_shape=True)(*leaves)
    jaxpr = closed.jaxpr
    check_inner_donation(name, jaxpr)
    check(name, body_of(jaxpr) or jaxpr)
    values = [*closed.consts, *leaves]
    flags = [False] * len(closed.consts) + list(donated)
    pruned = prune(jaxpr)

    def finish(results: Sequence[Any]) -> Any:
        rest = iter(results)
        passed_on = dict(zip([*jaxpr.constvars, *jaxpr.invars], values))
        outputs = [
            next(rest) if computed else passed_on[output]
            for computed, output in zip(pruned.computed, jaxpr.outvars)
        ]
        return jax.tree.unflatten(jax.tree.structure(shape), outputs)

    return Traced(
        ClosedJaxpr(pruned.jaxpr, []),
        [values[i] for i in pruned.kept],
        tuple(flags[i] for i in pruned.kept),
        finish,
    )


@dataclass(frozen=True)
class ProgramText:
    """MLIR with source locations, and without: what is traced in several places is the same."""

    mlir: str
    identity: str


@dataclass(frozen=True)
class Program:
    """A traced function for a platform ("cpu", "cuda", ...).

    In the body of `shard_map`, `manual` is what that knows of the devices, and shapes are those of
    one of them.
    """

    name: str
    jaxpr: ClosedJaxpr
    donated: tuple[bool, ...]
    platform: str
    manual: Any = None

    def jit(self, function: Callable[..., Any], mesh: Mesh | None = None, **options: Any) -> Any:
        """`function` of the operands, jitted like this program; on all devices of a mesh if one is
        given, each with the same operands."""

        def step(*operands: Any) -> Any:
            return function(*operands)

        step.__name__ = self.name
        if mesh is not None:
            everywhere = PartitionSpec()
            step = jax.shard_map(
                step, mesh=mesh, in_specs=everywhere, out_specs=everywhere, check_vma=False
            )
        donated = [i for i, flag in enumerate(self.donated) if flag]
        return jax.jit(step, keep_unused=True, donate_argnums=donated, **options)

    def shapes(self, sharding: Sharding | None = None) -> list[jax.ShapeDtypeStruct]:
        """The operands without data, where a sharding says if one is given."""
        shape_of: Any = jax.ShapeDtypeStruct
        return [
            shape_of(
                aval.shape,
                aval.dtype,
                sharding=sharding,
                weak_type=getattr(aval, "weak_type", False),
            )
            for aval in self.jaxpr.in_avals
        ]

    def text(self) -> ProgramText:
        """The program as StableHLO in generic form, as it is lowered for the platform.

        The module belongs to JAX, which would run it again: it is printed and never changed.
        """
        if self.manual is None:
            function = self.jit(jaxpr_as_fun(self.jaxpr))
            lowered = function.trace(*self.shapes()).lower(lowering_platforms=(self.platform,))
            operation = lowered.compiler_ir().operation
        else:
            # Collectives need to know the devices.
            operation = _compat.lower_for_one_device(
                self.name, self.jaxpr, self.donated, self.platform, self.manual
            ).operation
        return ProgramText(
            operation.get_asm(print_generic_op_form=True, enable_debug_info=True),
            operation.get_asm(print_generic_op_form=True),
        )
