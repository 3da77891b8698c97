# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rematerialized functions inside of other transformations of JAX.

RUN: %pytest %s
"""

import os
import subprocess
import sys
import textwrap
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
    expected = jax.jit(lambda params, x: (step(params, 2 * x)[0] + 1, step(params, 2 * x)[1]))(params, x)
    assert bits(actual) == bits(expected)


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
    planned = rematerialize(step, smallest_budget(jax.vmap(step, in_axes=axes), many, rows), calibrate=False)
    lowered = jax.jit(jax.vmap(planned, in_axes=axes)).lower(many, rows)
    assert "optimization_barrier" in lowered.as_text()
    assert bits(jax.vmap(planned, in_axes=axes)(many, rows)) == bits(expected)


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


def run_on_two_devices(code):
    """Runs a program of Python with two virtual devices; its output."""
    prelude = """
        import sys
        sys.path.insert(0, {inputs!r})
        import warnings
        import jax, jax.numpy as jnp, numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        from jax_steps import *
        import remat
        from remat.jax import rematerialize, UnsupportedError
        warnings.simplefilter("ignore", remat.RematWarning)
        try:
            from jax import shard_map
            unchecked = dict(check_vma=False)
        except ImportError:
            from jax.experimental.shard_map import shard_map
            unchecked = dict(check_rep=False)
        mesh = Mesh(np.array(jax.devices()), ("data",))
        step, params, x = perceptron(2)
        split = jax.device_put(x, NamedSharding(mesh, P("data")))
    """
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags}
    program = textwrap.dedent(prelude).format(inputs=INPUTS) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_arrays_that_are_split_are_refused():
    out = run_on_two_devices(
        """
        # Also where an earlier call was not split, and the plan of that is known.
        planned = rematerialize(step, "90%", calibrate=False)
        print(planned(params, x)[0] == step(params, x)[0])
        for function in (planned, rematerialize(step, "1GB"), rematerialize(step, 1, calibrate=False)):
            try:
                function(params, split)
            except UnsupportedError as error:
                print(error)
        """
    ).splitlines()
    assert out[0] == "True"
    assert len(out) == 4
    assert all("split" in line and "jax.shard_map" in line for line in out[1:])


def test_body_of_shard_map_has_the_shapes_of_one_device():
    out = run_on_two_devices(
        """
        half = x[: x.shape[0] // 2]
        budget = smallest_budget(step, params, half)
        planned = rematerialize(step, budget, calibrate=False)

        def both(step):
            def body(params, x):
                value, params = step(params, x)
                return value[None], [p[None] for p in params]
            return shard_map(
                body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"), **unchecked
            )

        options = {"xla_disable_hlo_passes": "cse_barrier_expander"}
        lowered = jax.jit(both(planned), compiler_options=options).lower(params, split)
        print("optimization_barrier" in lowered.as_text())
        print(bits(lowered.compile()(params, split)) == bits(jax.jit(both(step))(params, split)))
        """
    )
    assert out.split() == ["True", "True"]


def test_shard_map_inside_and_collectives_are_refused():
    out = run_on_two_devices(
        """
        def mean(params, x):
            return jax.lax.pmean(step(params, x)[0], "data")

        def outside(params, x):
            body = shard_map(
                mean, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), **unchecked
            )
            return body(params, x)

        def inside(params, x):
            body = shard_map(
                rematerialize(mean, "1GB"), mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), **unchecked
            )
            return jax.jit(body)(params, x)

        for function in (rematerialize(outside, "1GB"), inside):
            try:
                function(params, split)
            except UnsupportedError as error:
                print(error)
        """
    ).splitlines()
    assert len(out) == 2
    assert "'outside' contains 'shard_map'" in out[0]
    assert "'mean'" in out[1] and "collectives over named axes" in out[1]
