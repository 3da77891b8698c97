# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler of benchmarks compiles what it is given, once, and remembers its figures.

RUN: %pytest %s
"""

import os
import sys

import pytest

jax = pytest.importorskip("jax")

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bench"))

from gpu_compiler import Compiler, Step  # noqa: E402

from remat import examples  # noqa: E402
from remat.jax.memory import memory_of  # noqa: E402


@pytest.fixture(scope="module")
def step():
    return Step(examples.get("perceptron"), jax.devices("cpu")[0], "cpu")


def test_another_module_is_compiled_in_place_of_the_step(step):
    assert "minimum" not in step.text and "stablehlo.maximum" in step.text
    other = step.text.replace("stablehlo.maximum", "stablehlo.minimum")
    for _ in range(2):
        assert " minimum(" not in step.compile(None, {}).as_text()
        assert " minimum(" in step.compile(other, {}).as_text()


def test_figures_are_those_of_xla_and_kept(step, tmp_path):
    said = []
    folder = str(tmp_path / "cache")
    first = Compiler(folder, {}, said.append).figures(step)
    assert first.memory == memory_of(step.compile(None, {}))
    # Two forward; of both weights and of what is between backward.
    assert first.counts.products == 5
    assert len(said) == 1
    assert Compiler(folder, {}, said.append).figures(step) == first
    assert len(said) == 1
    # Other options of XLA, another module and another device are other programs.
    Compiler(folder, {"xla_backend_optimization_level": 0}, said.append).figures(step)
    Compiler(folder, {}, said.append).figures(
        step, step.text.replace("stablehlo.maximum", "stablehlo.minimum"))
    other = Step(examples.get("perceptron"), jax.devices("cpu")[0], "another")
    Compiler(folder, {}, said.append).figures(other)
    assert len(said) == 4
