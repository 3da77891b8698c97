# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Benchmarks of the front end of JAX count and judge rightly; they are too slow to run as tests.

RUN: %pytest %s
"""

import os
import subprocess
import sys

import pytest

BENCH = os.path.join(os.path.dirname(__file__), "..", "bench")


def run(script, *arguments):
    return subprocess.run([sys.executable, os.path.join(BENCH, script), *arguments],
                          capture_output=True, text=True)


def test_selftest_of_the_counts_of_compiled_programs():
    ended = run("xla_gpu.py", "--selftest")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--models=gpt3"], "there is no 'gpt3': there are gpt2, gpt2-bf16"),
    (["--only=some"], "there is no 'some': there are baseline, budgets, peers"),
    (["--set=layers"], "expected --set FIELD=VALUE"),
    (["--models=gpt2"], "expected --plugin, or the environment variable REMAT_XLA_GPU_PLUGIN"),
])
def test_wrong_options_of_xla_gpu(arguments, message, monkeypatch):
    monkeypatch.delenv("REMAT_XLA_GPU_PLUGIN", raising=False)
    ended = run("xla_gpu.py", *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
