# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Budgets of rematerialized functions are kept by XLA's own figures, and reports say how.

REQUIRES: jax
RUN: %pytest %s
"""

import os
import sys

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

from jax_steps import bits, copied, perceptron, recomputed  # noqa: E402
from remat.jax import rematerialize  # noqa: E402
from remat.jax.memory import memory_of  # noqa: E402
from remat.report import Report  # noqa: E402


def deep():
    """A deep perceptron that gains from recomputation on every XLA."""
    return perceptron(layers=8, width=32, batch=1024, layer=lambda w, h: jax.nn.gelu(h @ w))


@pytest.mark.parametrize("percent", [90, 70])
def test_deep_perceptron_keeps_its_budget(percent):
    step, params, x = deep()
    plain = jax.jit(step, donate_argnums=0).lower(params, x).compile()
    planned = rematerialize(step, f"{percent}%", donate_argnums=0, effort=0)
    compiled = planned.lower(params, x).compile()
    baseline, figure = memory_of(plain).total_bytes, memory_of(compiled).total_bytes
    budget = -(-baseline * percent // 100)
    assert figure <= budget
    report = planned.report(params, x)
    assert report.xla["budget_bytes"] == budget
    assert report.xla["baseline"]["total_bytes"] == baseline
    assert report.xla["chosen"]["total_bytes"] == figure
    assert recomputed(report) > 0
    expected, actual = copied(params), copied(params)
    for _ in range(3):
        value, expected = plain(expected, x)
        planned_value, actual = planned(actual, x)
        assert bits((planned_value, actual)) == bits((value, expected))


def test_report_has_all_rounds_of_the_calibration(tmp_path):
    step, params, x = deep()
    report = rematerialize(step, "70%", effort=0).report(params, x)
    assert 1 <= sum(each["compiled"] for each in report.calibration) <= 4
    for each in report.calibration:
        assert each["predicted_bytes"] <= each["target_bytes"]
        assert each["minimum_bytes"] <= each["predicted_bytes"]
        assert each["overhead"] >= 0
    function = report.function("main")
    chosen = [each for each in report.calibration if each["target_bytes"] == function.budget_bytes]
    assert chosen[0]["xla_bytes"] == report.xla["chosen"]["total_bytes"]
    assert chosen[0]["overhead"] == function.overhead
    fits = [each for each in report.calibration if each["xla_bytes"] <= report.xla["budget_bytes"]]
    assert function.overhead == min(each["overhead"] for each in fits)
    # Locations are those of the function, not of this package.
    locations = [row.location for row in function.recomputed if row.location]
    assert locations and not [each for each in locations if "remat/jax" in each]
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json") == report


def test_figures_are_those_of_memory_analysis():
    step, params, x = perceptron(2)
    compiled = jax.jit(step, donate_argnums=0).lower(params, x).compile()
    memory, stats = memory_of(compiled), compiled.memory_analysis()
    arrays = sum(each.nbytes for each in params)
    assert memory.argument_bytes == arrays + x.nbytes
    assert memory.aliased_bytes == arrays
    assert memory.total_bytes == (
        stats.argument_size_in_bytes
        + stats.output_size_in_bytes
        + stats.temp_size_in_bytes
        - stats.alias_size_in_bytes
    )


def test_arguments_that_are_not_read_take_nothing():
    """As with `jax.jit`, which drops them; also what is only read for results that nobody needs."""
    step, params, x = perceptron(2)

    def wasteful(params, x, unread, dead):
        jnp.sin(dead)
        return step(params, x), unread

    large = jnp.zeros(10**6)
    planned = rematerialize(wasteful, "1GB", calibrate=False)
    plain = jax.jit(wasteful).lower(params, x, large, large).compile()
    compiled = planned.lower(params, x, large, large).compile()
    assert memory_of(compiled) == memory_of(plain)


@pytest.mark.parametrize("device", [None, "h100", "a100", "cpu", jax.devices()[0]])
def test_cost_model_of_a_device(device, monkeypatch):
    import remat

    targets = []
    optimize = remat.optimize

    def recording(*args, **kwargs):
        targets.append(kwargs["target"])
        return optimize(*args, **kwargs)

    monkeypatch.setattr(remat, "optimize", recording)
    step, params, x = perceptron(2)
    rematerialize(step, "1GB", device=device, calibrate=False).report(params, x)
    assert targets == [device if isinstance(device, str) else "cpu"]


def test_names_of_devices():
    from types import SimpleNamespace

    from remat.jax.rematerialize import _target_of

    for platform, kind, target in (
        ("cpu", "cpu", "cpu"),
        ("gpu", "NVIDIA A100-SXM4-40GB", "a100"),
        ("gpu", "NVIDIA H100 80GB HBM3", "h100"),
        ("gpu", "NVIDIA H200", "h100"),
    ):
        assert _target_of(SimpleNamespace(platform=platform, device_kind=kind)) == target


def test_buffers_begin_where_the_platform_wants_them():
    from remat import InfeasibleError
    from remat.jax import explain, largest_batch

    double, x = lambda x: 2 * x, jnp.ones(16)
    for device, platform, least in (("cpu", "cpu", 2 * 64), ("h100", "cuda", 2 * 256)):
        assert explain(double, x, device=device).peak_bytes == least
        table = largest_batch(
            lambda batch: (double, (jnp.ones((batch, 16)),)), least, 1, 8, multiple_of=1, device=device
        )
        # On a GPU four rows fill what one takes.
        assert table.batch == (1 if device == "cpu" else 4)
        refused = jax.jit(rematerialize(double, 1, device=device, calibrate=False)).trace(x)
        with pytest.raises(InfeasibleError) as caught:
            refused.lower(lowering_platforms=(platform,))
        assert caught.value.minimum_bytes == least


def test_compiled_programs_keep_names_and_places():
    step, params, x = deep()
    lowered = rematerialize(step, "50%", calibrate=False, effort=0).lower(params, x)
    text = lowered.compile().as_text()
    assert "optimization_barrier" in lowered.as_text()
    assert "dot_general" in text
    assert "jax_steps.py" in text
