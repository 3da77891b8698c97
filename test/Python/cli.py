# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `remat`: what it prints and writes, exit codes, and every wrong use.

RUN: %pytest %s
"""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import remat
from remat import planner
from remat.cli import main

STEP = pathlib.Path(__file__).parent / "Inputs" / "step.mlir"

PROBLEM = {
    "version": 1,
    "values": [{"bytes": size} for size in (100, 400, 1000, 8, 400)],
    "operations": [
        {"name": "dense", "reads": [0], "writes": [1], "cost": 50},
        {"name": "expand", "reads": [1], "writes": [2], "cost": 80},
        {"name": "reduce", "reads": [2], "writes": [3], "cost": 10, "workspace": 400},
        {"name": "backward", "reads": [3, 1], "writes": [4], "cost": 60},
        {"name": "return", "reads": [4], "cost": 0, "effect": "pinned"},
    ],
}


def run(*arguments, stdin=""):
    """The command in this process."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in (("stdin", io.StringIO(stdin)), ("stdout", stdout), ("stderr", stderr)):
            patch.setattr(sys, name, stream)
        try:
            returncode = main([str(each) for each in arguments])
        except SystemExit as ended:
            returncode = ended.code
    return SimpleNamespace(returncode=returncode, stdout=stdout.getvalue(), stderr=stderr.getvalue())


@pytest.fixture
def problem(tmp_path):
    path = tmp_path / "ein Problem ü.json"
    path.write_text(json.dumps(PROBLEM))
    return path


def test_version():
    assert run("--version").stdout == f"remat {remat.__version__}\n"
    module = subprocess.run(
        [sys.executable, "-m", "remat", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == f"remat {remat.__version__}\n"


def test_exit_codes_reach_the_shell():
    for arguments, code in ((["plan", "absent"], 2), (["optimize", STEP, "--budget=16500B"], 1)):
        process = subprocess.run(
            [sys.executable, "-m", "remat", *map(str, arguments)], capture_output=True, text=True)
        assert process.returncode == code and "error: " in process.stderr


def test_help_names_the_commands():
    text = run("--help").stdout
    assert all(f"    {name} " in text for name in ("optimize", "profile", "report", "plan"))
    assert "--budget" in run("optimize", "--help").stdout


def test_optimize(tmp_path):
    output, report = tmp_path / "größe 1.mlir", tmp_path / "report.json"
    done = run("optimize", STEP, "--budget=81%", "-o", output, "--report", report)
    expected = remat.optimize(STEP, "81%")
    assert (done.returncode, done.stdout) == (0, "")
    assert output.read_text() == expected.text and remat.Report.load(report) == expected.report
    assert done.stderr == (
        "function 'step': met, budget 16.6 KB, packed peak 20.5 KB -> 16.5 KB, cost +19.98 %\n")
    for source, stdin in ((STEP, ""), ("-", STEP.read_text())):
        assert run("optimize", source, "--max-overhead=20%", stdin=stdin).stdout == expected.text


def test_optimize_that_does_not_fit(tmp_path):
    output, report = tmp_path / "out.mlir", tmp_path / "report.json"
    done = run("optimize", STEP, "--budget=16500B", "-o", output, "--report", report)
    assert done.returncode == 1 and done.stdout == "" and not output.exists()
    assert "error: function 'step' does not fit into the budget of 16500 bytes" in done.stderr
    assert "note: arguments take 8192 bytes" in done.stderr
    assert remat.Report.load(report).function().status == "infeasible"
    done = run("optimize", STEP, "--budget=16500B", "--on-infeasible=warn", "-o", output)
    assert done.returncode == 0 and output.exists()
    assert "warning: function 'step' does not fit" in done.stderr


def test_options_of_optimize():
    def status(*options):
        done = run("optimize", STEP, "-o", os.devnull, *options)
        return done.returncode, done.stderr

    assert "12.3 KB" in status("--scope=temporaries")[1]
    assert status("--alignment=4KiB")[1] != status()[1]
    assert status("--budget=90%", "--min-bytes=1MB")[0] == 1
    assert status("--budget=90%", "--no-reorder", "--target=cpu", "--effort=0")[0] == 0
    assert status("--budget=90%", "--fusion=none")[0] == 0


def test_profile(tmp_path):
    done = run("profile", STEP)
    assert done.returncode == 0
    assert "function 'step': packed peak 20.5 KB" in done.stdout
    assert "\n   4.10 KB  activations\n" in done.stdout
    expected = [each.json for each in remat.memory_profile(STEP)]
    assert json.loads(run("profile", "-", "--json", stdin=STEP.read_text()).stdout)[0][
        "packed_peak_bytes"] == expected[0]["packed_peak_bytes"]
    output = tmp_path / "p.json"
    assert run("profile", STEP, "--json", "-o", output).stdout == ""
    assert json.loads(output.read_text()) == expected
    two = STEP.read_text() + STEP.read_text().replace("@step", "@other")
    assert run("profile", "-", "--function=other", stdin=two).stdout.startswith("function 'other'")


def test_report(tmp_path):
    path = tmp_path / "report.json"
    assert run("optimize", STEP, "--budget=81%", "-o", os.devnull, "--report", path).returncode == 0
    lines = run("report", path).stdout.splitlines()
    assert lines[0].startswith("function 'step': met, budget 16.6 KB")
    assert lines[1] == "  the peak of 16.5 KB is at 'linalg.generic' (operation 10), where these are live:"
    assert lines[2].split() == ["4.10", "KB", "parameters", "argument", "argument"]
    assert lines[-2:] == ["  recomputed:", f"    4.10 KB      1 x  {'math.exp':<24}  2.73 ns"]
    lines = run("report", path, "--limit=2").stdout.splitlines()
    assert lines[4] == "    8.32 KB  in 5 others"
    path.write_text('{"version": 1, "functions": [{"name": "f", "status": "skipped", "reason": "why"}]}')
    assert run("report", path).stdout == "function 'f': skipped, why\n"


def test_plan(tmp_path, problem):
    done = run("plan", problem, "--budget=1600B")
    assert done.returncode == 0
    assert done.stdout == """\
status       optimal
budget       1600 B
packed peak  1508 B (1.51 KB)
live peak    1508 B (1.51 KB)
added cost   50 ps (25.0000 %)
lower bound  50 ps
"""
    assert run("plan", "-", "--budget=1600B", stdin=json.dumps(PROBLEM)).stdout == done.stdout
    output = tmp_path / "plan.json"
    done = run("plan", problem, "--budget=1600B", "--live", "--steps", "-o", output)
    assert "clone dense(" in done.stdout
    assert planner.simulate(problem, output.read_text()).added_cost_ps == 50
    assert "budget" not in run("plan", problem, "--max-overhead=0%").stdout


def test_plan_that_does_not_fit(problem):
    done = run("plan", problem, "--budget=50%")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: the problem does not fit into the budget of 954 bytes: the smallest budget known to "
        "be feasible is 1508 bytes; it is proved that no plan fits\n")
    done = run("plan", problem, "--budget=50%", "--on-infeasible=warn")
    assert done.returncode == 0 and "lower bound  no plan fits" in done.stdout
    assert done.stderr.startswith("the problem does not fit")


@pytest.mark.parametrize("arguments, message", [
    ([], "the following arguments are required: COMMAND"),
    (["fly"], "invalid choice: 'fly'"),
    (["optimize"], "the following arguments are required: input"),
    (["optimize", STEP, "--wings"], "unrecognized arguments: --wings"),
    (["optimize", STEP, "--budget"], "expected one argument"),
    (["optimize", STEP, "--bud=1GB"], "unrecognized arguments: --bud=1GB"),
    (["optimize", STEP, "--budget=1"], "error: remat-opt: for the --budget option: byte count '1' has no unit"),
    (["optimize", STEP, "--budget=1GB", "--max-overhead=1%"], "two questions"),
    (["optimize", STEP, "--budget=1GB", "--effort=x"], "argument --effort: invalid int value: 'x'"),
    (["optimize", STEP, "--budget=1GB", "--on-infeasible=cry"], "invalid choice: 'cry'"),
    (["optimize", STEP, "--budget=1GB", "--scope=x"], "for the --scope option"),
    (["optimize", "absent.mlir", "--budget=1GB"], "error: absent.mlir: No such file or directory"),
    (["optimize", STEP, "--budget=1GB", "-o", "/absent/o"], "error: /absent/o: No such file"),
    (["optimize", STEP, "--budget=1GB", "-o", os.devnull, "--report=/absent/r"], "/absent/r: No such file"),
    (["optimize", "/"], "error: /: Is a directory"),
    (["profile", "absent.mlir"], "error: absent.mlir: No such file or directory"),
    (["profile", STEP, "--function=other"], "other"),
    (["report", "absent.json"], "error: absent.json: No such file or directory"),
    (["report", STEP], "step.mlir is not JSON"),
    (["plan", "absent.json"], "error: absent.json: No such file or directory"),
    (["plan", STEP], "the problem is not JSON"),
    (["plan", STEP, "--budget=1GB", "--max-overhead=1%"], "two questions"),
])
def test_wrong_use(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and "Traceback" not in done.stderr
    assert "error: " in done.stderr


def test_wrong_text():
    done = run("optimize", "-", "--budget=1GB", stdin="func.func @f( {")
    assert done.returncode == 2 and done.stderr.startswith("<stdin>:1:14: error: ")
    done = run("plan", "-", stdin='{"nodes": [{}], "links": []}')
    assert done.returncode == 2 and done.stderr == "error: node 0 has no 'id'\n"


def test_missing_tools(tmp_path, monkeypatch):
    monkeypatch.setenv("REMAT_BUILD", str(tmp_path))
    done = run("profile", STEP)
    assert done.returncode == 2 and done.stderr.startswith("error: 'remat-opt' is not in ")


def test_an_interrupt_ends_a_search(tmp_path):
    """The search would take years."""
    path = tmp_path / "hard.json"
    nodes = [{"id": n, "cost_ram": 1 + n * 7 % 5, "cost_cpu": 1 + n * 5 % 7} for n in range(150)]
    links = [{"source": s, "target": n} for n in range(1, 150) for s in {n - 1, n * 31 % n, n // 2}]
    path.write_text(json.dumps({"nodes": nodes, "links": links}))
    process = subprocess.Popen(
        [sys.executable, "-m", "remat", "plan", str(path), "--effort=10", "--budget=70%", "--live"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Interrupts are ignored by what runs in the background, as tests may.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    # The search has a thread of its own.
    while len(os.listdir(f"/proc/{process.pid}/task")) == 1:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=10)
    assert (process.returncode, output, errors) == (130, "", "")
