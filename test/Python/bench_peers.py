# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmark of XLA:GPU says of plans and their peers, given what was compiled.

RUN: %pytest %s
"""

import os
import sys

import pytest

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bench"))

import xla_gpu  # noqa: E402
from hlo import Counts  # noqa: E402
from xla_gpu import MIB, Point, Refusal, Results  # noqa: E402

FIXED = 100 * MIB


def point(name, temporaries, products, overhead=None, predicted=None):
    """A program with so many MiB of temporaries."""
    return Point(name, temporaries * MIB, FIXED + temporaries * MIB, Counts(products), overhead,
                 predicted and predicted * MIB)


class Bench:
    """A model whose plans are known: temporaries in MiB -> plan."""

    name = "model"
    fixed_bytes = FIXED

    def __init__(self, plans, predicted=1000):
        self.unchanged = point("unchanged", 1000, 30, 0.0, predicted)
        self.plans = {FIXED + size * MIB: plan for size, plan in plans.items()}

    def part_of_unchanged(self, percent):
        return self.unchanged.total_bytes * percent // 100

    def ours(self, name, budget_bytes):
        return self.plans[budget_bytes], "activations 300 MiB"


@pytest.mark.parametrize("predicted, failures", [
    (1029, []), (971, []),
    (1031, ["model: predicted +3.10 % off"]), (969, ["model: predicted -3.10 % off"]),
])
def test_baseline_is_predicted_within_three_percent(predicted, failures):
    results = Results()
    results.add_baseline(Bench({}, predicted))
    assert results.failures == failures
    assert "| model | 100 | 1000 |" in str(results)


def test_budgets_are_kept_or_refused():
    # A budget of 50 % is 550 MiB, of which 450 are for temporaries.
    for temporaries, failures in ((450, []), (451, [f"model, 50 %: {MIB} bytes above"])):
        results = Results()
        results.add_budget(Bench({450: point("plan", temporaries, 33, 0.05, 440)}), 50)
        assert results.failures == failures
        assert f"| model | 50 % | 550 | {100 + temporaries} |" in str(results)
    results = Results()
    results.add_budget(Bench({450: Refusal("plan", 600 * MIB, 500 * MIB)}), 50)
    assert results.failures == []
    assert "refused, least 600" in str(results)


@pytest.mark.parametrize("plan, verdict", [
    (point("plan", 590, 35, 0.09), "no more"),
    (point("plan", 590, 36, 0.09), "more products"),
    (point("plan", 590, 35, 0.11), "more cost"),
    (Refusal("plan", 800 * MIB, 700 * MIB), "not reached, least 700"),
])
def test_plans_add_no_more_than_peers(plan, verdict):
    results = Results()
    results.add_peer(Bench({600: plan}), point("peer", 600, 35, 0.1))
    rows = [line for line in str(results).splitlines() if line.startswith("| model | peer | 600 ")]
    assert len(rows) == 1 and rows[0].endswith(f"| {verdict} |")
    assert bool(results.failures) == (verdict != "no more")
    assert ("activations 300 MiB" in str(results)) == (verdict != "no more")


@pytest.mark.parametrize("plan, failures", [
    (point("plan", 440, 33, 0.04), 0),
    (point("plan", 440, 34, 0.04), 1),
    (point("plan", 440, 34, 0.05), 2),
    (Refusal("plan", 800 * MIB, 700 * MIB), 1),
])
def test_half_costs_less_than_a_third_of_checkpoints(plan, failures):
    results = Results()
    results.add_half(Bench({450: plan}), point(xla_gpu.CHECKPOINT, 400, 42, 0.15))
    assert len(results.failures) == failures
    assert (f"### Not as it should be\n\n{'* model' if failures else 'All is'}") in str(results)


def test_rows_of_tables_have_all_columns():
    results, bench = Results(), Bench({450: point("plan", 440, 33, 0.04, 430)})
    checkpoint = point(xla_gpu.CHECKPOINT, 450, 42, 0.15)
    results.add_baseline(bench)
    results.add_budget(bench, 50)
    results.add_peer(bench, checkpoint)
    results.add_half(bench, checkpoint)
    refusing = Bench({450: Refusal("plan", 600 * MIB, 500 * MIB)})
    results.add_budget(refusing, 50)
    results.add_peer(refusing, checkpoint)
    widths = None
    for line in str(results).splitlines():
        widths = line.count(" |") if line.startswith("|") and widths is None else widths
        if not line.startswith("|"):
            widths = None
        else:
            assert line.count(" |") == widths, line
