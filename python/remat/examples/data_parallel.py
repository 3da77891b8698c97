# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Data parallelism: GPT-2 on several devices, each with a part of the batch. On a CPU, the flag
# XLA_FLAGS=--xla_force_host_platform_device_count=2 makes two of one.
"""A step in `jax.shard_map`: shapes inside are those of one device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
from jax.sharding import NamedSharding, PartitionSpec

from remat.examples import gpt2
from remat.examples.example import Batch, Example, State
from remat.examples.source import Source

AXIS = "data"


@dataclass(frozen=True)
class Config(gpt2.ModelConfig):
    """`batch` is that of all devices together."""

    batch: int = 8
    devices: int = 2


REAL = Config()
TINY = Config(layers=2, width=32, heads=4, vocabulary=250, sequence=32, batch=4,
              learning_rate=1e-2)


def make(config: Config) -> Example:
    """The state is on every device, the batch is split.

    ValueError: there are fewer devices than asked for, or they do not divide the batch.
    """
    if jax.device_count() < config.devices:
        raise ValueError(f"expected {config.devices} devices, but there are {jax.device_count()}: "
                         "on a CPU, set XLA_FLAGS=--xla_force_host_platform_device_count="
                         f"{config.devices} before JAX starts")
    if config.batch % config.devices:
        raise ValueError(f"expected a batch that {config.devices} devices divide, "
                         f"but got {config.batch}")
    mesh = jax.make_mesh((config.devices,), (AXIS,), devices=jax.devices()[: config.devices])
    everywhere, split = PartitionSpec(), PartitionSpec(AXIS)
    optimizer = gpt2.make_optimizer(config)

    def device_step(state: State, batch: Batch) -> tuple[State, jax.Array]:
        value, grads = jax.value_and_grad(gpt2.loss)(state["params"], batch, config)
        value, grads = jax.lax.pmean((value, grads), AXIS)
        params, moments = optimizer.update(state["params"], grads, state["optimizer"])
        return {"params": params, "optimizer": moments}, value

    # The gradients are local until pmean; with the check, JAX would sum them by itself.
    step = jax.shard_map(device_step, mesh=mesh, in_specs=(everywhere, split),
                         out_specs=(everywhere, everywhere), check_vma=False)

    def draw_state(source: Source) -> State:
        return jax.device_put(gpt2.draw_state(source, config), NamedSharding(mesh, everywhere))

    def draw_batch(source: Source) -> Batch:
        return jax.device_put(gpt2.draw_batch(source, config), NamedSharding(mesh, split))

    return Example("data_parallel", config, step, draw_state, draw_batch)
