# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cannot be planned is refused in words of our own, and so are wrong options.

REQUIRES: jax
RUN: %pytest %s
"""

import os
import sys

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

from jax import export  # noqa: E402
from jax.experimental import io_callback  # noqa: E402
from jax_steps import numbers, perceptron  # noqa: E402
from remat import InfeasibleError, InvalidInputError  # noqa: E402
from remat.jax import UnsupportedError, rematerialize  # noqa: E402

LAYERS = 2


class OfGPU:
    platform, device_kind = "gpu", "NVIDIA H200"


@pytest.mark.parametrize("calibrate", [False, True])
def test_arguments_that_are_not_on_the_device(calibrate):
    step, params, x = perceptron(LAYERS)
    planned = rematerialize(step, "1GB", device=OfGPU(), calibrate=calibrate)
    with pytest.raises(InvalidInputError, match="the platform 'cpu', but device= is of 'gpu'; give"):
        planned.lower(params, x)


def shape_of(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def printing(x):
    jax.debug.print("x = {x}", x=x[0])
    return jnp.sin(x)


def printing_in_a_loop(x):
    return jax.lax.fori_loop(0, 3, lambda _, y: printing(y), x)


def asking(x):
    return jax.pure_callback(lambda y: y, shape_of(x), x) + 1


def telling(x):
    return io_callback(lambda y: y, shape_of(x), x, ordered=True) + 1


@pytest.mark.parametrize(
    "function, words",
    [
        (printing, "'printing' calls back into Python.*jax.debug"),
        (printing_in_a_loop, "'printing_in_a_loop' calls back into Python.*jax.debug"),
        (asking, "'pure_callback'"),
        (telling, "'io_callback'"),
    ],
)
@pytest.mark.parametrize("budget", ["1GB", 1])
def test_host_callbacks(function, words, budget):
    with pytest.raises(UnsupportedError, match=words):
        rematerialize(function, budget)(jnp.ones(4))


def test_function_that_donates_by_itself():
    step, params, x = perceptron(LAYERS)
    with pytest.raises(UnsupportedError, match="give donate_argnums"):
        rematerialize(jax.jit(step, donate_argnums=0), "1GB")(params, x)
    # Without, a jitted function is a function like others.
    value, _ = rematerialize(jax.jit(step), "1GB")(params, x)
    assert value == jax.jit(step)(params, x)[0]


def test_sizes_that_are_not_known():
    (size,) = export.symbolic_shape("n")
    planned = rematerialize(lambda x: jnp.sin(x), "1GB")
    with pytest.raises(UnsupportedError, match="bytes need shapes that are numbers"):
        export.export(jax.jit(planned))(jax.ShapeDtypeStruct((size,), jnp.float32))


def test_several_platforms_at_once():
    planned = rematerialize(lambda x: jnp.sin(x), "1GB")
    with pytest.raises(UnsupportedError, match="a plan is for one"):
        export.export(jax.jit(planned), platforms=("cpu", "cuda"))(jnp.ones(3))


def test_platform_without_a_device():
    planned = rematerialize(lambda x: jnp.sin(x), "1GB")
    with pytest.raises(InvalidInputError, match="0 of 1 devices.*topology as device=.*calibrate=False"):
        export.export(jax.jit(planned), platforms=("cuda",))(jnp.ones(3))
    by_model = rematerialize(lambda x: jnp.sin(x), "1GB", calibrate=False)
    assert export.export(jax.jit(by_model), platforms=("cuda",))(jnp.ones(3))


@pytest.mark.parametrize("calibrate", [True, False])
def test_budget_that_cannot_be_met(calibrate):
    step, params, x = perceptron(LAYERS)
    planned = rematerialize(step, 10_000, calibrate=calibrate, effort=0)
    for _ in range(2):
        with pytest.raises(InfeasibleError) as error:
            planned(params, x)
        assert error.value.budget_bytes is not None
        assert str(error.value.minimum_bytes) in str(error.value)
        # A traceback shows the refusal alone, and not how the planner was asked.
        assert error.value.__context__ is None
        assert error.value.minimum_bytes > x.nbytes
        assert error.value.report.function("main").live_at_peak
    if calibrate:
        assert "the least that XLA reported" in str(error.value)
        assert error.value.budget_bytes == 10_000
        rounds = error.value.report.calibration
        assert min(each["xla_bytes"] for each in rounds) >= error.value.minimum_bytes
    # The best figure is one that can be had.
    rematerialize(step, error.value.minimum_bytes, calibrate=calibrate, effort=0).report(params, x)


@pytest.mark.parametrize(
    "budget, words",
    [
        ("8", "no unit"),
        ("8 potatoes", "unknown unit"),
        ("120%", "at most 100%"),
        ("0%", "above 0%"),
        (-1, "budget from 0"),
        ("", "byte count"),
    ],
)
def test_wrong_budgets_are_errors_at_once(budget, words):
    with pytest.raises(InvalidInputError, match=words):
        rematerialize(lambda x: x, budget)


def test_wrong_types():
    with pytest.raises(TypeError, match="budget"):
        rematerialize(lambda x: x, 1.5)
    with pytest.raises(TypeError, match="expected a function, but got int"):
        rematerialize(3, "1GB")
    with pytest.raises(TypeError, match="no_such_option"):
        rematerialize(lambda x: x + 1, "1GB", no_such_option=1)


def test_errors_of_the_function_are_its_own():
    def wrong(x):
        raise ValueError("from inside")

    with pytest.raises(ValueError, match="from inside"):
        rematerialize(wrong, "1GB")(numbers(1, 3))
