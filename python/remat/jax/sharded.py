# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are a `shard_map` and nothing else: what is planned is the body, for one device.

    f = shard_map(body)   becomes   shard_map(rematerialized(body))

The shapes outside are those of all devices together, and say nothing of what one of them holds.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Sequence

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from remat.jax.prune import prune

#: Makes an equation another one, which computes the same as a jaxpr with these operands donated.
Planned = Callable[[JaxprEqn, ClosedJaxpr, tuple[bool, ...]], JaxprEqn]


def _inner(jaxpr: Jaxpr) -> Jaxpr | None:
    """What a jaxpr consists of, if that is a `shard_map` or a jitted function and nothing else."""
    if len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive.name not in ("jit", "pjit", "shard_map"):
        return None
    inner: Jaxpr | ClosedJaxpr = jaxpr.eqns[0].params["jaxpr"]
    return inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner


def body_of(jaxpr: Jaxpr) -> Jaxpr | None:
    """The body of the `shard_map` that is all of a function; None for other functions."""
    inner = _inner(jaxpr)
    if inner is None or jaxpr.eqns[0].primitive.name == "shard_map":
        return inner
    return body_of(inner)


def plan_body(jaxpr: Jaxpr, donated: Sequence[bool], planned: Planned) -> Jaxpr:
    """A function that `body_of` knows, with a planned body. `donated` is of its arguments."""
    (equation,) = jaxpr.eqns
    inner = equation.params["jaxpr"]
    reads = Counter(each for each in [*equation.invars, *jaxpr.outvars] if isinstance(each, Var))
    # What is read twice is still needed where one of its readers overwrites it.
    free = {each for each, flag in zip(jaxpr.invars, donated) if flag and reads[each] == 1}
    passed = [isinstance(each, Var) and each in free for each in equation.invars]
    if equation.primitive.name == "shard_map":
        inner = _planned(inner, passed, planned)
    else:
        inner = inner.replace(jaxpr=plan_body(inner.jaxpr, passed, planned))
    made: Jaxpr = jaxpr.replace(
        eqns=[equation.replace(params={**equation.params, "jaxpr": inner})]
    )
    return made


def _planned(body: Jaxpr, donated: Sequence[bool], planned: Planned) -> Jaxpr:
    """The body with a single equation, or none where it computes nothing."""
    pruned = prune(body)
    # A result may be given twice, and needs no equation where it is a number.
    results = list(dict.fromkeys(each for each in pruned.jaxpr.outvars if isinstance(each, Var)))
    if not results:
        return body
    flags = tuple(donated[i] for i in pruned.kept)
    function = ClosedJaxpr(pruned.jaxpr.replace(outvars=results), [])
    equation = body.eqns[0].replace(invars=[*pruned.jaxpr.invars], outvars=results)
    made: Jaxpr = body.replace(eqns=[planned(equation, function, flags)])
    return made
