# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX that the planner cannot see through, refused in words of our own."""

from __future__ import annotations

from typing import Iterator

from jax.extend.core import Jaxpr, JaxprEqn
from remat.errors import RematError
from remat.jax._compat import NamedAxisEffect, jaxprs_in_params


class UnsupportedError(RematError, NotImplementedError):
    """The function does what cannot be planned; the message says what, and what to do instead."""


# What calls back into Python: the program holds an address in this process, and how often and
# when it is called matters.
_CALLBACKS = {
    "debug_callback": "jax.debug.callback",
    "debug_print": "jax.debug.print",
    "io_callback": "jax.experimental.io_callback",
    "pure_callback": "jax.pure_callback",
}


def _equations(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    for equation in jaxpr.eqns:
        yield equation
        for inner in jaxprs_in_params(equation.params):
            yield from _equations(inner)


def check(name: str, jaxpr: Jaxpr) -> None:
    """Refuses host callbacks, effects, unknown sizes and meshes with UnsupportedError."""
    for equation in _equations(jaxpr):
        primitive = equation.primitive.name
        if primitive in _CALLBACKS:
            raise UnsupportedError(
                f"'{name}' calls back into Python with '{primitive}' ({_CALLBACKS[primitive]}), "
                "which cannot be planned; call it outside of the function, on what that returns"
            )
        if primitive == "shard_map":
            raise UnsupportedError(
                f"'{name}' contains 'shard_map' beside other operations, whose shapes are those of "
                "one device inside and of all devices outside; wrap the function that goes into "
                "shard_map instead"
            )
    for effect in jaxpr.effects:
        # Collectives only say which axis they need.
        if not isinstance(effect, NamedAxisEffect):
            raise UnsupportedError(
                f"'{name}' has the effect {effect}, which cannot be planned; only functions "
                "without effects can"
            )
    for variable in [*jaxpr.invars, *jaxpr.outvars]:
        shape = getattr(variable.aval, "shape", ())
        if not all(isinstance(size, int) for size in shape):
            raise UnsupportedError(
                f"'{name}' has the shape {shape}, whose size is not known; "
                "bytes need shapes that are numbers"
            )


def check_inner_donation(name: str, jaxpr: Jaxpr) -> None:
    """Refuses a jitted function that donates: JAX forgets that inside of another function."""
    if len(jaxpr.eqns) == 1 and any(jaxpr.eqns[0].params.get("donated_invars", ())):
        raise UnsupportedError(
            f"'{name}' is jitted and donates arguments, which has no effect inside of another "
            "function; give donate_argnums or donate_argnames to remat.jax.rematerialize"
        )
