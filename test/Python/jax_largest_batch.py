# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The largest batch within a budget is that of planning every batch, and is planned itself.

RUN: %pytest %s
"""

import os
import random
import sys
from functools import partial

import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))

from jax_steps import perceptron  # noqa: E402
from remat import InfeasibleError, InvalidInputError, examples  # noqa: E402
from remat.jax import UnsupportedError, largest_batch, rematerialize  # noqa: E402
from remat.jax.largest_batch import _NEIGHBOURS, _next_for_throughput, _search  # noqa: E402
from remat.units import format_bytes  # noqa: E402

largest = partial(largest_batch, donate_argnums=0, effort=0)


def zoo(name, **sizes):
    def make_step(batch):
        example = examples.get(name, batch=batch, **sizes)
        return example.step, (example.state_shapes(), example.batch_shapes())

    return make_step


def deep(batch):
    """Activations of four layers, which recomputation halves about."""
    step, params, _ = perceptron(4)
    return step, (params, jax.ShapeDtypeStruct((batch, 16), jnp.float32))


def planned_one_by_one(make_step, budget, batches, max_overhead=None):
    """The slow twin: the front end plans each batch, and the largest that it takes is the answer."""
    fitting = {}
    for batch in batches:
        step, args = make_step(batch)
        planned = rematerialize(step, budget, calibrate=False, donate_argnums=0, effort=0)
        try:
            function = planned.report(*args).function("main")
        except InfeasibleError:
            continue
        if max_overhead is None or function.overhead <= max_overhead:
            fitting[batch] = function
    return fitting


def peak_of(make_step, batch, **options):
    return largest(make_step, "1TB", batch, batch, 1, **options).table[0].unchanged_bytes


@pytest.mark.parametrize(
    "make_step, full, hi, max_overhead",
    [
        (deep, 24, 96, None),
        (zoo("perceptron", inputs=16, hidden=64, outputs=16), 96, 192, 0.3),
        (zoo("perceptron", inputs=64, hidden=32, outputs=1), 48, 96, "5%"),
    ],
)
def test_same_as_planning_every_batch(make_step, full, hi, max_overhead):
    """Unchanged, a batch of `full` fills the budget."""
    budget = peak_of(make_step, full)
    multiple = hi // 12
    batches = range(multiple, hi + 1, multiple)
    limit = {None: None, 0.3: 0.3, "5%": 0.05}[max_overhead]
    fitting = planned_one_by_one(make_step, budget, batches, limit)
    assert 0 < len(fitting) < len(batches), "the test decides nothing"
    fast = largest(make_step, budget, 1, hi, multiple, max_overhead)
    assert fast.batch == max(fitting)
    assert len(fast.table) < len(batches)
    slow = largest(make_step, budget, 1, hi, multiple, max_overhead, exhaustive=True)
    assert slow.batch == fast.batch
    assert [row.batch for row in slow.table] == list(batches)
    for row in slow.table:
        assert row.fits == (row.batch in fitting)
        if row.fits:
            function = fitting[row.batch]
            assert row.planned_bytes == function.packed_bytes <= budget
            assert row.overhead == function.overhead
            picoseconds = function.cost_ps + function.added_cost_ps
            assert row.samples_per_second == pytest.approx(row.batch / (picoseconds * 1e-12))
        else:
            assert row.samples_per_second is None
    # The rows of the fast search are rows of the slow one, and it hardly misses samples per second.
    assert all(row == slow.row(row.batch) for row in fast.table)
    speed = [each.row(each.best_throughput).samples_per_second for each in (fast, slow)]
    assert 0.98 * speed[1] <= speed[0] <= speed[1]
    assert speed[1] == max(row.samples_per_second or 0 for row in slow.table)


def test_recomputation_takes_larger_batches():
    budget = peak_of(deep, 64)
    unchanged = largest(deep, budget, 8, 256, max_overhead=0)
    recomputed = largest(deep, budget, 8, 256)
    assert unchanged.batch >= 64
    assert recomputed.batch > unchanged.batch
    row = recomputed.row(recomputed.batch)
    assert row.unchanged_bytes > budget >= row.planned_bytes
    assert row.overhead > 0
    assert recomputed.report.function("main").recomputed
    # The front end keeps the promise, and refuses the next one.
    step, args = deep(recomputed.batch)
    rematerialize(step, budget, calibrate=False, donate_argnums=0, effort=0).report(*args)
    step, args = deep(recomputed.batch + 8)
    with pytest.raises(InfeasibleError):
        rematerialize(step, budget, calibrate=False, donate_argnums=0, effort=0).report(*args)


def test_search_finds_what_is_monotone():
    for count in range(1, 40):
        for fitting in range(count + 1):
            tried = []
            answer = _search(count, lambda i: tried.append(i) or i < fitting)
            assert answer == (fitting - 1 if fitting else None)
            assert len(tried) <= 2 * count.bit_length() + 2 * _NEIGHBOURS + 8


@pytest.mark.parametrize("seed", range(200))
def test_search_of_what_is_not_monotone(seed):
    """What it finds fits, and the next ones above do not."""
    generator = random.Random(seed)
    count = generator.randint(1, 60)
    fitting = [generator.random() < 1 - i / count for i in range(count)]
    answer = _search(count, lambda i: fitting[i])
    if answer is None:
        assert not any(fitting[: 1 + _NEIGHBOURS])
    else:
        assert fitting[answer]
        assert not any(fitting[answer + 1 : answer + 1 + _NEIGHBOURS])


def test_search_for_throughput_ends_at_a_peak():
    speed = [min(i, 30 - 2 * (i - 30) if i > 30 else i) for i in range(40)]
    known = {0: speed[0], 39: speed[39]}
    while (index := _next_for_throughput(known, 39)) is not None:
        assert index not in known
        known[index] = speed[index]
    assert max(known.values()) == max(speed)
    assert len(known) < 20


def test_another_program_for_some_batches():
    """Batches that are no multiple of 32 are computed three times, and so take more than larger ones."""

    def make_step(batch):
        step, (params, x) = deep(batch)
        if batch % 32 == 0:
            return step, (params, x)
        return (lambda params, x: step(params, jnp.concatenate([x] * 3))), (params, x)

    budget = peak_of(make_step, 64)
    every = largest(make_step, budget, 8, 72, max_overhead=0, exhaustive=True)
    assert every.batch == 64
    fits = [row.batch for row in every.table if row.fits]
    assert 32 in fits and 40 not in fits and 56 not in fits
    # Bisection may stop below the gap, but not in it.
    fast = largest(make_step, budget, 8, 72, max_overhead=0)
    assert fast.batch in (32, 64)
    assert fast.row(fast.batch) == every.row(fast.batch)


def test_nothing_is_allocated():
    """Batches of terabytes, for a device that is not there."""
    answer = largest(deep, "100TB", 2**32, 2**33, 2**32, device="h100")
    assert answer.batch == 2**33
    assert answer.table[0].unchanged_bytes > 2**40


def test_donation():
    """By donate_argnums, by `jax.jit` and by `rematerialize` it is the same."""
    step, (params, _) = deep(8)

    def make(wrap):
        return lambda batch: (wrap(step), (params, jax.ShapeDtypeStruct((batch, 16), jnp.float32)))

    wrappers = [
        partial(jax.jit, donate_argnums=0),
        partial(rematerialize, budget="1GB", donate_argnums=0),
    ]
    expected = largest(make(lambda fn: fn), "1MB", 8, 16).table
    plain = largest_batch(make(lambda fn: fn), "1MB", 8, 16, effort=0).table
    for wrap in wrappers:
        table = largest_batch(make(wrap), "1MB", 8, 16, effort=0).table
        assert table == expected
        bytes_donated = sum(each.nbytes for each in params)
        assert plain[0].unchanged_bytes - table[0].unchanged_bytes == bytes_donated


def test_text_and_html():
    budget = peak_of(deep, 64)
    answer = largest(deep, budget, 8, 100_000, max_overhead="50%")
    text, page = str(answer), answer._repr_html_()
    assert f"largest batch within {format_bytes(budget)} and +50 % of the cost: {answer.batch}" in text
    assert len(text.splitlines()) == 2 + len(answer.table)
    for each in (text, page):
        assert "does not fit" in each and "most samples per second" in each
    assert page.count("<tr>") == 1 + len(answer.table)
    with pytest.raises(KeyError):
        answer.row(9)


def test_nothing_fits():
    with pytest.raises(InfeasibleError, match="no batch that was planned, from 64 on") as error:
        largest(deep, 10_000, 64, 128)
    smallest = error.value.minimum_bytes
    assert error.value.budget_bytes == 10_000 < smallest
    assert error.value.report.function("main").status == "infeasible"
    assert str(smallest) in str(error.value)
    assert largest(deep, smallest, 64, 128).batch == 64
    # There is a plan, but it costs too much.
    with pytest.raises(InfeasibleError, match=r"and \+0 % of the cost"):
        largest(deep, smallest, 64, 128, max_overhead=0)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((0, 8), "'lo' to be at least 1, but got 0"),
        ((8, -1), "'hi' to be at least 1, but got -1"),
        ((8, 16, 0), "'multiple_of' to be at least 1, but got 0"),
        ((16, 8), "'lo' to be at most 'hi', but got 16 and 8"),
        ((9, 15), "no multiple of 8 from 9 to 15"),
    ],
)
def test_wrong_ranges(arguments, words):
    with pytest.raises(InvalidInputError, match=words):
        largest(deep, "1MB", *arguments)


@pytest.mark.parametrize("budget", ["80%", "0.5x"])
def test_budget_that_depends_on_the_batch(budget):
    with pytest.raises(InvalidInputError, match="another one for each batch"):
        largest(deep, budget, 8, 16)


def test_wrong_types_and_limits():
    with pytest.raises(TypeError, match="'lo' as int, but got float"):
        largest(deep, "1MB", 8.0, 16)
    with pytest.raises(TypeError, match="return a function and the tuple of its arguments"):
        largest(lambda batch: deep(batch)[0], "1MB", 8, 16)
    with pytest.raises(TypeError, match="expected a function, but got int"):
        largest(lambda batch: (3, ()), "1MB", 8, 16)
    with pytest.raises(InvalidInputError, match="expected a percentage"):
        largest(deep, "1MB", 8, 16, max_overhead="much")
    with pytest.raises(InvalidInputError, match="'identity' computes nothing"):

        def identity(x):
            return x

        largest(lambda batch: (identity, (jnp.ones(batch),)), "1MB", 8, 16)


def test_what_cannot_be_planned():
    def printing(x):
        jax.debug.print("{}", x[0])
        return jnp.sin(x)

    with pytest.raises(UnsupportedError, match="'printing' calls back into Python"):
        largest(lambda batch: (printing, (jnp.ones(batch),)), "1MB", 8, 16)
