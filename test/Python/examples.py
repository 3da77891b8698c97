# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every model of the zoo keeps the interface: it trains, and its shapes are those of its arrays.

RUN: %pytest %s
"""

import functools
import os

import pytest

# Before JAX starts: two devices for the data-parallel model.
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                           + " --xla_force_host_platform_device_count=2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")

import numpy as np  # noqa: E402

from remat import examples  # noqa: E402

NAMES = examples.names()
STEPS = 3
# Blocks under jax.checkpoint with `remat_layers`, of the tiny sizes.
BLOCKS = {"data_parallel": 2, "dropout": 2, "gpt2": 3, "resnet50": 6, "unet": 7, "vit": 3,
          "yolo": 4 + 1 + 4}
MIXED = ["data_parallel", "dropout", "gpt2", "perceptron", "resnet50", "unet", "vit", "yolo"]


@functools.cache
def compiled_step(name, **overrides):
    """The donated step of a tiny model. Less optimization compiles in half the time."""
    example = examples.get(name, **overrides)
    lowered = jax.jit(example.step, donate_argnums=0).lower(
        example.make_state(0), example.make_batch(0))
    return lowered.compile({"xla_backend_optimization_level": 0})


def train(name, seed=0, **overrides):
    """The last state and the losses of a tiny model."""
    example = examples.get(name, **overrides)
    step = compiled_step(name, **overrides)
    state, batch, losses = example.make_state(seed), example.make_batch(seed), []
    for _ in range(STEPS):
        state, loss = step(state, batch)
        losses.append(float(loss))
    return state, losses


def shapes(tree):
    """Shapes and dtypes, in the structure of the tree; a weak dtype would be compiled for again."""

    def shape(x):
        return jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False))

    return jax.tree.map(shape, tree)


def bits(tree):
    """All bytes of a tree, so that equal means identical."""

    def data(x):
        is_key = jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(x) if is_key else x).tobytes()

    return [data(x) for x in jax.tree.leaves(tree)]


def all_equations(jaxpr):
    """The equations of a jaxpr and of all jaxprs inside."""
    for equation in jaxpr.eqns:
        yield equation
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, (list, tuple)) else [parameter]:
                if hasattr(inner, "eqns"):
                    yield from all_equations(inner)
                elif hasattr(inner, "jaxpr"):
                    yield from all_equations(inner.jaxpr)


def step_equations(example):
    """The equations of a step, traced over shapes."""
    jaxpr = jax.make_jaxpr(example.step)(example.state_shapes(), example.batch_shapes())
    return list(all_equations(jaxpr.jaxpr))


@pytest.mark.parametrize("name", NAMES)
def test_losses_are_finite_and_fall(name):
    _, losses = train(name)
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", NAMES)
def test_steps_change_every_parameter_and_stay_finite(name):
    old = examples.get(name).make_state(0)
    new, _ = train(name)
    for path, (before, after) in zip(
            [path for path, _ in jax.tree_util.tree_leaves_with_path(old["params"])],
            zip(jax.tree.leaves(old["params"]), jax.tree.leaves(new["params"]))):
        assert np.isfinite(after).all(), path
        assert (np.asarray(before) != np.asarray(after)).any(), path


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_decides_everything(name):
    (first, losses), (second, same), (_, other) = (train(name, seed) for seed in (0, 0, 1))
    assert bits(first) == bits(second)
    assert losses == same
    assert losses != other


@pytest.mark.parametrize("name", NAMES)
def test_a_step_keeps_shapes_that_are_known_without_arrays(name):
    example = examples.get(name)
    state, _ = train(name)
    expected = shapes(example.state_shapes())
    assert shapes(example.make_state(0)) == expected
    assert shapes(state) == expected
    assert shapes(example.make_batch(0)) == shapes(example.batch_shapes())


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_a_state_are_distinct(name):
    """The same array twice could not be donated."""
    leaves = jax.tree.leaves(examples.get(name).make_state(0))
    assert len({id(leaf) for leaf in leaves}) == len(leaves)


@pytest.mark.parametrize("name", NAMES)
def test_real_sizes_trace_without_allocation(name):
    before = sum(array.nbytes for array in jax.live_arrays())
    example = examples.get(name, size="real")
    state, batch = example.state_shapes(), example.batch_shapes()
    new, loss = jax.eval_shape(example.step, state, batch)
    assert shapes(new) == shapes(state)
    assert (loss.shape, loss.dtype) == ((), np.float32)
    size = sum(np.prod(x.shape, dtype=int) for x in jax.tree.leaves(state["params"]))
    assert size > 1_000_000
    # Constants of the code, at most.
    assert sum(array.nbytes for array in jax.live_arrays()) - before < 1_000_000


def test_parameters_of_published_models():
    """Counts from the papers' code; GPT-2 has 47 more rows of embedding, a multiple of 128."""
    published = {"gpt2": 124_439_808 + 47 * 768, "vit": 86_567_656, "resnet50": 25_557_032}
    for name, expected in published.items():
        params = examples.get(name, size="real").state_shapes()["params"]
        assert sum(np.prod(x.shape, dtype=int) for x in jax.tree.leaves(params)) == expected, name


@pytest.mark.parametrize("name", ["gpt2", "resnet50"])
def test_bfloat16_trains(name):
    state, losses = train(name, compute_dtype="bfloat16")
    assert shapes(state) == examples.get(name).state_shapes()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", MIXED)
def test_bfloat16_is_in_all_products(name):
    equations = step_equations(examples.get(name, compute_dtype="bfloat16"))
    products = [equation for equation in equations
                if equation.primitive.name in ("dot_general", "conv_general_dilated")]
    assert len(products) >= 5
    for product in products:
        assert {str(variable.aval.dtype) for variable in product.invars} == {"bfloat16"}, product


@pytest.mark.parametrize("name", BLOCKS)
def test_layers_can_be_rematerialised(name):
    """Each block once: what differentiation makes of the blocks stands in the same equations."""

    def count(**overrides):
        return sum("remat" in equation.primitive.name or equation.primitive.name == "checkpoint"
                   for equation in step_equations(examples.get(name, **overrides)))

    assert count() == 0
    assert count(remat_layers=True) == BLOCKS[name]


def test_policies_reach_jax_checkpoint():
    """Saved products are not computed again; GPT-2 recomputes five of the six of a layer."""

    def products(**overrides):
        return sum(equation.primitive.name == "dot_general"
                   for equation in step_equations(examples.get("gpt2", **overrides)))

    assert products() == 3 * (3 * 6 + 1)
    saved = products(remat_layers=True, remat_policy="dots_saveable")
    assert products() <= saved < products(remat_layers=True)


@pytest.mark.parametrize("name", ["gpt2", "dropout"])
def test_scanned_layers_are_the_same_layers(name):
    state, losses = train(name)
    scanned, scanned_losses = train(name, scan_layers=True)
    np.testing.assert_allclose(losses, scanned_losses, rtol=1e-5)
    for index, layer in enumerate(state["params"]["layers"]):
        part = jax.tree.map(lambda x: x[index], scanned["params"]["layers"])
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-3), layer, part)


def test_microbatches_of_gpt2_are_its_batch():
    np.testing.assert_allclose(train("gpt2")[1], train("gpt2", microbatches=2)[1], rtol=1e-4)


def test_two_devices_do_what_one_does():
    example = examples.get("data_parallel")
    alone = examples.get("gpt2", layers=2, batch=4)
    state, batch = example.make_state(0), example.make_batch(0)
    assert bits(state) == bits(alone.make_state(0))
    assert len(batch.sharding.device_set) == 2
    np.testing.assert_allclose(
        train("data_parallel")[1], train("gpt2", layers=2, batch=4)[1], rtol=1e-4)


def test_dropout_differs_from_step_to_step():
    """Without learning, only the key changes the loss."""
    state, losses = train("dropout", learning_rate=0.0)
    assert len(set(losses)) == STEPS
    assert bits(state["key"]) != bits(examples.get("dropout").make_state(0)["key"])
    _, certain = train("dropout", learning_rate=0.0, rate=0.0)
    assert len(set(certain)) == 1


@pytest.mark.parametrize("arguments, message", [
    (("gpt3",), r"no example 'gpt3': there are accumulation, .*, yolo"),
    (("gpt2", "large"), r"no size 'large': there are real, tiny"),
])
def test_unknown_names_and_sizes(arguments, message):
    with pytest.raises(ValueError, match=message):
        examples.get(*arguments)


@pytest.mark.parametrize("name, overrides, message", [
    ("gpt2", {"depth": 3}, r"'gpt2' has no field 'depth': there are batch, .*, width"),
    ("data_parallel", {"devices": 64, "batch": 64},
     r"expected 64 devices, but there are \d+: on a CPU, set "
     r"XLA_FLAGS=--xla_force_host_platform_device_count=64 before JAX starts"),
    ("data_parallel", {"batch": 3}, r"expected a batch that 2 devices divide, but got 3"),
])
def test_overrides_that_cannot_be(name, overrides, message):
    with pytest.raises(ValueError, match=message):
        examples.get(name, **overrides)


def test_batches_that_microbatches_do_not_divide():
    example = examples.get("accumulation", batch=10, microbatches=4)
    with pytest.raises(ValueError, match="expected a batch that 4 microbatches divide, but got 10"):
        jax.eval_shape(example.step, example.state_shapes(), example.batch_shapes())
