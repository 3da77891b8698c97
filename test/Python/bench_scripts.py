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
sys.path.append(BENCH)

import cpu_memory  # noqa: E402


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


@pytest.mark.parametrize("total, temporary, grown, loss, wrong", [
    (60, 40, 42, 1.00001, []),
    # Nine tenths of what temporaries fall by.
    (60, 40, 51, 1.0, []),
    (60, 40, 58, 1.0, ["the process does not fall as promised"]),
    (61, 41, 42, 1.0, ["above the budget"]),
    (60, 40, 42, 1.1, ["loss 1.1 and not 1.0"]),
])
def test_processes_are_judged(total, temporary, grown, loss, wrong):
    unchanged = cpu_memory.Measured(None, 120, 100, 105, 1.0, 0.0)
    measured = cpu_memory.Measured(60, total, temporary, grown, loss, 0.1)
    assert cpu_memory.problems(measured, unchanged) == wrong


def test_memory_of_this_process_is_read():
    before = cpu_memory.status_bytes("VmRSS")
    held = bytearray(b"1") * (64 << 20)
    assert cpu_memory.status_bytes("VmRSS") - before > len(held) // 2
    assert cpu_memory.status_bytes("VmHWM") >= cpu_memory.status_bytes("VmRSS")
