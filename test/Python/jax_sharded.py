# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps on several devices, with collectives: budgets are those of one device.

REQUIRES: jax
RUN: %pytest %s
"""

import os
import re
import sys

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
)

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

import numpy as np  # noqa: E402
from jax import export  # noqa: E402
from jax.sharding import AbstractMesh, Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from jax_steps import bits, copied, numbers, perceptron, recomputed, smallest_budget  # noqa: E402
from remat import InvalidInputError  # noqa: E402
from remat.jax import UnsupportedError, explain, rematerialize  # noqa: E402
from remat.jax.memory import memory_of  # noqa: E402
from remat.units import resolve_budget  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::remat.RematWarning")

LAYERS = 2
BARRIERS = {"xla_disable_hlo_passes": "cse_barrier_expander"}


@pytest.fixture(scope="module")
def mesh():
    assert jax.device_count() == 2
    return Mesh(np.array(jax.devices()), ("data",))


def on_devices(body, mesh, results=P(), **options):
    """`body(params, x)` on every device, with a part of the rows of `x`."""
    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(), P("data")), out_specs=results, **options
    )


def data_parallel(layer=None):
    """A step with the same parameters on every device, each with a part of the batch."""
    _, params, x = perceptron(LAYERS, layer=layer)
    layer = layer or (lambda w, h: jnp.tanh(jax.nn.gelu(h @ w)))

    def loss(params, x):
        for w in params:
            x = layer(w, x)
        return jnp.mean(jnp.square(x))

    def step(params, x):
        value, gradients = jax.value_and_grad(loss)(params, x)
        value, gradients = jax.lax.pmean((value, gradients), "data")
        return value, [p - 0.1 * g for p, g in zip(params, gradients)]

    return step, params, x


def placed(mesh, params, x):
    """Copies of the arguments of a step, where they belong."""
    everywhere, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    return jax.device_put(copied(params), everywhere), jax.device_put(copied(x), split)


def train(step, mesh, params, x):
    """The losses and the parameters of 3 steps."""
    params, x = placed(mesh, params, x)
    history = []
    for _ in range(3):
        value, params = step(params, x)
        history.append(bits((value, params)))
    return history


def collectives(lowered):
    """The collectives of a program in their order, with their types."""
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True)
    kinds = r'"stablehlo\.(all_gather|all_reduce|reduce_scatter)"'
    # The type of a reduction is behind its region.
    return re.findall(kinds + r"\(.*?\) : (\(tensor<\S+>\) -> tensor<\S+>)", text, re.DOTALL)


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("jitted", [True, False])
def test_whole_shard_map_keeps_a_budget_per_device(mesh, checked, jitted):
    step, params, x = data_parallel()
    whole = on_devices(step, mesh, check_vma=checked)
    plain = jax.jit(whole, donate_argnums=0)
    figures = memory_of(plain.lower(*placed(mesh, params, x)).compile())
    planned = rematerialize(jax.jit(whole) if jitted else whole, "80%", donate_argnums=0)
    report = planned.report(*placed(mesh, params, x))
    # Parameters are updated in place, and there is half of the batch.
    assert figures.aliased_bytes == sum(p.nbytes for p in params)
    assert report.xla["baseline"] == figures.json()
    assert figures.argument_bytes == sum(p.nbytes for p in params) + x.nbytes // 2
    assert recomputed(report) > 0
    chosen = memory_of(planned.lower(*placed(mesh, params, x)).compile())
    budget = resolve_budget("80%", figures.total_bytes)
    assert chosen.total_bytes <= report.xla["budget_bytes"] == budget
    assert chosen.json() == report.xla["chosen"]
    assert train(planned, mesh, params, x) == train(plain, mesh, params, x)
    # The loss and the gradients are summed as often as before.
    before, after = (each.lower(*placed(mesh, params, x)) for each in (plain, planned))
    assert collectives(before) == collectives(after)
    assert len(collectives(after)) > LAYERS
    assert "optimization_barrier" in after.as_text()


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("abstract", [True, False])
def test_body_of_shard_map_keeps_a_budget_per_device(mesh, checked, abstract):
    step, params, x = data_parallel()
    arguments = placed(mesh, params, x)
    plain = jax.jit(on_devices(step, mesh, check_vma=checked))
    budget = int(0.8 * memory_of(plain.lower(*arguments).compile()).total_bytes)
    planned = rematerialize(step, budget)
    where = AbstractMesh((2,), ("data",)) if abstract else mesh
    outer = jax.jit(on_devices(planned, where, check_vma=checked), compiler_options=BARRIERS)
    compiled = outer.lower(*arguments).compile()
    assert memory_of(compiled).total_bytes <= budget
    assert train(compiled, mesh, params, x) == train(plain, mesh, params, x)
    # One plan, of which the report knows what was compiled for it.
    (choice,) = planned._choices.values()
    assert choice.report.xla["chosen"] == memory_of(compiled).json()
    assert recomputed(choice.report) > 0


def test_body_that_is_not_jitted(mesh):
    step, params, x = data_parallel()
    planned = on_devices(rematerialize(step, "90%", calibrate=False), mesh)
    expected = train(jax.jit(on_devices(step, mesh)), mesh, params, x)
    assert train(planned, mesh, params, x) == expected


def test_scan_over_steps(mesh):
    step, params, x = data_parallel()
    whole = on_devices(step, mesh)

    def run(step):
        def body(params, _):
            value, params = step(params, placed_x)
            return params, value

        return jax.jit(lambda params: jax.lax.scan(body, params, length=3))(placed_params)

    placed_params, placed_x = placed(mesh, params, x)
    budget = smallest_budget(whole, placed_params, placed_x)
    planned = rematerialize(whole, budget, calibrate=False)
    assert bits(run(planned)) == bits(run(whole))


def test_values_of_collectives_are_kept_and_what_is_around_recomputed(mesh):
    def layer(w, h):
        # On both devices each has half of the weights, and a sum over rows of both.
        half = jax.lax.dynamic_slice_in_dim(w, 8 * jax.lax.axis_index("data"), 8, axis=1)
        whole = jax.lax.all_gather(half, "data", axis=1, tiled=True)
        h = jnp.tanh(jax.nn.gelu(h @ whole))
        return h - jax.lax.pmean(jnp.mean(h, axis=0), "data")

    step, params, x = data_parallel(layer)
    whole = on_devices(step, mesh, check_vma=False)
    arguments = placed(mesh, params, x)
    budget = smallest_budget(whole, *arguments)
    planned = rematerialize(whole, budget, calibrate=False)
    assert recomputed(planned.report(*arguments)) > 0
    # In the same order: devices that do not agree wait for each other forever.
    before, after = (collectives(each.lower(*arguments)) for each in (jax.jit(whole), planned))
    assert before == after
    assert {name for name, _ in after} == {"all_gather", "all_reduce", "reduce_scatter"}
    assert train(planned, mesh, params, x) == train(jax.jit(whole), mesh, params, x)


def test_random_numbers_of_each_device(mesh):
    def layer(w, h):
        key = jax.random.fold_in(jax.random.key(3), jax.lax.axis_index("data"))
        return jnp.tanh(jax.nn.gelu(h @ w)) * jax.random.bernoulli(key, 0.9, h.shape)

    step, params, x = data_parallel(layer)
    whole = on_devices(step, mesh, check_vma=False)
    budget = smallest_budget(whole, *placed(mesh, params, x))
    planned = rematerialize(whole, budget, calibrate=False)
    assert recomputed(planned.report(*placed(mesh, params, x))) > 0
    assert train(planned, mesh, params, x) == train(jax.jit(whole), mesh, params, x)


def test_collectives_around_and_of_several_kinds(mesh):
    step, params, x = data_parallel()
    budget = smallest_budget(on_devices(step, mesh), *placed(mesh, params, x))
    planned = rematerialize(step, budget, calibrate=False)

    def around(step):
        def body(params, x):
            rows = jax.lax.all_gather(x, "data", tiled=True)
            value, params = step(params, rows[: x.shape[0]] + x)
            other, params = step(params, jax.lax.ppermute(x, "data", [(0, 1), (1, 0)]))
            return jax.lax.psum(value + other, "data"), params

        return jax.jit(on_devices(body, mesh, check_vma=False))

    assert train(around(planned), mesh, params, x) == train(around(step), mesh, params, x)


def test_collectives_over_the_rows_of_vmap():
    step, params, x = data_parallel()

    def rows(step):
        return jax.jit(jax.vmap(step, in_axes=(None, 0), axis_name="data"))

    halves = x.reshape(2, -1, x.shape[1])
    planned = rematerialize(step, "1GB", calibrate=False)
    assert bits(rows(planned)(params, halves)) == bits(rows(step)(params, halves))


def test_pmap_with_collectives():
    step, params, x = data_parallel()
    halves = x.reshape(2, -1, x.shape[1])

    def rows(step):
        return jax.pmap(step, axis_name="data", in_axes=(None, 0))(params, halves)

    planned = rematerialize(step, "1GB", calibrate=False)
    if jax.version.__version_info__ >= (0, 8):
        assert bits(rows(planned)) == bits(rows(step))
    else:
        with pytest.raises(UnsupportedError, match="'step' has collectives.*jax.shard_map"):
            rows(planned)


def test_results_that_are_not_computed(mesh):
    def body(params, x):
        total = jax.lax.psum(jnp.sum(x @ params[0]), "data")
        return total, total, 3.0, params

    step, params, x = on_devices(body, mesh), [numbers(0, 16, 16)], numbers(1, 8, 16)
    arguments = placed(mesh, params, x)
    assert bits(rematerialize(step, "1GB")(*arguments)) == bits(jax.jit(step)(*arguments))
    nothing = on_devices(lambda params, x: params, mesh)
    assert bits(rematerialize(nothing, "1GB")(*arguments)) == bits(params)


def test_array_that_is_donated_and_read_twice(mesh):
    def body(a, b):
        return a + 1, b * jax.lax.psum(jnp.sum(b), "data")

    both = jax.shard_map(body, mesh=mesh, in_specs=(P(), P()), out_specs=(P(), P()))
    x = jax.device_put(numbers(1, 64, 64), NamedSharding(mesh, P()))
    expected = bits(jax.jit(both)(x, x))
    assert bits(rematerialize(lambda x: both(x, x), "1GB", donate_argnums=0)(x)) == expected


def test_arrays_that_are_split_are_refused(mesh):
    step, params, x = perceptron(LAYERS)
    split = jax.device_put(x, NamedSharding(mesh, P("data")))
    # Also where an earlier call was not split, and the plan of that is known.
    planned = rematerialize(step, "90%", calibrate=False)
    assert planned(params, x)[0] == step(params, x)[0]
    by_model = rematerialize(step, 1, calibrate=False)
    for function in (planned, rematerialize(step, "1GB"), by_model):
        with pytest.raises(UnsupportedError, match="split.*jax.shard_map"):
            function(params, split)


def test_body_that_is_split_further_is_refused():
    mesh = Mesh(np.array(jax.devices()).reshape(1, 2), ("data", "model"))
    step, params, x = data_parallel()
    whole = on_devices(step, mesh, axis_names={"data"})
    for function in (rematerialize(whole, "1GB"), on_devices(rematerialize(step, "1GB"), mesh,
                                                             axis_names={"data"})):
        with pytest.raises(UnsupportedError, match="split.*jax.shard_map"):
            jax.jit(function)(params, x)


def test_shard_map_beside_other_operations_is_refused(mesh):
    step, params, x = data_parallel()
    whole = on_devices(step, mesh)
    both = Mesh(np.array(jax.devices()).reshape(2, 1), ("data", "model"))

    def twice(params, x):
        return whole(whole(params, x)[1], x)

    def nested(params, x):
        inner = jax.shard_map(jnp.sin, in_specs=P("model"), out_specs=P("model"))
        return jax.lax.psum(jnp.sum(inner(x @ params[0])), "data")

    with pytest.raises(UnsupportedError, match="'twice' contains 'shard_map' beside other"):
        rematerialize(twice, "1GB")(params, x)
    with pytest.raises(UnsupportedError, match="'shard_map' beside other"):
        rematerialize(on_devices(nested, both, axis_names={"data"}), "1GB")(params, x)
    with pytest.raises(UnsupportedError, match="shard_map"):
        explain(whole, params, x)


def test_callbacks_of_a_body_are_refused(mesh):
    def body(params, x):
        jax.debug.print("x = {x}", x=x[0, 0])
        return jax.lax.psum(jnp.sum(x @ params[0]), "data")

    step, params, x = on_devices(body, mesh), [numbers(0, 16, 16)], numbers(1, 8, 16)
    with pytest.raises(UnsupportedError, match="calls back into Python"):
        rematerialize(step, "1GB")(params, x)


def test_mesh_without_devices():
    step, params, x = data_parallel()
    mesh = AbstractMesh((4,), ("data",))

    def whole(planned):
        shapes = [jax.ShapeDtypeStruct(p.shape, p.dtype) for p in params]
        x_shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return export.export(jax.jit(on_devices(planned, mesh)))(shapes, x_shape)

    with pytest.raises(InvalidInputError, match="2 of 4 devices.*mesh.*calibrate=False"):
        whole(rematerialize(step, "1GB"))
    assert whole(rematerialize(step, "1GB", calibrate=False))
