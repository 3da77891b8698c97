# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps for tests of the front end of JAX: small, and with something to recompute.

XLA:CPU contracts products and sums into fused ones where they are in one loop, and what is in one loop
depends on what is recomputed. Without such instructions, every operation is rounded by itself, and
results can be compared bit for bit. So this file is imported before JAX has a device.
"""

import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=AVX"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from remat import InfeasibleError  # noqa: E402
from remat.jax import rematerialize  # noqa: E402


def numbers(seed, *shape, dtype=np.float32):
    """Normal numbers, scaled such that layers keep their size."""
    values = np.random.RandomState(seed).randn(*shape) / np.sqrt(shape[-1])
    return jnp.asarray(values, dtype)


def perceptron(layers=4, width=16, batch=256, dtype=np.float32, layer=None):
    """`step(params, x) -> loss, params` of a deep perceptron, with its arguments.

    Its batch is larger than its width, so activations are what fills memory.
    """
    params = [numbers(i, width, width, dtype=dtype) for i in range(layers)]
    x = numbers(99, batch, width, dtype=dtype)
    layer = layer or (lambda w, h: jnp.tanh(jax.nn.gelu(h @ w)))

    def loss(params, x):
        for w in params:
            x = layer(w, x)
        return jnp.mean(jnp.square(x.astype(np.float32)))

    def step(params, x):
        value, gradients = jax.value_and_grad(loss)(params, x)
        return value, [p - (0.1 * g).astype(p.dtype) for p, g in zip(params, gradients)]

    return step, params, x


def copied(tree):
    """The same arrays in new buffers, to be donated."""
    return jax.tree.map(jnp.copy, tree)


def bits(tree):
    """The bytes of all arrays of a tree, and their types."""
    leaves = []
    for leaf in jax.tree.leaves(tree):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        leaves.append((leaf.shape, str(leaf.dtype), np.asarray(leaf).tobytes()))
    return leaves


def recomputed(report):
    """How many operations a report says are executed again."""
    return sum(row.clones for each in report.functions for row in each.recomputed)


def smallest_budget(step, *args, **options):
    """The smallest budget that the planner knows to be feasible by its own model."""
    try:
        rematerialize(step, 1, calibrate=False, **options).report(*args)
    except InfeasibleError as error:
        return error.minimum_bytes
    raise AssertionError("a byte is enough")


def smallest_figure(step, *args, **options):
    """The least that XLA reports for a plan."""
    try:
        rematerialize(step, 1, **options).report(*args)
    except InfeasibleError as error:
        return error.minimum_bytes
    raise AssertionError("a byte is enough")
