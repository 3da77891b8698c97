# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles steps for devices that need not be there, each once: figures are kept in files."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hlo
import jax
from jax.interpreters import mlir
from jax.sharding import SingleDeviceSharding
from jaxlib.mlir import ir

from remat.jax.memory import Memory, memory_of

# Of what is kept in files: another way to count needs another number.
_VERSION = 1


@dataclass(frozen=True)
class Figures:
    """What XLA says of a program."""

    memory: Memory
    counts: hlo.Counts


class Step:
    """A step with donated state, lowered for a device. Its `description` tells devices apart."""

    def __init__(self, example: Any, device: Any, description: str) -> None:
        sharding = SingleDeviceSharding(device)
        shapes = [
            jax.tree.map(
                lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding,
                                               weak_type=getattr(x, "weak_type", False)), tree)
            for tree in (example.state_shapes(), example.batch_shapes())
        ]
        self.description = description
        self._lowered: Any = jax.jit(example.step, donate_argnums=0).lower(*shapes)
        # The module belongs to JAX: it is printed and never changed.
        module = self._lowered.compiler_ir().operation
        self.text: str = module.get_asm(print_generic_op_form=True)

    def compile(self, text: str | None, options: dict[str, Any]) -> Any:
        """Compiles another module with the same arguments and results, or this one without."""
        lowered = copy.copy(self._lowered)
        if text is not None:
            lowered._lowering = copy.copy(lowered._lowering)
            # What has been compiled is not this module.
            lowered._lowering._executable = None
            with mlir.make_ir_context():
                lowered._lowering._hlo = ir.Module.parse(text)
        return lowered.compile(compiler_options=options or None)


class Compiler:
    """Compiles with `options` of XLA and keeps figures as JSON in the folder `cache`, if given.

    `progress` is told what is compiled, and the seconds that it took.
    """

    def __init__(self, cache: str | None, options: dict[str, Any],
                 progress: Callable[[str], None]) -> None:
        self._cache, self._options, self._progress = cache, options, progress

    def figures(self, step: Step, text: str | None = None) -> Figures:
        """Figures of the step, or of another module in its place."""
        path = self._path(step, text)
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                known = json.load(file)
            return Figures(Memory(**known["memory"]), hlo.Counts(**known["counts"]))
        started = time.monotonic()
        compiled = step.compile(text, self._options)
        figures = Figures(memory_of(compiled), hlo.count(compiled.as_text()))
        self._progress(f"compiled in {time.monotonic() - started:.0f} s")
        if path:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # An interrupt must not leave half a file.
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(dataclasses.asdict(figures), file)
            os.replace(path + ".new", path)
        return figures

    def _path(self, step: Step, text: str | None) -> str | None:
        if not self._cache:
            return None
        program = step.text if text is None else text
        key = json.dumps([_VERSION, importlib.metadata.version("jaxlib"), step.description,
                          self._options, program], sort_keys=True)
        return os.path.join(self._cache, hashlib.sha256(key.encode()).hexdigest() + ".json")
