# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rematerialized functions are called like jitted ones: arguments, donation, and one plan per
shape.

REQUIRES: jax
RUN: %pytest %s
"""

import functools
import os
import sys
from typing import NamedTuple

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

import remat  # noqa: E402
from jax_steps import (  # noqa: E402
    bits,
    copied,
    numbers,
    perceptron,
    smallest_budget,
    smallest_figure,
)
from remat.jax import rematerialize  # noqa: E402

LAYERS = 2


class Counter:
    """Counts the plans that are made, and how often Python code of a function runs."""

    def __init__(self, monkeypatch):
        self.plans = 0
        self.traces = 0
        optimize = remat.optimize

        def counting(*args, **kwargs):
            self.plans += 1
            return optimize(*args, **kwargs)

        monkeypatch.setattr(remat, "optimize", counting)

    def traced(self, fn):
        @functools.wraps(fn)
        def counting(*args, **kwargs):
            self.traces += 1
            return fn(*args, **kwargs)

        return counting


@pytest.fixture
def counter(monkeypatch):
    return Counter(monkeypatch)


def by_model(fn, budget="85%", **options):
    return rematerialize(fn, budget, calibrate=False, **options)


class Batch(NamedTuple):
    x: jax.Array
    scale: jax.Array


def test_pytrees_keywords_and_defaults():
    step, params, x = perceptron(LAYERS)

    def train(state, batch, *, rate=1.0, extra=None):
        value, updated = step(state["params"], batch.x * batch.scale)
        return {"loss": value * rate, "state": {"params": updated, "step": state["step"] + 1}}

    state = {"params": params, "step": jnp.int32(3)}
    batch = Batch(x, jnp.float32(2))
    planned = by_model(train)
    assert bits(planned(state, batch)) == bits(jax.jit(train)(state, batch))
    out = planned(state, batch=batch, rate=jnp.float32(0.5), extra=None)
    expected = jax.jit(train)(state, batch=batch, rate=jnp.float32(0.5), extra=None)
    assert bits(out) == bits(expected)
    assert jax.tree.structure(out) == jax.tree.structure(expected)


def test_static_arguments(counter):
    step, params, x = perceptron(LAYERS)

    def train(kind, params, x, *, times):
        assert isinstance(kind, str) and isinstance(times, int)
        return step(params, x * times) if kind == "train" else step(params, x + times)

    planned = by_model(train, static_argnums=0, static_argnames="times")
    plain = jax.jit(train, static_argnums=0, static_argnames="times")
    for kind, times in (("train", 1), ("train", 2), ("eval", 1), ("train", 1)):
        assert bits(planned(kind, params, x, times=times)) == bits(
            plain(kind, params, x, times=times)
        )
    assert counter.plans == 3  # One for each pair.
    # By name, and counted from the end.
    by_name = by_model(train, static_argnames=("kind", "times"))
    assert bits(by_name("train", params, x, times=1)) == bits(plain("train", params, x, times=1))

    def last(params, x, times):
        return step(params, x * times)

    assert bits(by_model(last, static_argnums=-1)(params, x, 2)) == bits(
        jax.jit(last, static_argnums=-1)(params, x, 2)
    )


@pytest.mark.parametrize("how", [{"donate_argnums": 0}, {"donate_argnames": "params"}])
def test_donated_arguments(how):
    step, params, x = perceptron(LAYERS)
    planned = by_model(step, **how)
    expected = jax.jit(step)(params, x)
    mine = copied(params)
    out = planned(mine, x)
    assert bits(out) == bits(expected)
    assert all(each.is_deleted() for each in mine)
    assert not x.is_deleted()
    stats = planned.lower(copied(params), x).compile().memory_analysis()
    assert stats.alias_size_in_bytes == sum(each.nbytes for each in params)


def test_decorator_and_method():
    step, params, x = perceptron(LAYERS)

    @rematerialize(budget="85%", calibrate=False)
    def train(params, x):
        """Trains."""
        return step(params, x)

    assert train.__name__ == "train" and train.__doc__ == "Trains."
    assert bits(train(params, x)) == bits(jax.jit(step)(params, x))

    class Model:
        @functools.partial(rematerialize, budget="85%", calibrate=False, static_argnums=0)
        def train(self, params, x):
            return step(params, x)

    assert bits(Model().train(params, x)) == bits(jax.jit(step)(params, x))


def test_one_plan_and_one_trace_per_shape(counter):
    step, params, x = perceptron(LAYERS)
    planned = by_model(counter.traced(step))
    for _ in range(3):
        planned(params, x)
    assert counter.plans == 1
    traces = counter.traces
    planned(params, numbers(5, *x.shape))
    assert (counter.plans, counter.traces) == (1, traces)
    assert bits(planned(params, x[:128])) == bits(jax.jit(step)(params, x[:128]))
    assert counter.plans == 2
    traces = counter.traces
    planned(params, x)
    planned(params, x[:128])
    assert (counter.plans, counter.traces) == (2, traces)


def test_a_step_is_one_call_of_a_jitted_function(monkeypatch):
    """After the first call, what is called is a function of `jax.jit`, which is C++, and nothing
    else."""
    step, params, x = perceptron(LAYERS)
    planned = by_model(step)
    planned(params, x)
    assert type(planned._outermost) is type(jax.jit(step))
    called = []

    def profile(frame, event, _):
        if event == "call" and "remat" in frame.f_code.co_filename.split("test")[0]:
            called.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        planned(params, x)
    finally:
        sys.setprofile(None)
    assert called == ["__call__", "is_tracing"]


def test_what_was_compiled_to_measure_is_what_is_called():
    step, params, x = perceptron(3)
    planned = rematerialize(step, smallest_figure(step, params, x))
    compiled = []
    listener = lambda event, _, **__: compiled.append(event)  # noqa: E731
    jax.monitoring.register_event_duration_secs_listener(listener)
    report = planned.report(params, x)
    rounds = sum(each["compiled"] for each in report.calibration)
    backend = [event for event in compiled if event.endswith("backend_compile_duration")]
    assert rounds > 0
    assert len(backend) == 1 + rounds
    compiled.clear()
    planned.lower(params, x).compile()
    planned(params, x)
    assert not [event for event in compiled if event.endswith("backend_compile_duration")]


def test_lower_and_compile_like_jax():
    step, params, x = perceptron(LAYERS)
    planned = by_model(step, smallest_budget(step, params, x))
    shapes = jax.tree.map(lambda each: jax.ShapeDtypeStruct(each.shape, each.dtype), (params, x))
    lowered = planned.lower(*shapes)
    assert "optimization_barrier" in lowered.as_text()
    assert "rematerialized_step" in lowered.as_text()
    assert bits(lowered.compile()(params, x)) == bits(planned(params, x))
    assert "optimization_barrier" in planned.optimized_text(*shapes)


def test_program_that_fits_is_left_alone(counter):
    step, params, x = perceptron(LAYERS)
    planned = rematerialize(step, "1GB")
    assert "optimization_barrier" not in planned.lower(params, x).as_text()
    assert planned.optimized_text(params, x) is None
    report = planned.report(params, x)
    assert report.function("main").status == "unchanged"
    assert report.xla["chosen"] == report.xla["baseline"]
    assert report.calibration == []
