# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fills the memory of a step, and what would help: by hand, by XLA, and by doing it.

RUN: %pytest %s
"""

import os
import sys
from functools import partial

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

from jax_steps import perceptron  # noqa: E402
from remat import InvalidInputError, examples  # noqa: E402
from remat.jax import UnsupportedError, explain, rematerialize  # noqa: E402
from remat.jax.memory import memory_of  # noqa: E402

#: Only the smallest plan: the others take longer, and have a test of their own.
quick = partial(explain, overheads=())


def arguments(example):
    return example.state_shapes(), example.batch_shapes()


def of_zoo(name, donate=0, **config):
    example = examples.get(name, **config)
    return quick(example.step, *arguments(example), donate_argnums=donate)


def by_kind(explanation, kind):
    return [each for each in explanation.advice if each.kind == kind]


# The perceptron 1024 - 4096 - 1024 of f32 with AdamW and a batch of 8, in bytes.
KERNEL = 4 * 1024 * 4096
BIASES = 4 * (4096 + 1024)
PARAMETERS = 2 * KERNEL + BIASES
STATE = 3 * PARAMETERS + 4  # and two moments, and a count
INPUTS = 2 * 4 * 8 * 1024
HIDDEN = 4 * 8 * 4096
LOSS = 4
# Both gradients of kernels are there when the second one is computed, from what came out of the first
# layer's backward pass. Those of biases take less, and so come first and are used up. Everything else is
# fused or smaller.
TEMPORARIES = 2 * KERNEL + HIDDEN
ALIGNMENT = 512


def real_perceptron(donate, **options):
    example = examples.get("perceptron", size="real")
    return explain(example.step, *arguments(example), donate_argnums=donate, **options)


def test_perceptron_by_hand():
    donated, plain = real_perceptron(0), real_perceptron(None)
    for explanation, results in ((donated, LOSS), (plain, STATE + LOSS)):
        live = STATE + INPUTS + results + TEMPORARIES
        assert live <= explanation.peak_bytes <= live + ALIGNMENT
        assert explanation.argument_bytes == STATE + INPUTS
        assert sum(explanation.categories.values()) == explanation.peak_bytes
        assert explanation.categories["inputs"] == INPUTS
        assert "activations" not in explanation.categories
    assert donated.categories["parameters"] == PARAMETERS
    assert donated.categories["optimizer_state"] == 2 * PARAMETERS + 4
    assert plain.categories["parameters"] == 2 * PARAMETERS


def test_perceptron_is_told_that_recomputation_cannot_help_and_donation_does():
    plain = real_perceptron(None)
    assert not plain.recomputation_helps
    assert "Recomputation cannot help: no plan is known that takes less" in plain.summary
    assert "Donation does: down to 134 MB, for nothing" in plain.summary
    (donation,) = by_kind(plain, "donate")
    assert donation.action == "donate state"
    assert donation.counted and donation.helps and donation.overhead == 0
    assert abs(donation.saved_bytes - STATE) <= ALIGNMENT
    assert donation.peak_bytes == real_perceptron(0).peak_bytes
    (recomputation,) = by_kind(plain, "recompute")
    assert (recomputation.saved_bytes, recomputation.overhead) == (0, 0)
    # The batch is a thousandth of it, and a smaller one takes the same for a half of the samples.
    half, quarter = by_kind(plain, "batch")
    assert not half.helps and not quarter.helps
    assert half.saved_bytes == pytest.approx((INPUTS + HIDDEN) / 2, abs=ALIGNMENT)
    assert 0.9 < half.overhead < 1.1
    # A second buffer for gradients is more than the microbatch saves.
    assert all(each.saved_bytes < 0 for each in by_kind(plain, "accumulate"))


def test_nothing_left_to_donate():
    explanation = real_perceptron(0)
    assert not by_kind(explanation, "donate")
    assert any("nothing is left to donate; 101 MB" in note for note in explanation.notes)


def test_budget():
    explanation = real_perceptron(None, budget="150MB")
    assert explanation.budget_bytes == 150_000_000
    assert "above the budget of 150 MB" in str(explanation)
    rows = [line for line in str(explanation).splitlines() if line.startswith("donate state  ")]
    assert rows and rows[0].endswith("yes")
    percent = real_perceptron(None, budget="50%")
    assert percent.budget_bytes == -(-explanation.peak_bytes // 2)
    assert "within the budget" in str(real_perceptron(0, budget="1GB"))


@pytest.mark.parametrize("donate", [None, 0])
@pytest.mark.parametrize(
    "name, config, tolerance",
    [
        ("perceptron", {"batch": 8}, 0.05),
        ("perceptron", {"batch": 512}, 0.15),
        ("vit", {}, 0.15),
        ("gpt2", {}, 0.15),
        ("lstm", {}, 0.3),
    ],
)
def test_consistent_with_xla(name, config, tolerance, donate):
    """XLA:CPU is not what the model predicts best, and yet not far."""
    example = examples.get(name, **config)
    explanation = of_zoo(name, donate, **config)
    jitted = jax.jit(example.step, donate_argnums=donate)
    memory = memory_of(jitted.lower(*arguments(example)).compile())
    assert explanation.argument_bytes == memory.argument_bytes
    if donate is None:
        # XLA computes in the buffers of results, too.
        tolerance = max(tolerance, 0.2)
    if jax.__version_info__ < (0, 7):
        # Large loops are calls there, whose results are never written over an operand.
        tolerance = max(tolerance, 0.25)
    assert explanation.peak_bytes == pytest.approx(memory.total_bytes, rel=tolerance)


@pytest.mark.parametrize("name", ["perceptron", "vit", "lstm"])
def test_donation_is_counted_and_never_raises_the_peak(name):
    plain, donated = of_zoo(name, None), of_zoo(name, 0)
    (donation,) = by_kind(plain, "donate")
    assert donation.peak_bytes == donated.peak_bytes <= plain.peak_bytes
    assert donation.saved_bytes == plain.peak_bytes - donated.peak_bytes


def test_donation_of_a_part():
    """Only what a result has the type of, and named so that it can be written."""

    def step(cache, unrelated, x):
        return {"keys": cache["keys"] + x, "sum": (unrelated * x[0]).sum()}

    large = jax.ShapeDtypeStruct((1000,), jnp.float32)
    cache = {"keys": large, "other": jax.ShapeDtypeStruct((7,), jnp.float32)}
    explanation = quick(step, cache, jax.ShapeDtypeStruct((999,), jnp.float32), large)
    (donation,) = by_kind(explanation, "donate")
    # Without a loss, everything is an input. Of two that would do, the first is taken.
    assert donation.action == "donate cache"
    assert donation.saved_bytes == 4032  # 4000, aligned


@pytest.fixture(scope="module")
def deep():
    """A perceptron whose activations fill memory."""
    step, params, x = perceptron(6)
    return step, params, x, explain(step, params, x, donate_argnums=0, budget="70%")


def test_recomputation(deep):
    step, params, x, explanation = deep
    assert explanation.recomputation_helps
    assert "Recomputation helps" in explanation.summary
    assert max(explanation.categories, key=explanation.categories.get) == "activations"
    recomputation = by_kind(explanation, "recompute")
    for each in recomputation:
        assert each.counted
        # Who allows this much gets it.
        planned = rematerialize(
            step, each.peak_bytes, calibrate=False, donate_argnums=0, effort=0
        ).report(params, x)
        assert planned.function("main").packed_bytes <= each.peak_bytes
    limits = {f"recompute for at most +{limit} %": limit / 100 for limit in (5, 10, 30)}
    limited = [each for each in recomputation if each.action in limits]
    assert limited
    for each in limited:
        assert each.overhead <= limits[each.action]
    # More cost, less memory; the last is the smallest.
    peaks = [each.peak_bytes for each in limited]
    assert peaks == sorted(peaks, reverse=True)
    assert recomputation[-1].action == "recompute for the smallest peak"
    assert recomputation[-1].peak_bytes == min(each.peak_bytes for each in recomputation)
    (budgeted,) = [each for each in recomputation if each.action == "recompute for the budget"]
    assert budgeted.peak_bytes <= explanation.budget_bytes


def test_batches_are_counted(deep):
    step, params, x, explanation = deep
    for advice, part in zip(by_kind(explanation, "batch"), (2, 4)):
        other = quick(step, params, x[: len(x) // part], donate_argnums=0)
        assert advice.counted and advice.helps
        assert advice.peak_bytes == other.peak_bytes
        assert f"batch {len(x) // part} instead of {len(x)}" == advice.action


def test_accumulation_is_near_the_real_one():
    """The model of the zoo has microbatches of its own."""
    explanation = of_zoo("gpt2", batch=4)
    for advice, microbatches in zip(by_kind(explanation, "accumulate"), (2, 4)):
        real = of_zoo("gpt2", batch=4, microbatches=microbatches)
        assert not advice.counted
        assert advice.peak_bytes == pytest.approx(real.peak_bytes, rel=0.25)


@pytest.mark.parametrize(
    "name, config", [("perceptron", {"batch": 512}), ("vit", {"batch": 16})]
)
def test_bf16_is_near_the_real_one(name, config):
    (advice,) = by_kind(of_zoo(name, **config), "bf16")
    real = of_zoo(name, compute_dtype="bfloat16", **config)
    assert not advice.counted
    assert advice.peak_bytes == pytest.approx(real.peak_bytes, rel=0.15)


def test_bf16_of_program_data():
    """Tables in the program, which are written as bytes, are halved."""
    table = jnp.asarray(range(1000), jnp.float32)

    def step(x):
        return jax.jit(lambda y: y[::-1] * jax.lax.cumsum(y))(x * jnp.sin(table)[:500].sum())

    (advice,) = by_kind(quick(step, jnp.ones(1000)), "bf16")
    assert advice.peak_bytes > 8000
    from remat.jax.half_precision import in_bf16

    blob = 'dense<"0x0000803F00000040"> : tensor<2xf32>'
    assert in_bf16(blob) == 'dense<"0x0000803F"> : tensor<2xbf16>'
    assert in_bf16("(tensor<4x8xf32>, tensor<f32>) -> tensor<f64>") == (
        "(tensor<4x8xbf16>, tensor<bf16>) -> tensor<f64>"
    )
    infinite = "dense<[0xFF800000, 1.000000e+00]> : tensor<2xf32>"
    assert in_bf16(infinite) == "dense<[0xFF80, 1.000000e+00]> : tensor<2xbf16>"
    assert in_bf16('#loc3 = loc("tensor<f32>")\n') == '#loc3 = loc("tensor<f32>")\n'


def test_no_bf16_without_f32():
    explanation = quick(lambda x: jnp.cumsum(x * 2), jnp.ones(64, jnp.bfloat16))
    assert not by_kind(explanation, "bf16")
    assert "bf16: nothing is computed in f32" in explanation.notes


def test_donation_of_wrapped_functions():
    step, params, x = perceptron(2)
    expected = quick(step, params, x, donate_argnums=0)
    for wrapped in (
        jax.jit(step, donate_argnums=0),
        rematerialize(step, "1GB", donate_argnums=0),
        rematerialize(step, "1GB", donate_argnames="params"),
    ):
        assert quick(wrapped, params, x).peak_bytes == expected.peak_bytes
    assert quick(jax.jit(step), params, x).peak_bytes > expected.peak_bytes


def test_static_and_keyword_arguments():
    def step(x, power, *, scale):
        return (scale * jnp.cumsum(x) ** power).sum()

    plain = quick(step, jnp.ones(8), 3, kwargs={"scale": jnp.ones(8)}, static_argnums=1)
    jitted = jax.jit(step, static_argnums=1)
    again = quick(jitted, jnp.ones(8), 3, kwargs={"scale": jnp.ones(8)}, static_argnums=1)
    assert plain.argument_bytes == again.argument_bytes == 64
    with pytest.raises(InvalidInputError, match="jitted with static arguments; give the same"):
        quick(jitted, jnp.ones(8), 3, kwargs={"scale": jnp.ones(8)})


def test_batch_that_cannot_be_traced():
    def step(x):
        return x.reshape(8, 4).sum()

    explanation = quick(step, jnp.ones((8, 4)))
    assert not by_kind(explanation, "batch")
    (note,) = [each for each in explanation.notes if each.startswith("batch")]
    assert "cannot be traced for a batch of 4 instead of 8" in note and "give batch=" in note

    def make_step(batch):
        return (lambda x: x.reshape(batch, 4).sum()), (jnp.ones((batch, 4)),)

    explanation = quick(step, jnp.ones((8, 4)), batch=8, make_step=make_step)
    assert [each.action for each in by_kind(explanation, "batch")] == [
        "batch 4 instead of 8",
        "batch 2 instead of 8",
    ]
    assert any("7 cannot be divided" in each for each in quick(jnp.cumsum, jnp.ones(7)).notes)
    scalar = quick(jnp.sin, 1.0)
    assert "batch: no argument looks like a batch" in scalar.notes


def test_batch_of_several_inputs():
    """The largest input decides, unless it is said."""

    def step(table, x, y):
        return (table[0] * x * y).sum()

    args = jnp.ones((64, 4)), jnp.ones((8, 4)), jnp.ones((8, 4))
    assert by_kind(quick(step, *args), "batch")[0].action == "batch 32 instead of 64"
    half = by_kind(quick(step, *args, batch=8), "batch")[0]
    assert half.action == "batch 4 instead of 8"
    assert half.saved_bytes == 2 * 4 * 4 * 4


def test_text_and_html(deep):
    *_, explanation = deep
    text, page = str(explanation), explanation._repr_html_()
    for each in explanation.advice:
        assert each.action in text
        assert "counted" in text and "estimated" in text
    assert "of jax_steps.py:" in text and "/jax_steps.py" not in text
    assert "&#x27;step&#x27;: peak" in page and "<table>" in page


def test_errors():
    with pytest.raises(InvalidInputError, match="'<lambda>' computes nothing"):
        explain(lambda x: x, jnp.ones(3))
    with pytest.raises(TypeError, match="expected a function, but got int"):
        explain(3)
    with pytest.raises(InvalidInputError, match="give batch="):
        explain(jnp.sin, jnp.ones(3), make_step=lambda batch: (jnp.sin, (jnp.ones(batch),)))
    with pytest.raises(InvalidInputError, match="no input of 'sin' has the first dimension 5"):
        explain(jnp.sin, jnp.ones(3), batch=5)
    with pytest.raises(InvalidInputError, match="unknown unit"):
        explain(jnp.sin, jnp.ones(3), budget="1 potato")
    with pytest.raises(UnsupportedError, match="calls back into Python"):
        explain(lambda x: jax.pure_callback(lambda y: y, x, x) + 1, jnp.ones(3))


def test_arrays_that_are_split():
    mesh = jax.sharding.Mesh(jax.devices(), ("data",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    with pytest.raises(UnsupportedError, match="arguments on 2 devices"):
        explain(lambda x: x + 1, jax.device_put(jnp.ones(8), split))
    with pytest.raises(UnsupportedError, match="compiled for several devices"):
        explain(jax.jit(lambda x: x + 1, in_shardings=split), jnp.ones(8))
    constrained = lambda x: jax.lax.with_sharding_constraint(x + 1, split)  # noqa: E731
    with pytest.raises(UnsupportedError, match="compiled for several devices"):
        explain(constrained, jnp.ones(8))


def test_nothing_is_compiled():
    """A model for a device that is not there, with arrays that no machine holds."""
    step, _, _ = perceptron(2)
    params = [jax.ShapeDtypeStruct((2**20, 2**20), jnp.float32)] * 2
    x = jax.ShapeDtypeStruct((2**20, 2**20), jnp.float32)
    explanation = quick(step, params, x, donate_argnums=0, device="h100")
    assert explanation.peak_bytes > 3 * 4 * 2**40
