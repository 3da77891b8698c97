# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The registry of models, by name and size.
"""Training steps in plain JAX for tests, benchmarks and documentation.

    example = examples.get("gpt2", size="real", batch=8)
    step = jax.jit(example.step, donate_argnums=0)
    state, loss = step(example.make_state(0), example.make_batch(0))
"""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Any

from remat.examples import (accumulation, data_parallel, dropout, gpt2, lstm,
                            mixture_of_experts, perceptron, resnet50, unet, vit, yolo)
from remat.examples.example import Batch, Example, State

__all__ = ["Batch", "Example", "State", "get", "names"]

_MODELS: dict[str, ModuleType] = {
    "accumulation": accumulation,
    "data_parallel": data_parallel,
    "dropout": dropout,
    "gpt2": gpt2,
    "lstm": lstm,
    "mixture_of_experts": mixture_of_experts,
    "perceptron": perceptron,
    "resnet50": resnet50,
    "unet": unet,
    "vit": vit,
    "yolo": yolo,
}


def names() -> list[str]:
    """Names of all models, sorted."""
    return sorted(_MODELS)


def get(name: str, size: str = "tiny", **overrides: Any) -> Example:
    """A model: `tiny` steps within a second on a CPU, `real` is the size of its paper.

    `overrides` replace fields of the model's `Config`. ValueError: there is no such model, size or
    field.
    """
    if name not in _MODELS:
        raise ValueError(f"no example '{name}': there are {', '.join(names())}")
    sizes = {"tiny": _MODELS[name].TINY, "real": _MODELS[name].REAL}
    if size not in sizes:
        raise ValueError(f"no size '{size}': there are real, tiny")
    config = sizes[size]
    fields = sorted(field.name for field in dataclasses.fields(config))
    for field in overrides:
        if field not in fields:
            raise ValueError(f"'{name}' has no field '{field}': there are {', '.join(fields)}")
    return _MODELS[name].make(dataclasses.replace(config, **overrides))
