# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes out of a jaxpr what its results do not need, and results that are its arguments."""

from __future__ import annotations

from dataclasses import dataclass

from jax.extend.core import Jaxpr, Literal, Var


@dataclass(frozen=True)
class Pruned:
    """The rest of a jaxpr, without constants.

    `kept` are the indices of its arguments among the constants and arguments of the original,
    `computed` says for each result of the original whether it is a result of the rest.
    """

    jaxpr: Jaxpr
    kept: list[int]
    computed: list[bool]


def prune(jaxpr: Jaxpr) -> Pruned:
    """The part of a jaxpr that computes something. XLA never sees the others."""
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    passed_on = set(inputs)
    computed = [isinstance(each, Literal) or each not in passed_on for each in jaxpr.outvars]
    outputs = [each for each, flag in zip(jaxpr.outvars, computed) if flag]
    live = {each for each in outputs if isinstance(each, Var)}
    equations = []
    for equation in reversed(jaxpr.eqns):
        if any(output in live for output in equation.outvars):
            equations.append(equation)
            live.update(each for each in equation.invars if isinstance(each, Var))
    kept = [i for i, variable in enumerate(inputs) if variable in live]
    rest = jaxpr.replace(
        constvars=[],
        invars=[inputs[i] for i in kept],
        outvars=outputs,
        eqns=equations[::-1],
    )
    return Pruned(rest, kept, computed)
