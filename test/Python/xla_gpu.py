# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Budgets are kept on a GPU that is not there, by what XLA:GPU says of the compiled program.

REQUIRES: jax, xla-gpu
RUN: %pytest %s
"""

import os
import sys

import pytest

FOLDER = os.path.dirname(__file__)
sys.path += [os.path.join(FOLDER, "Inputs"), os.path.join(FOLDER, "..", "bench")]


@pytest.fixture(scope="module")
def device():
    """Of an H200."""
    plugin = os.environ.get("REMAT_XLA_GPU_PLUGIN")
    if not plugin:
        pytest.skip("REMAT_XLA_GPU_PLUGIN names no folder with XLA's compiler for GPUs")
    import gpu_topology

    os.environ["JAX_PLATFORMS"] = "cpu"
    gpu_topology.install_plugin(plugin)
    return gpu_topology.device(gpu_topology.h200())


@pytest.fixture(scope="module")
def step_and_shapes(device):
    """A deep perceptron with its arguments on the device."""
    import jax
    from jax_steps import perceptron

    step, *arguments = perceptron(
        layers=4, width=32, batch=1024, layer=lambda w, h: jax.nn.gelu(h @ w)
    )
    sharding = jax.sharding.SingleDeviceSharding(device)
    return step, jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), arguments
    )


def check(compiled, step, shapes):
    """It takes at most 80 % of the unchanged step."""
    import jax
    from remat.jax.memory import memory_of

    unchanged = memory_of(jax.jit(step).lower(*shapes).compile()).total_bytes
    total = memory_of(compiled).total_bytes
    assert 0 < total <= 0.8 * unchanged
    return total


def test_lowered_for_the_device_of_the_shapes(device, step_and_shapes):
    from remat.jax import rematerialize

    step, shapes = step_and_shapes
    planned = rematerialize(step, "80%", effort=0)
    total = check(planned.lower(*shapes).compile(), step, shapes)
    report = planned.report(*shapes)
    assert report.json["xla"]["chosen"]["total_bytes"] == total
    assert report.json["calibration"]


def test_inside_of_jit(device, step_and_shapes):
    import jax
    from remat.jax import rematerialize

    step, shapes = step_and_shapes
    planned = rematerialize(step, "80%", effort=0, device=device)
    check(jax.jit(planned).lower(*shapes).compile(), step, shapes)


def test_inside_of_jit_without_a_device(device, step_and_shapes):
    """JAX does not tell a function for which device it is lowered."""
    import jax
    from remat import InvalidInputError
    from remat.jax import rematerialize

    step, shapes = step_and_shapes
    with pytest.raises(InvalidInputError, match="give a device of a topology as device="):
        jax.jit(rematerialize(step, "80%", effort=0)).lower(*shapes)
