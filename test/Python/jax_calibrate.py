# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The controller that finds the internal target: on made-up compilers, without JAX's.

RUN: %pytest %s
"""

import pytest

pytest.importorskip("jax")

from remat.errors import InfeasibleError
from remat.jax.calibrate import (
    ENOUGH_USED,
    MAX_COMPILES,
    Point,
    Round,
    best_round,
    calibrate,
)


class Compiler:
    """A planner that hits its target, and a compiler whose figure is a function of it.

    The model counts 1000 bytes for the unchanged program; below `minimum` nothing is feasible.
    """

    unchanged_model = 1000

    def __init__(self, figure, minimum=100, steps=1):
        self.figure = figure
        self.minimum = minimum
        self.steps = steps
        self.targets = []
        self.programs = set()

    def measure(self, target):
        self.targets.append(target)
        if target < self.minimum:
            raise InfeasibleError("too small", minimum_bytes=self.minimum)
        packed = min(max(target // self.steps * self.steps, self.minimum), self.unchanged_model)
        compiled = packed not in self.programs
        self.programs.add(packed)
        return Round(
            target_bytes=target,
            predicted_bytes=packed,
            xla_bytes=int(self.figure(packed)),
            overhead=(self.unchanged_model - packed) / self.unchanged_model,
            minimum_bytes=self.minimum,
            compiled=compiled,
        )

    def run(self, budget, fixed=50):
        unchanged = Point(self.unchanged_model, self.figure(self.unchanged_model))
        rounds = calibrate(budget, self.measure, unchanged=unchanged, fixed_bytes=fixed)
        assert sum(each.compiled for each in rounds) <= MAX_COMPILES
        assert len(self.programs) <= MAX_COMPILES
        assert len(self.targets) == len(set(self.targets)), "a target was tried twice"
        return rounds, best_round(budget, rounds)


def test_exact_model_needs_one_round():
    rounds, best = Compiler(lambda packed: packed).run(600)
    assert len(rounds) == 1
    assert ENOUGH_USED * 600 <= best.xla_bytes <= 600


@pytest.mark.parametrize("factor", [0.3, 0.5, 0.8, 1.3, 2.0, 3.0])
def test_wrong_scale_is_found(factor):
    compiler = Compiler(lambda packed: 50 + factor * (packed - 50))
    budget = int(compiler.figure(600))
    rounds, best = compiler.run(budget)
    assert ENOUGH_USED * budget <= best.xla_bytes <= budget
    assert len(rounds) <= 2


@pytest.mark.parametrize("budget", [200, 350, 500, 650, 800, 950])
def test_curved_figure(budget):
    _, best = Compiler(lambda packed: 1000 * (packed / 1000) ** 2, minimum=10).run(budget, fixed=0)
    assert best is not None
    assert best.xla_bytes <= budget


def test_figure_that_is_not_monotone():
    # Smaller targets are worse in the middle.
    def figure(packed):
        return packed + 300 if 400 < packed < 700 else packed

    rounds, best = Compiler(figure).run(600)
    assert best is not None
    assert best.xla_bytes <= 600
    assert all(each.xla_bytes > 600 or each.overhead >= best.overhead for each in rounds)


@pytest.mark.parametrize("budget", range(150, 1000, 50))
def test_figure_that_oscillates(budget):
    def figure(packed):
        return packed + (150 if packed // 25 % 2 else 0)

    rounds, best = Compiler(figure).run(budget)
    # The smallest plan takes 100, so the last round at the latest has found one that fits.
    assert best is not None
    assert best.xla_bytes <= budget
    assert rounds


def test_what_never_fits_is_tried_with_the_smallest_plan():
    rounds, best = Compiler(lambda packed: packed + 500).run(400)
    assert best is None
    assert min(each.target_bytes for each in rounds) == 100
    assert min(each.xla_bytes for each in rounds) == 600


def test_constant_figure_ends():
    compiler = Compiler(lambda packed: 900)
    rounds, best = compiler.run(500)
    assert best is None
    assert len(rounds) <= MAX_COMPILES


def test_target_below_the_planner_s_minimum():
    # The model counts too much: what it takes 400 for is 200 for XLA.
    compiler = Compiler(lambda packed: packed / 2, minimum=400)
    rounds, best = compiler.run(200, fixed=10)
    assert best is not None
    assert 400 in compiler.targets
    assert best.xla_bytes == 200
    assert rounds


def test_unused_budget_is_given_back():
    # XLA needs far less than the model between the ends.
    def figure(packed):
        return packed if packed > 950 else packed * 0.6

    rounds, best = Compiler(figure, minimum=50).run(540)
    assert best.xla_bytes >= ENOUGH_USED * 540
    assert best.overhead == min(each.overhead for each in rounds if each.xla_bytes <= 540)


def test_program_that_costs_nothing_is_good_enough():
    rounds = calibrate(
        900,
        lambda target: Round(target, target, 300, overhead=0.0, minimum_bytes=100),
        unchanged=Point(1000, 1000),
        fixed_bytes=0,
    )
    assert len(rounds) == 1


def test_equal_programs_are_no_compilations():
    # Only four programs exist.
    compiler = Compiler(lambda packed: packed, minimum=250, steps=250)
    rounds, best = compiler.run(600)
    assert best.xla_bytes == 500
    assert len(rounds) >= len(compiler.programs)


def test_cheapest_that_fits_is_chosen():
    def round_of(xla_bytes, overhead):
        return Round(1, 1, xla_bytes, overhead, 1)

    rounds = [round_of(90, 0.2), round_of(110, 0.0), round_of(95, 0.1), round_of(80, 0.1)]
    assert best_round(100, rounds) is rounds[3]
    assert best_round(70, rounds) is None


def test_refusal_of_a_target_above_the_minimum_is_no_loop():
    def measure(target):
        raise InfeasibleError("no", minimum_bytes=target)

    with pytest.raises(InfeasibleError):
        calibrate(500, measure, unchanged=Point(1000, 1000), fixed_bytes=0)
