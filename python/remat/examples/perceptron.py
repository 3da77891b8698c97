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
from remat.examples.example import Batch, Example, state_maker, train_step
from remat.examples.optimizers import AdamW


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


def init(key: jax.Array, config: Config) -> Params:
    """Both layers."""
    up_key, down_key = jax.random.split(key)
    return {
        "up": common.dense_init(up_key, config.inputs, config.hidden),
        "down": common.dense_init(down_key, config.hidden, config.outputs),
    }


def loss(params: Params, batch: Batch, config: Config) -> jax.Array:
    """Mean squared error of a batch {"inputs", "targets"}."""
    params, inputs = common.cast((params, batch["inputs"]), config.compute_dtype)
    outputs = common.dense(params["down"], jax.nn.relu(common.dense(params["up"], inputs)))
    return ((outputs - batch["targets"]) ** 2).mean()


def make_batch(seed: int, config: Config) -> Batch:
    """Normal inputs and targets."""
    input_key, target_key = jax.random.split(jax.random.key(seed))
    return {
        "inputs": common.normal(input_key, (config.batch, config.inputs), 1.0),
        "targets": common.normal(target_key, (config.batch, config.outputs), 1.0),
    }


def make(config: Config) -> Example:
    """The step with AdamW."""
    optimizer = AdamW(config.learning_rate)
    return Example("perceptron", config, train_step(partial(loss, config=config), optimizer),
                   state_maker(partial(init, config=config), optimizer),
                   partial(make_batch, config=config))
