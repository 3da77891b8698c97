# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which arguments are static and which are donated, as `jax.jit` has it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

import jax

Indices = int | Sequence[int] | None
Names = str | Iterable[str] | None


def _parameters(fn: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return []


def _resolve(fn: Callable[..., Any], indices: Indices, names: Names) -> tuple[set[int], set[str]]:
    """Both ways to name the same parameters, from one of them or both."""
    positions = {indices} if isinstance(indices, int) else set(indices or ())
    keywords = {names} if isinstance(names, str) else set(names or ())
    parameters = _parameters(fn)
    variadic = any(each.kind == each.VAR_POSITIONAL for each in parameters)
    positional = [
        each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if not variadic:
        positions = {index + len(positional) if index < 0 else index for index in positions}
    for index, parameter in enumerate(positional):
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD and index in positions:
            keywords.add(parameter.name)
        if parameter.name in keywords:
            positions.add(index)
    return positions, keywords


@dataclass(frozen=True)
class Leaves:
    """The arrays among the arguments of a call, in the order of pytrees.

    `call(fn, leaves)` calls `fn` with other leaves in the places of these.
    """

    values: list[Any]
    donated: list[bool]
    call: Callable[[Callable[..., Any], Sequence[Any]], Any]


class Arguments:
    """The static and the donated arguments of a function."""

    def __init__(
        self,
        fn: Callable[..., Any],
        static_argnums: Indices,
        static_argnames: Names,
        donate_argnums: Indices,
        donate_argnames: Names,
    ) -> None:
        self._static, self._static_names = _resolve(fn, static_argnums, static_argnames)
        self._donated, self._donated_names = _resolve(fn, donate_argnums, donate_argnames)

    def jit_options(self) -> dict[str, Any]:
        """The same for `jax.jit`."""
        return {
            "static_argnums": sorted(self._static),
            "static_argnames": sorted(self._static_names),
            "donate_argnums": sorted(self._donated),
            "donate_argnames": sorted(self._donated_names),
        }

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Leaves:
        """Takes the arrays out of the arguments of a call."""
        positional = {i: value for i, value in enumerate(args) if i not in self._static}
        keywords = {key: value for key, value in kwargs.items() if key not in self._static_names}
        values, tree = jax.tree.flatten((positional, keywords))
        donated = (
            {i: jax.tree.map(lambda _: i in self._donated, each) for i, each in positional.items()},
            {
                key: jax.tree.map(lambda _: key in self._donated_names, each)
                for key, each in keywords.items()
            },
        )

        def call(fn: Callable[..., Any], leaves: Sequence[Any]) -> Any:
            positional, keywords = jax.tree.unflatten(tree, leaves)
            filled = [positional.get(i, value) for i, value in enumerate(args)]
            return fn(*filled, **{**kwargs, **keywords})

        return Leaves(values, jax.tree.leaves(donated), call)
