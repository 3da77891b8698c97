# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rematerialized functions inside of other transformations of JAX.

REQUIRES: jax
RUN: %pytest %s
"""

import os
import sys
import warnings

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

INPUTS = os.path.join(os.path.dirname(__file__), "Inputs")
sys.path.insert(0, INPUTS)

from jax_steps import bits, numbers, perceptron, smallest_budget  # noqa: E402
from remat import RematWarning  # noqa: E402
from remat.jax import UnsupportedError, rematerialize  # noqa: E402

LAYERS = 2
BARRIERS = {"xla_disable_hlo_passes": "cse_barrier_expander"}


@pytest.fixture
def small():
    """A step, its arguments, and the step with as much recomputation as there can be."""
    step, params, x = perceptron(LAYERS)
    budget = smallest_budget(step, params, x)
    return step, params, x, rematerialize(step, budget, calibrate=False)


def test_outer_jit_says_which_option_it_needs(small):
    step, params, x, planned = small

    def outer(params, x):
        value, updated = planned(params, 2 * x)
        return value + 1, updated

    with pytest.warns(RematWarning, match="cse_barrier_expander"):
        lowered = jax.jit(outer).lower(params, x)
    assert "optimization_barrier" in lowered.as_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RematWarning)
        actual = jax.jit(outer, compiler_options=BARRIERS)(params, x)
    value, updated = jax.jit(step)(params, 2 * x)
    assert bits(actual) == bits((value + 1, updated))


@pytest.mark.filterwarnings("ignore::remat.RematWarning")
def test_scan_over_steps(small):
    step, params, x, planned = small
    batches = jnp.stack([x, x + 1, x - 1])

    def run(step):
        def body(params, batch):
            value, params = step(params, batch)
            return params, value

        return jax.jit(lambda params: jax.lax.scan(body, params, batches))(params)

    assert bits(run(planned)) == bits(run(step))


@pytest.mark.filterwarnings("ignore::remat.RematWarning")
@pytest.mark.parametrize("axes", [(0, None), (None, 0), (None, 1)])
def test_vmap_plans_all_rows_together(small, axes):
    step, params, x, _ = small
    many = [jnp.stack([p, 2 * p, 3 * p]) for p in params] if axes[0] == 0 else params
    rows = x if axes[1] is None else jnp.stack([x, x + 1, x - 1], axis=axes[1])
    expected = jax.jit(jax.vmap(step, in_axes=axes))(many, rows)
    budget = smallest_budget(jax.vmap(step, in_axes=axes), many, rows)
    planned = rematerialize(step, budget, calibrate=False)
    lowered = jax.jit(jax.vmap(planned, in_axes=axes)).lower(many, rows)
    assert "optimization_barrier" in lowered.as_text()
    assert bits(jax.vmap(planned, in_axes=axes)(many, rows)) == bits(expected)


@pytest.mark.filterwarnings("ignore::remat.RematWarning")
def test_gradients_of_a_rematerialized_function_are_refused(small):
    step, params, x, planned = small
    with pytest.raises(UnsupportedError, match="jax.value_and_grad"):
        jax.grad(lambda params: planned(params, x)[0])(params)
    with pytest.raises(UnsupportedError, match="cannot be differentiated"):
        jax.jvp(lambda x: planned(params, x)[0], (x,), (x,))
    # What does not depend on the variable is as usual.
    gradient = jax.grad(lambda y: y**2 * jax.lax.stop_gradient(planned(params, x)[0]))(3.0)
    assert gradient == 6 * step(params, x)[0]


def test_value_and_grad():
    _, params, x = perceptron(LAYERS)

    def loss(params, x):
        for w in params:
            x = jnp.tanh(jax.nn.gelu(x @ w))
        return jnp.mean(x**2)

    gradient = jax.value_and_grad(loss)
    planned = rematerialize(gradient, smallest_budget(gradient, params, x), calibrate=False)
    assert bits(planned(params, x)) == bits(jax.jit(gradient)(params, x))


def test_shapes_without_planning(small, monkeypatch):
    import remat

    step, params, x, _ = small
    monkeypatch.setattr(remat, "optimize", None)
    planned = rematerialize(step, "1GB")
    assert jax.eval_shape(planned, params, x) == jax.eval_shape(step, params, x)
    assert "rematerialized" in str(jax.make_jaxpr(planned)(params, x))
