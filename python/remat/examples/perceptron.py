# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The smallest model: what a reader can check by hand.
"""A perceptron with one hidden layer and a mean squared error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax

from remat.examples import common
from remat.examples.common import Params
from remat.examples.example import Batch, Example, State, initial_state, train_step
from remat.examples.optimizers import AdamW
from remat.examples.source import Source


@dataclass(frozen=True)
class Config:
    """Widths of input, hidden layer and output."""

    inputs: int = 1024
    hidden: int = 4096
    outputs: int = 1024
    batch: int = 8
    learning_rate: float = 1e-3
    compute_dtype: str = "float32"


REAL = Config()
TINY = Config(inputs=64, hidden=256, outputs=64)


def init(source: Source, config: Config) -> Params:
    """Both layers."""
    return {
        "up": common.dense_init(source, config.inputs, config.hidden),
        "down": common.dense_init(source, config.hidden, config.outputs),
    }


def loss(params: Params, batch: Batch, config: Config) -> jax.Array:
    """Mean squared error of a batch {"inputs", "targets"}."""
    params, inputs = common.cast((params, batch["inputs"]), config.compute_dtype)
    outputs = common.dense(params["down"], jax.nn.relu(common.dense(params["up"], inputs)))
    return ((outputs - batch["targets"]) ** 2).mean()


def draw_state(source: Source, config: Config) -> State:
    """The state before the first step."""
    return initial_state(source, partial(init, config=config), make_optimizer(config))


def draw_batch(source: Source, config: Config) -> Batch:
    """Normal inputs and targets."""
    return {
        "inputs": source.normal((config.batch, config.inputs)),
        "targets": source.normal((config.batch, config.outputs)),
    }


def make_optimizer(config: Config) -> AdamW:
    """AdamW as PyTorch has it by default."""
    return AdamW(config.learning_rate)


def make(config: Config) -> Example:
    """The step with AdamW."""
    step = train_step(partial(loss, config=config), make_optimizer(config))
    return Example("perceptron", config, step, partial(draw_state, config=config),
                   partial(draw_batch, config=config))
