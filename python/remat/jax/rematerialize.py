# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rematerialize`: a function of JAX that keeps a memory budget."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import types
import warnings
from typing import Any, Callable, Iterator, Mapping

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from remat.errors import InvalidInputError, RematWarning
from remat.jax import _compat, primitive
from remat.jax.arguments import Arguments, Indices, Names
from remat.jax.choose import (
    Choice,
    Settings,
    choose_by_measuring,
    choose_by_model,
)
from remat.jax.memory import Memory, alignment_of, memory_of
from remat.jax.program import Program, ProgramText, trace
from remat.jax.sharded import body_of, plan_body
from remat.report import Report
from remat.units import Budget, resolve_budget

_compat.hide_from_locations(os.path.dirname(__file__))


def _target_of(device: Any) -> str:
    """The cost model for a device."""
    if device.platform == "cpu":
        return "cpu"
    return "a100" if "A100" in device.device_kind else "h100"


def _is_of(device: Any, platform: str) -> bool:
    """Whether programs that are lowered for `platform` run on a device.

    Devices and lowering have two names for the platform of a GPU.
    """
    return bool((device.platform == "cpu") == (platform == "cpu"))


def _platform_of(leaves: list[Any]) -> str | None:
    """Where the arrays of a call are, if they say so."""
    for leaf in leaves:
        sharding = getattr(leaf, "sharding", None)
        if getattr(leaf, "committed", True) and isinstance(sharding, jax.sharding.Sharding):
            device: Any = next(iter(sharding.device_set))
            return str(device.platform)
    return None


class _Undecided(Exception):
    """Ends the lowering of a program that is to be planned outside of it.

    What is compiled while JAX lowers is compiled in another context, and again when it is called.
    """

    def __init__(self, program: Program, text: ProgramText) -> None:
        super().__init__("a program is not planned yet")
        self.program = program
        self.text = text


class Rematerialized:
    """A function that keeps a memory budget when it is compiled. See `rematerialize`."""

    def __init__(
        self,
        fn: Callable[..., Any],
        settings: Settings,
        arguments: Arguments,
        device: Any,
        compiler_options: Mapping[str, Any],
    ) -> None:
        functools.update_wrapper(self, fn)
        self.name = getattr(fn, "__name__", type(fn).__name__)
        self._fn = fn
        self._settings = settings
        self._arguments = arguments
        self._device = device
        self._compiler_options = compiler_options
        self._lock = threading.RLock()
        self._choices: dict[tuple[str, str], Choice] = {}
        # While a call is specialized: what the planner was asked, and what it said.
        self._specializing = False
        self._last_choice: Choice | None = None
        self._assumed: Choice | None = None
        self._inside = self._jit(alone=False, platform=None)
        self._planned = False
        self._outermost: Any = self._first_call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _compat.is_tracing():
            return self._inside(*args, **kwargs)
        return self._outermost(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Like `jax.jit(fn).lower`: plans, and returns what `.compile()` compiles.

        Arguments may be `jax.ShapeDtypeStruct`s, also on devices that are not there.
        """
        if not self._planned:
            self._specialize(args, kwargs)
        return self._outermost.lower(*args, **kwargs)

    def report(self, *args: Any, **kwargs: Any) -> Report:
        """Plans for these arguments, or shapes, and does not run."""
        choice = self._specialize(args, kwargs)
        if choice is None or choice.report is None:
            # Nothing is computed.
            return Report({"functions": [], "version": 1})
        return choice.report

    def optimized_text(self, *args: Any, **kwargs: Any) -> str | None:
        """The planned module, or None where the function stays as it is."""
        choice = self._specialize(args, kwargs)
        return choice.text if choice else None

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            if not self._planned:
                self._specialize(args, kwargs)
        return self._outermost(*args, **kwargs)

    def _jit(self, alone: bool, platform: str | None) -> Any:
        # A new function each time: JAX would find the lowering of the last one otherwise.
        @functools.wraps(self._fn)
        def step(*args: Any, **kwargs: Any) -> Any:
            leaves = self._arguments.flatten(args, kwargs)
            traced = trace(
                self.name,
                lambda *values: leaves.call(self._fn, values),
                leaves.values,
                leaves.donated,
            )
            if not traced.jaxpr.out_avals:
                return traced.finish([])
            how: dict[str, Any] = {"planner": self, "alone": alone}
            if body_of(traced.jaxpr.jaxpr) is None:
                results = primitive.bind(
                    traced.operands, jaxpr=traced.jaxpr, donated=traced.donated, **how
                )
            else:
                planned = plan_body(
                    traced.jaxpr.jaxpr,
                    traced.donated,
                    lambda equation, jaxpr, donated: primitive.equation_like(
                        equation, jaxpr, donated=donated, **how
                    ),
                )
                results = jaxpr_as_fun(ClosedJaxpr(planned, []))(*traced.operands)
            return traced.finish(results)

        options = self._options_for(platform) if alone else {}
        return jax.jit(step, compiler_options=options or None, **self._arguments.jit_options())

    def _options_for(self, platform: str | None) -> dict[str, Any]:
        options = dict(self._compiler_options)
        if platform == "cpu":
            for name, value in _compat.CPU_COMPILER_OPTIONS.items():
                given = options.get(name)
                options[name] = f"{given},{value}" if given else value
        return options

    def _specialize(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Choice | None:
        """Plans for these arguments, and says what was chosen; None where nothing is computed.

        The first time, what is compiled to measure it is the function that is called from then on,
        so that the chosen program is compiled already when it is called.
        """
        leaves = self._arguments.flatten(args, kwargs).values
        device = self._device
        platform = device.platform if device else _platform_of(leaves) or jax.default_backend()
        jitted: dict[str | None, Any] = {}

        def measure(choice: Choice) -> Memory:
            candidate = self._jit(alone=True, platform=platform)
            jitted[choice.text] = candidate
            with self._assuming(choice):
                return memory_of(candidate.lower(*args, **kwargs).compile())

        with self._lock:
            default = self._jit(alone=True, platform=platform)
            choice = self._lower_once(default, args, kwargs, measure)
            if not self._planned:
                self._outermost = jitted.get(choice.text if choice else None, default)
                self._planned = True
            return choice

    def _lower_once(
        self,
        jitted: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        measure: Callable[[Choice], Memory],
    ) -> Choice | None:
        """The choice for a call, made now if it has not been made before."""
        self._specializing, self._last_choice = True, None
        try:
            jitted.lower(*args, **kwargs)
            return self._last_choice
        except _Undecided as undecided:
            program, text = undecided.program, undecided.text
        finally:
            self._specializing = False
        # Outside of the handler: who gets an error of the planner is not shown how it was asked.
        choice = self._choose(program, text, measure)
        self._choices[text.identity, program.platform] = choice
        return choice

    @contextlib.contextmanager
    def _assuming(self, choice: Choice) -> Iterator[None]:
        """What is lowered meanwhile takes this choice."""
        self._assumed = choice
        try:
            yield
        finally:
            self._assumed = None

    def choose_text(self, program: Program, alone: bool) -> str | None:
        """The text of the module to execute, see `primitive.Planner`."""
        with self._lock:
            if self._assumed:
                return self._assumed.text
            text = program.text()
            key = (text.identity, program.platform)
            if key not in self._choices:
                if self._specializing:
                    raise _Undecided(program, text)
                self._choices[key] = self._choose(
                    program, text, lambda choice: memory_of(self._compile(program, text, choice))
                )
            choice = self._last_choice = self._choices[key]
        if choice.text is not None and not alone and program.platform == "cpu":
            self._warn_of_barriers()
        return choice.text

    def _warn_of_barriers(self) -> None:
        warnings.warn(
            f"'{self.name}' is rematerialized inside of another transformation on the CPU, where "
            "XLA undoes recomputation unless the outermost jax.jit has the argument "
            f"compiler_options={self._options_for('cpu')}",
            RematWarning,
            stacklevel=2,
        )

    def _choose(
        self, program: Program, text: ProgramText, measure: Callable[[Choice], Memory]
    ) -> Choice:
        if self._device and not _is_of(self._device, program.platform):
            raise InvalidInputError(
                f"'{self.name}' is lowered for the platform '{program.platform}', but device= is of "
                f"'{self._device.platform}'; give arguments that are on the device, such as "
                "jax.ShapeDtypeStruct(..., sharding=jax.sharding.SingleDeviceSharding(device))"
            )
        settings = self._settings_for(program.platform)
        if not settings.calibrate:
            return choose_by_model(text.mlir, settings)
        return choose_by_measuring(self.name, text.mlir, settings, measure)

    def _settings_for(self, platform: str) -> Settings:
        options = {**self._settings.options, "alignment": alignment_of(platform)}
        if "target" not in options:
            device = self._device_for(platform)
            named = "cpu" if platform == "cpu" else "h100"
            options["target"] = _target_of(device) if device else named
        return Settings(
            self._settings.budget, self._settings.calibrate, self._settings.progress, options
        )

    def _device_for(self, platform: str) -> Any:
        if self._device:
            return self._device
        try:
            return jax.local_devices(backend=platform)[0]
        except RuntimeError:
            return None

    def _compile(self, program: Program, text: ProgramText, choice: Choice) -> Any:
        mesh: Mesh | None = None
        sharding: Sharding
        if program.manual is None:
            sharding = SingleDeviceSharding(self._devices_for(program, 1)[0])
        else:
            mesh = self._mesh_for(program)
            sharding = NamedSharding(mesh, PartitionSpec())
            # The jaxpr would need the context in which it was traced.
            choice = Choice(choice.text or text.mlir)
        fixed = _Fixed(self.name, choice)

        def call(*operands: Any) -> list[Any]:
            return primitive.bind(
                operands, jaxpr=program.jaxpr, donated=program.donated, planner=fixed, alone=True
            )

        options = self._options_for(program.platform)
        with _compat.outside_of_shard_map():
            jitted = program.jit(call, mesh, compiler_options=options or None)
            return jitted.lower(*program.shapes(sharding)).compile()

    def _mesh_for(self, program: Program) -> Mesh:
        """A mesh to compile the body of `shard_map` for: its own, where that is one of devices."""
        mesh = program.manual.mesh
        if isinstance(mesh, Mesh) and _is_of(mesh.devices.flat[0], program.platform):
            return mesh
        shape = tuple(mesh.shape.values())
        return Mesh(np.array(self._devices_for(program, mesh.size)).reshape(shape), mesh.axis_names)

    def _devices_for(self, program: Program, count: int) -> list[Any]:
        """Devices to compile a program for."""
        if count == 1 and self._device:
            return [self._device]
        try:
            devices: list[Any] = jax.local_devices(backend=program.platform)
        except RuntimeError:
            devices = []
        if len(devices) < count:
            raise InvalidInputError(
                f"'{self.name}' is lowered for the platform '{program.platform}', of which "
                f"{len(devices)} of {count} devices are here to compile for; give a device of a "
                "topology as device=, a mesh of them to jax.shard_map, or calibrate=False"
            )
        return devices[:count]


class _Fixed:
    """A planner that has decided."""

    def __init__(self, name: str, choice: Choice) -> None:
        self.name = name
        self._choice = choice

    def choose_text(self, program: Program, alone: bool) -> str | None:
        return self._choice.text


def rematerialize(
    fn: Callable[..., Any] | None = None,
    budget: Budget = "8GB",
    *,
    device: Any = None,
    calibrate: bool = True,
    static_argnums: Indices = None,
    static_argnames: Names = None,
    donate_argnums: Indices = None,
    donate_argnames: Names = None,
    compiler_options: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    effort: int = 1,
    fusion: str = "auto",
    reorder: bool = True,
    models: str | os.PathLike[str] | None = None,
    profile: str | os.PathLike[str] | None = None,
) -> Any:
    """Makes `fn` keep a memory budget by recomputing what is cheapest to recompute.

        step = remat.jax.rematerialize(train_step, "8GB", donate_argnums=0)

    `fn` is any function that `jax.jit` takes and that computes gradients inside: a training step,
    or `jax.value_and_grad(loss)`. The result is called like `jax.jit(fn)`, computes the same, and
    also works inside of `jit`, `scan`, `vmap` and the body of `shard_map`. Of a function that is a
    `shard_map` the body is planned; the budget is one of each device.

    `budget` is what XLA reports for the compiled program: arguments + results + temporaries -
    aliased. It is bytes as an int, or a text such as "8GB", "4.5GiB" or "80%" of what the unchanged
    program takes. With `calibrate`, the unchanged program and up to four others are compiled until
    XLA's own figure keeps the budget; without, the planner's model of XLA decides alone. Where the
    unchanged program fits, it is used.

    `device` is a `jax.Device`, also one of a topology that is not there, or the name of the cost
    model: "h100", "a100", "cpu" or a file (docs/models-file.md). `static_*`, `donate_*` and
    `compiler_options` are those of `jax.jit`, which need not be used itself. `progress` shows or
    hides the bar (default: on a terminal). The other options are those of `remat.optimize`.

    Raises, when it is called first: `InfeasibleError` with the best figure where no plan fits,
    `UnsupportedError` for what cannot be planned, `InvalidInputError` for wrong options.
    """
    if fn is None:
        return functools.partial(
            rematerialize,
            budget=budget,
            device=device,
            calibrate=calibrate,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            compiler_options=compiler_options,
            progress=progress,
            effort=effort,
            fusion=fusion,
            reorder=reorder,
            models=models,
            profile=profile,
        )
    if not callable(fn):
        raise TypeError(f"expected a function, but got {type(fn).__name__}")
    # A wrong budget is an error here, not at the first step.
    resolve_budget(budget, 0)
    options: dict[str, Any] = {
        "effort": effort,
        "fusion": fusion,
        "locations": True,
        "reorder": reorder,
        "models": models,
        "profile": profile,
    }
    if isinstance(device, (str, os.PathLike)):
        device, options["target"] = None, device
    return Rematerialized(
        fn,
        Settings(budget, calibrate, progress, options),
        Arguments(fn, static_argnums, static_argnames, donate_argnums, donate_argnames),
        device,
        compiler_options or {},
    )
