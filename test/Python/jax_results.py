# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rematerialized functions compute the same, bit for bit, over three steps.

RUN: %pytest %s
"""

import functools
import os
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

from jax_steps import bits, numbers, perceptron, recomputed, smallest_budget  # noqa: E402
from remat.jax import rematerialize  # noqa: E402

# The model's bytes are enough here: what is measured is in jax_memory.py.
BY_MODEL = {"calibrate": False}


def same_for_three_steps(step, state, *batch, **options):
    """Runs `step(state, *batch) -> anything, state` with and without, and compares everything.

    The budget is the smallest one, so that as much is recomputed as can be.
    """
    planned = rematerialize(step, smallest_budget(step, state, *batch), **BY_MODEL, **options)
    plain = jax.jit(step, compiler_options=options.get("compiler_options"))
    assert recomputed(planned.report(state, *batch)) > 0
    expected, actual = state, state
    for _ in range(3):
        value, expected = plain(expected, *batch)
        planned_value, actual = planned(actual, *batch)
        assert bits(planned_value) == bits(value)
        assert bits(actual) == bits(expected)
        assert jax.tree.structure(actual) == jax.tree.structure(expected)
    return planned


def test_perceptron():
    step, params, x = perceptron()
    same_for_three_steps(step, params, x)


def test_bfloat16_without_excess_precision():
    step, params, x = perceptron(dtype=jnp.bfloat16)
    options = {"xla_allow_excess_precision": False}
    same_for_three_steps(step, params, x, compiler_options=options)


def test_dropout_with_typed_keys():
    params = [numbers(i, 16, 16) for i in range(4)]

    def loss(params, key, x):
        for w in params:
            key, mine = jax.random.split(key)
            x = jnp.tanh(x @ w) * jax.random.bernoulli(mine, 0.9, x.shape)
        return jnp.mean(x**2)

    def step(state, x):
        params, key = state
        key, mine = jax.random.split(key)
        value, gradients = jax.value_and_grad(loss)(params, mine, x)
        return value, ([p - 0.1 * g for p, g in zip(params, gradients)], key)

    state = (params, jax.random.key(7))
    planned = same_for_three_steps(step, state, numbers(9, 256, 16))
    _, (_, key) = planned(state, numbers(9, 256, 16))
    assert jnp.issubdtype(key.dtype, jax.dtypes.prng_key)


def test_raw_keys():
    def loss(w, key, x):
        for i in range(4):
            x = jnp.tanh(x @ w + jax.random.normal(jax.random.fold_in(key, i), x.shape))
        return jnp.mean(x**2)

    def step(state, x):
        w, key = state
        value, gradient = jax.value_and_grad(loss)(w, key, x)
        return value, (w - 0.1 * gradient, jax.random.split(key)[0])

    same_for_three_steps(step, (numbers(1, 16, 16), jax.random.PRNGKey(3)), numbers(9, 256, 16))


def test_batch_norm_statistics():
    params = [numbers(i, 16, 16) for i in range(4)]
    statistics = [(jnp.zeros(16), jnp.ones(16)) for _ in params]

    def loss(params, statistics, x):
        updated = []
        for w, (mean, variance) in zip(params, statistics):
            x = jax.nn.gelu(x @ w)
            here, spread = x.mean(0), x.var(0)
            updated.append((0.9 * mean + 0.1 * here, 0.9 * variance + 0.1 * spread))
            x = (x - here) / jnp.sqrt(spread + 1e-5)
        return jnp.mean(x**4), updated

    def step(state, x):
        params, statistics = state
        (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(params, statistics, x)
        return value, ([p - 0.1 * g for p, g in zip(params, gradients)], statistics)

    same_for_three_steps(step, (params, statistics), numbers(9, 256, 16))


def test_key_value_cache_that_is_updated_in_place():
    """Every layer writes into its part of a cache and reads all of it."""
    params = [numbers(i, 16, 16) for i in range(4)]
    cache = jnp.zeros((4, 8, 64, 16))

    def loss(params, cache, position, x):
        for i, w in enumerate(params):
            row = jnp.tanh(x @ w)
            cache = jax.lax.dynamic_update_slice(
                cache, jax.lax.stop_gradient(row)[None, :, None], (i, 0, position, 0)
            )
            weights = jax.nn.softmax(jnp.einsum("bd,btd->bt", row, cache[i]))
            x = row + jnp.einsum("bt,btd->bd", weights, cache[i])
        return jnp.mean(x**2), cache

    def step(state, x):
        params, cache, position = state
        (value, cache), gradients = jax.value_and_grad(loss, has_aux=True)(params, cache, position, x)
        params = [p - 0.1 * g for p, g in zip(params, gradients)]
        return value, (params, cache, position + 1)

    same_for_three_steps(
        step,
        (params, cache, jnp.int32(0)),
        numbers(9, 8, 16),
    )


def test_custom_vjp():
    @jax.custom_vjp
    def clipped(x):
        return jnp.sin(x)

    clipped.defvjp(
        lambda x: (jnp.sin(x), jnp.cos(x)),
        lambda saved, cotangent: (jnp.clip(cotangent * saved, -0.01, 0.01),),
    )
    step, params, x = perceptron(layer=lambda w, h: clipped(jnp.tanh(h @ w)))
    same_for_three_steps(step, params, x)


def test_checkpoint_inside():
    layer = jax.checkpoint(lambda w, h: jnp.tanh(jax.nn.gelu(h @ w)))
    step, params, x = perceptron(layers=6, layer=layer)
    same_for_three_steps(step, params, x)


def test_scan_and_conditional_inside():
    def layer(w, h):
        h, _ = jax.lax.scan(lambda carry, _: (jnp.tanh(carry @ w), None), h, length=2)
        return jax.lax.cond(h[0, 0] > 0, jnp.sin, jnp.cos, jax.nn.gelu(h))

    step, params, x = perceptron(layer=layer)
    same_for_three_steps(step, params, x)


def test_arrays_that_a_function_closes_over():
    table = numbers(5, 16, 16)
    fixed = np.asarray(numbers(6, 16, 16))
    step, params, x = perceptron(layer=lambda w, h: jnp.tanh(jax.nn.gelu(h @ (w + table)) @ fixed))
    same_for_three_steps(step, params, x)


def test_results_that_are_arguments_or_constants():
    step, params, x = perceptron()

    @functools.partial(rematerialize, budget="70%", **BY_MODEL)
    def with_more(params, unused, x):
        value, updated = step(params, x)
        return {"loss": value, "same": unused, "x": x, "params": updated, "one": 1.0, "none": None}

    out = with_more(params, jnp.arange(3), x)
    value, updated = jax.jit(step)(params, x)
    assert bits(out["params"]) == bits(updated)
    assert bits(out["loss"]) == bits(value)
    assert bits([out["same"], out["x"]]) == bits([jnp.arange(3), x])
    assert out["none"] is None
    assert out["one"].weak_type == jax.jit(lambda: 1.0)().weak_type
    assert recomputed(with_more.report(params, jnp.arange(3), x)) > 0


def test_nothing_to_compute():
    same = rematerialize(lambda x: x, "1GB")
    assert bits(same(jnp.arange(3))) == bits(jnp.arange(3))
    assert same.report(jnp.arange(3)).functions == []
    assert rematerialize(lambda: None, "1GB")() is None
