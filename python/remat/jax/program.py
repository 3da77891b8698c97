# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function with fixed shapes as a program: its jaxpr, and its MLIR for one platform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

import jax
from jax.extend.core import ClosedJaxpr, Literal, Var, jaxpr_as_fun
from jax.sharding import SingleDeviceSharding
from remat.jax.unsupported import check, check_inner_donation


@dataclass(frozen=True)
class Traced:
    """A function of arrays. It reads `operands`, and `jaxpr` computes what `finish` needs for the result.

    What the function does not read, and what it only passes on, is neither: XLA never sees it.
    """

    jaxpr: ClosedJaxpr
    operands: list[Any]
    donated: tuple[bool, ...]
    finish: Callable[[Sequence[Any]], Any]


def trace(
    name: str, fn: Callable[..., Any], leaves: Sequence[Any], donated: Sequence[bool]
) -> Traced:
    """Traces `fn(*leaves)`, any pytree of arrays. Arrays that it closes over become operands."""
    closed, shape = jax.make_jaxpr(fn, return_shape=True)(*leaves)
    jaxpr = closed.jaxpr
    check_inner_donation(name, jaxpr)
    check(name, jaxpr)
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    values = [*closed.consts, *leaves]
    flags = [False] * len(closed.consts) + list(donated)

    passed_on = {variable: value for variable, value in zip(inputs, values)}
    computed: list[Any] = []
    for output in jaxpr.outvars:
        if isinstance(output, Literal) or output not in passed_on:
            computed.append(output)
    live = {output for output in computed if isinstance(output, Var)}
    equations = []
    for equation in reversed(jaxpr.eqns):
        if any(output in live for output in equation.outvars):
            equations.append(equation)
            live.update(each for each in equation.invars if isinstance(each, Var))
    kept = [i for i, variable in enumerate(inputs) if variable in live]
    pruned = jaxpr.replace(
        constvars=[],
        invars=[inputs[i] for i in kept],
        outvars=computed,
        eqns=equations[::-1],
    )

    def finish(results: Sequence[Any]) -> Any:
        rest = iter(results)
        outputs = [
            next(rest) if isinstance(output, Literal) or output not in passed_on else passed_on[output]
            for output in jaxpr.outvars
        ]
        return jax.tree.unflatten(jax.tree.structure(shape), outputs)

    return Traced(
        ClosedJaxpr(pruned, []),
        [values[i] for i in kept],
        tuple(flags[i] for i in kept),
        finish,
    )


@dataclass(frozen=True)
class ProgramText:
    """MLIR with source locations, and without: the same program may be traced from several places."""

    mlir: str
    identity: str


@dataclass(frozen=True)
class Program:
    """A traced function for a platform ("cpu", "cuda", ...)."""

    name: str
    jaxpr: ClosedJaxpr
    donated: tuple[bool, ...]
    platform: str

    def jit(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` of the operands, jitted like this program."""

        def step(*operands: Any) -> Any:
            return function(*operands)

        step.__name__ = self.name
        donated = [i for i, flag in enumerate(self.donated) if flag]
        return jax.jit(step, keep_unused=True, donate_argnums=donated, **options)

    def shapes(self, device: Any = None) -> list[jax.ShapeDtypeStruct]:
        """The operands without data, on a device if one is given."""
        sharding = SingleDeviceSharding(device) if device is not None else None
        return [
            jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)
            if hasattr(aval, "weak_type")
            else jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding)
            for aval in self.jaxpr.in_avals
        ]

    def text(self) -> ProgramText:
        """The program as StableHLO in generic form, as it is lowered for the platform.

        The module belongs to JAX, which would run it again: it is printed and never changed.
        """
        function = self.jit(jaxpr_as_fun(self.jaxpr))
        lowered = function.trace(*self.shapes()).lower(lowering_platforms=(self.platform,))
        operation = lowered.compiler_ir().operation
        return ProgramText(
            operation.get_asm(print_generic_op_form=True, enable_debug_info=True),
            operation.get_asm(print_generic_op_form=True),
        )
