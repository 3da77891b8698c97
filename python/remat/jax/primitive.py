# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The primitive that stands for a planned function in a trace of JAX.

It is planned when it is lowered, for the platform and the shapes that are known then. So whatever
JAX does around it (an outer jit, scan, eval_shape, ahead of time compilation) works as usual, and a
function is never planned in vain.

    jaxpr    what is computed, without constants
    donated  which operands may be overwritten
    planner  chooses the program, see choose.py
    alone    whether the whole compiled program is this one, with our compiler options
"""

from __future__ import annotations

from typing import Any, Protocol, Sequence

import jax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func
from remat.jax import _compat
from remat.jax.program import Program
from remat.jax.unsupported import UnsupportedError


class Planner(Protocol):
    """Chooses what is executed."""

    name: str

    def choose_text(self, program: Program, alone: bool) -> str | None:
        """The module to execute in place of the program, or None for the program as it is."""


rematerialized_p: Any = Primitive("rematerialized")
rematerialized_p.multiple_results = True


def bind(
    operands: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    donated: tuple[bool, ...],
    planner: Planner,
    alone: bool,
) -> list[Any]:
    """The results of the function on these operands."""
    results: list[Any] = rematerialized_p.bind(
        *operands, jaxpr=jaxpr, donated=donated, planner=planner, alone=alone
    )
    return results


def equation_like(equation: JaxprEqn, jaxpr: ClosedJaxpr, **parameters: Any) -> JaxprEqn:
    """An equation for the primitive, with the operands and results of another one."""
    made: JaxprEqn = equation.replace(
        primitive=rematerialized_p,
        params={"jaxpr": jaxpr, **parameters},
        effects=jaxpr.effects,
    )
    return made


def _abstract_eval(*_: Any, jaxpr: ClosedJaxpr, **__: Any) -> tuple[list[Any], Any]:
    return jaxpr.out_avals, jaxpr.effects


rematerialized_p.def_effectful_abstract_eval(_abstract_eval)


def _run(*operands: Any, **parameters: Any) -> list[Any]:
    results: list[Any] = jax.jit(lambda *each: bind(each, **parameters))(*operands)
    return results


rematerialized_p.def_impl(_run)


def _batch(
    axis: Any,
    operands: Sequence[Any],
    axes: Sequence[int | None],
    *,
    jaxpr: ClosedJaxpr,
    donated: tuple[bool, ...],
    planner: Planner,
    alone: bool,
) -> tuple[list[Any], list[int]]:
    """Under vmap, the function of all rows together is planned."""
    mapped = jax.vmap(
        jaxpr_as_fun(jaxpr),
        in_axes=tuple(axes),
        axis_name=axis.name,
        spmd_axis_name=axis.spmd_name,
    )
    whole = jax.make_jaxpr(mapped)(*operands)
    results = bind(operands, jaxpr=whole, donated=donated, planner=planner, alone=alone)
    return results, [0] * len(results)


# The kind of rule that knows the name of the axis, for collectives over it.
batching.fancy_primitive_batchers[rematerialized_p] = _batch


def _differentiate(*_: Any, planner: Planner, **__: Any) -> Any:
    raise UnsupportedError(
        f"'{planner.name}' is rematerialized and cannot be differentiated any more; wrap the "
        "function that computes gradients: "
        f"remat.jax.rematerialize(jax.value_and_grad({planner.name}), ...)"
    )


ad.primitive_jvps[rematerialized_p] = _differentiate


def _lower(
    ctx: mlir.LoweringRuleContext,
    *operands: Any,
    jaxpr: ClosedJaxpr,
    donated: tuple[bool, ...],
    planner: Planner,
    alone: bool,
) -> Sequence[Any]:
    platforms = tuple(ctx.module_context.platforms)
    if len(platforms) != 1:
        raise UnsupportedError(
            f"'{planner.name}' is lowered for the platforms {platforms} at once; a plan is for one"
        )
    if _compat.splits_shapes(ctx):
        raise UnsupportedError(
            f"'{planner.name}' is compiled for several devices, among which its arrays are split: "
            "its shapes are not what one device holds; use it inside of jax.shard_map, where they "
            "are"
        )
    manual = _compat.manual_context(ctx)
    if jaxpr.effects and manual is None:
        raise UnsupportedError(
            f"'{planner.name}' has collectives over named axes, which can only be planned in the "
            "body of jax.shard_map"
        )
    program = Program(planner.name, jaxpr, donated, platforms[0], manual)
    text = planner.choose_text(program, alone)
    if text is None:
        lower = mlir.lower_fun(jaxpr_as_fun(jaxpr), multiple_results=True)
        results: Sequence[Any] = lower(ctx, *operands)
        return results
    return _call(ctx, planner.name, text, operands)


mlir.register_lowering(rematerialized_p, _lower)


def _call(
    ctx: mlir.LoweringRuleContext, name: str, text: str, operands: Sequence[Any]
) -> Sequence[Any]:
    """Calls the function `main` of a module, which becomes a part of the one that is lowered."""
    context = ctx.module_context
    module = ir.Module.parse(text, context.context)
    main: Any = ir.SymbolTable(module.operation)["main"]
    results = main.type.results
    # Aliasing is between the arguments and results of the outermost function.
    for attribute in ("arg_attrs", "res_attrs"):
        if attribute in main.attributes:
            del main.attributes[attribute]
    symbol = mlir.merge_mlir_modules(
        context.module, f"rematerialized_{name}", module, dst_symtab=context.symbol_table
    )
    call = func.CallOp(results, ir.FlatSymbolRefAttr.get(symbol), list(operands))
    return call.results
