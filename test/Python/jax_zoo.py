# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the zoo train to the same bits within budgets; test/bench/jax_zoo.py has all of them.

RUN: %pytest %s
"""

import importlib.util
import os
import sys

import pytest

pytest.importorskip("jax")

BENCH = os.path.join(os.path.dirname(__file__), "..", "bench", "jax_zoo.py")
# By its path: this file has the same name.
_spec = importlib.util.spec_from_file_location("bench_jax_zoo", BENCH)
zoo = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = zoo
_spec.loader.exec_module(zoo)

from remat import InfeasibleError  # noqa: E402


@pytest.mark.parametrize("model, dtype, budgets, promises", [
    # Parameters fill the memory of the perceptron; layers and logits that of GPT-2.
    ("perceptron", "f32", [100, 60], ["kept", "refused"]),
    ("perceptron", "bf16", [100], ["kept"]),
    ("gpt2", "f32", [80, 20], ["kept", "refused"]),
    ("data_parallel", "f32", [80], ["kept"]),
])
def test_promises_are_kept_or_refused(model, dtype, budgets, promises):
    rows = list(zoo.rows([model], [dtype], budgets))
    assert [row.promise for row in rows] == promises, rows
    for row in rows:
        assert row.bits == ("equal" if row.promise == "kept" else "")
        assert (row.xla_bytes <= row.promised_bytes) == (row.promise == "kept")


def test_two_trainings_differ_in_a_single_bit():
    history = [[("loss", b"\0"), ("state", b"\1\2")], [("loss", b"\0"), ("state", b"\3\4")]]
    changed = [history[0], [("loss", b"\0"), ("state", b"\3\5")]]
    assert zoo.first_difference(history, history) == ""
    assert zoo.first_difference(history, changed) == "step 2: state and 0 more of 2"
    assert zoo.first_difference(history, history[:1]) == "1 steps and not 2"
    assert zoo.first_difference(history, [history[0], [("loss", b"\0")]]) == (
        "step 2: another structure")


@pytest.mark.parametrize("least, budget, problem", [
    (90, 80, ""),
    (80, 80, "the least, 80 bytes, is not above 80 and at most 100"),
    (101, 80, "the least, 101 bytes, is not above 80 and at most 100"),
    (90, 70, "refused 70 and not 80 bytes"),
])
def test_refusals_are_judged(least, budget, problem):
    error = InfeasibleError("", minimum_bytes=least, budget_bytes=budget)
    assert zoo.refusal_problem(error, 80, 100) == problem
