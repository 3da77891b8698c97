# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step with its arguments, to be counted and planned and never compiled.

It becomes the same program as in `rematerialize`, so what is said of it holds there.
"""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import jax
from remat.errors import InvalidInputError
from remat.jax.arguments import Arguments, Indices, Names
from remat.jax.memory import alignment_of
from remat.jax.program import Program, trace
from remat.jax.rematerialize import Rematerialized, _platform_of, _target_of
from remat.jax.unsupported import UnsupportedError


@dataclass(frozen=True)
class Target:
    """Where a step would run: the platform that it is lowered for, and the cost model."""

    platform: str
    cost_model: str | os.PathLike[str]

    @property
    def options(self) -> dict[str, Any]:
        """The same for `remat.optimize` and `remat.memory_profile`."""
        return {"target": self.cost_model, "alignment": alignment_of(self.platform)}


def target_for(device: Any, leaves: Sequence[Any]) -> Target:
    """`device` is a `jax.Device`, the name or file of a cost model, or None: where the arrays are."""
    if device is None:
        platform = _platform_of(list(leaves)) or jax.default_backend()
        return Target(platform, "cpu" if platform == "cpu" else "h100")
    if isinstance(device, (str, os.PathLike)):
        # The named models but that of the CPU are of GPUs. A file does not say what it is for.
        named = {"cpu": "cpu", "a100": "cuda", "h100": "cuda"}
        return Target(named.get(os.fspath(device)) or target_for(None, leaves).platform, device)
    return Target(device.platform, _target_of(device))


@dataclass(frozen=True)
class Operand:
    """An array that the program reads, of the arguments or from outside of the function.

    `leaf` is its index among the arrays of the arguments, or None where it comes from outside. `path`
    is how people write it: `state['params']`.
    """

    path: str
    parameter: str
    leaf: int | None
    shape: tuple[int, ...]
    dtype: Any
    bytes: int
    donated: bool


def _type_of(value: Any) -> tuple[tuple[int, ...], str]:
    return tuple(value.shape), str(value.dtype)


def _bytes_of(aval: Any) -> int:
    size = 1
    for dimension in aval.shape:
        size *= dimension
    itemsize = getattr(aval.dtype, "itemsize", 0)
    # Small integers take a byte, as everywhere in the memory model.
    return size * max(int(itemsize), 1)


class Step:
    """A function for arguments of fixed shapes. `sizes` are its arrays without their contents."""

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        sizes: Sequence[jax.ShapeDtypeStruct],
        paths: Sequence[tuple[str, str]],
        donated: Sequence[bool],
        target: Target,
    ) -> None:
        self.name = name
        self.sizes = list(sizes)
        self.target = target
        self._call = call
        self._paths = list(paths)
        self._donated = list(donated)
        traced = trace(name, call, self.sizes, donated)
        self._jaxpr = traced.jaxpr
        leaf_of = {id(size): index for index, size in enumerate(self.sizes)}
        self.operands: list[Operand] = []
        for value, aval, flag in zip(traced.operands, traced.jaxpr.in_avals, traced.donated):
            leaf = leaf_of.get(id(value))
            path, parameter = ("an array from outside", "") if leaf is None else self._paths[leaf]
            self.operands.append(
                Operand(path, parameter, leaf, aval.shape, aval.dtype, _bytes_of(aval), flag)
            )

    @property
    def computes_something(self) -> bool:
        """Whether there is a program at all: what is only passed on is none."""
        return bool(self._jaxpr.out_avals)

    def text(self, donated: Sequence[bool] | None = None) -> str:
        """StableHLO, also as it would be with other operands donated."""
        flags = [each.donated for each in self.operands] if donated is None else donated
        program = Program(self.name, self._jaxpr, tuple(flags), self.target.platform)
        with warnings.catch_warnings():
            # JAX warns where it finds no result of the type of a donated array.
            warnings.simplefilter("ignore")
            text = program.text().mlir
        _refuse_split(self.name, text)
        return text

    def resized(self, leaves: Sequence[int], length: int) -> Step:
        """The step with another first dimension of some arrays, traced anew."""
        sizes = [
            jax.ShapeDtypeStruct((length, *size.shape[1:]), size.dtype)
            if index in leaves
            else jax.ShapeDtypeStruct(size.shape, size.dtype, weak_type=size.weak_type)
            for index, size in enumerate(self.sizes)
        ]
        return Step(self.name, self._call, sizes, self._paths, self._donated, self.target)

    def donatable(self, candidates: Sequence[bool]) -> list[bool]:
        """The operands that are donated, and those of the candidates whose type a result has that no
        other operand is donated for."""
        free = Counter(_type_of(aval) for aval in self._jaxpr.out_avals)
        free.subtract(_type_of(each) for each in self.operands if each.donated)
        flags = []
        for operand, candidate in zip(self.operands, candidates):
            take = candidate and not operand.donated and free[_type_of(operand)] > 0
            free[_type_of(operand)] -= take
            flags.append(operand.donated or take)
        return flags


def _refuse_split(name: str, text: str) -> None:
    partitions = re.search(r"mhlo\.num_partitions = (\d+)", text)
    if partitions and int(partitions.group(1)) > 1:
        raise UnsupportedError(
            f"'{name}' is compiled for several devices, among which its arrays are split: its shapes are "
            "not what one device holds; give the function that goes into jax.shard_map instead"
        )


def _sizes_of(name: str, values: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
    for value in values:
        sharding = getattr(value, "sharding", None)
        if isinstance(sharding, jax.sharding.Sharding) and len(sharding.device_set) > 1:
            raise UnsupportedError(
                f"'{name}' has arguments on {len(sharding.device_set)} devices, whose shapes are not what "
                "one device holds; give the shapes of one, and the function that goes into jax.shard_map"
            )
    return list(jax.eval_shape(lambda *each: each, *values))


def read_step(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    device: Any,
    static_argnums: Indices,
    static_argnames: Names,
    donate_argnums: Indices,
    donate_argnames: Names,
) -> Step:
    """Traces `fn(*args, **kwargs)`: a function, one of `jax.jit` or one of `rematerialize`.

    What the last two donate is donated. Raises what `rematerialize` raises for functions that cannot
    be planned.
    """
    if not callable(fn):
        raise TypeError(f"expected a function, but got {type(fn).__name__}")
    name = getattr(fn, "__name__", type(fn).__name__)
    function, jitted = fn, None
    if isinstance(fn, Rematerialized):
        arguments = fn._arguments
        function = fn.__wrapped__  # type: ignore[attr-defined]
    else:
        if hasattr(fn, "trace") and hasattr(fn, "__wrapped__"):
            function, jitted = fn.__wrapped__, fn
        arguments = Arguments(
            function, static_argnums, static_argnames, donate_argnums, donate_argnames
        )
    leaves = arguments.flatten(args, kwargs)
    sizes = _sizes_of(name, leaves.values)
    target = target_for(device, leaves.values)
    donated = list(leaves.donated)
    if jitted is not None:
        lowered = jitted.trace(*args, **kwargs).lower(lowering_platforms=(target.platform,))
        _refuse_split(name, lowered.as_text())
        flags = [info.donated for info in jax.tree.leaves(lowered.args_info)]
        if len(flags) != len(donated):
            raise InvalidInputError(
                f"'{name}' is jitted with static arguments; give the same static_argnums or "
                "static_argnames here"
            )
        donated = [given or own for given, own in zip(donated, flags)]
    paths = _paths_of(function, arguments, args, kwargs)
    return Step(
        name,
        lambda *values: leaves.call(function, values),
        sizes,
        paths,
        donated,
        target,
    )


def _parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names of the first parameters; `argument 2` where they have none."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = [each.name for each in parameters if each.kind != each.VAR_POSITIONAL]
    return [named[i] if i < len(named) else f"argument {i}" for i in range(count)]


def _paths_of(
    fn: Callable[..., Any], arguments: Arguments, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """For each array of the arguments how it is written, and the parameter that it belongs to."""
    options = arguments.jit_options()
    names = _parameter_names(fn, len(args))
    paths: list[tuple[str, str]] = []
    given: list[tuple[str, Any]] = [
        (names[i], value) for i, value in enumerate(args) if i not in options["static_argnums"]
    ]
    given += [
        (key, kwargs[key]) for key in sorted(kwargs) if key not in options["static_argnames"]
    ]
    for name, value in given:
        for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]:
            paths.append((name + jax.tree_util.keystr(path), name))
    return paths
