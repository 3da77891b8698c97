# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""remat.optimize and remat.memory_profile: what remat-opt says, as values, warnings and exceptions.

RUN: %pytest %s
"""

import os
import pathlib
import pickle
import signal
import stat
import subprocess
import sys
import textwrap
import time
import warnings

import pytest

import remat
from remat import tools
from remat.optimize import pass_argument

INPUTS = pathlib.Path(__file__).parent / "Inputs"
STEP = INPUTS / "step.mlir"
# What @step needs as it is, and at least.
UNCHANGED, SMALLEST = 20544, 16512


def remat_opt(*arguments):
    path = tools.find_tool("remat-opt")
    return subprocess.run([str(path), *map(str, arguments)], capture_output=True, text=True, check=True)


@pytest.mark.parametrize("source", [STEP, str(STEP), STEP.read_text()], ids=["path", "str", "text"])
@pytest.mark.parametrize("budget", [SMALLEST, "81%", "16512B", "16.125 kib"])
def test_text_and_report_are_those_of_the_tool(tmp_path, source, budget):
    report = tmp_path / "report.json"
    expected = remat_opt(STEP, f"--rematerialize=budget={SMALLEST}B report={report}")
    result = remat.optimize(source, budget)
    assert result.text == expected.stdout and result.messages == ""
    function = result.report.function("step")
    assert (function.status, function.packed_bytes) == ("met", SMALLEST)
    assert function.overhead == pytest.approx(0.1998, abs=1e-4)
    if source is STEP and budget == SMALLEST:
        assert result.report == remat.Report.load(report)
    assert remat.optimize(result.text).report.function().baseline_packed_bytes == SMALLEST


def test_without_a_budget_nothing_is_changed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = remat.optimize(STEP)
    assert result.text == remat_opt(STEP).stdout
    assert result.report.function().status == "unchanged"
    assert result.report.function().baseline_packed_bytes == UNCHANGED
    assert str(result) == "function 'step': unchanged, packed peak 20.5 KB"


def test_the_exception_of_a_budget_that_is_too_small_says_everything():
    with pytest.raises(remat.InfeasibleError) as caught:
        remat.optimize(STEP, 16500)
    error = caught.value
    assert (error.budget_bytes, error.minimum_bytes) == (16500, SMALLEST)
    assert "step.mlir:14:8: error: function 'step' does not fit into the budget of 16500 bytes" in str(error)
    assert "note: arguments take 8192 bytes, results 4100 bytes" in str(error)
    function = error.report.function()
    assert function.status == "infeasible" and function.peak_operation.name == "linalg.generic"
    assert sum(row.bytes for row in function.live_at_peak) == SMALLEST
    assert remat.optimize(STEP, error.minimum_bytes).report.function().status == "met"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.minimum_bytes, again.report) == (str(error), SMALLEST, error.report)


def test_several_functions_the_largest_counts():
    text = STEP.read_text()
    big = text.replace("@step", "@big").replace("1024", "2048")
    with pytest.raises(remat.InfeasibleError) as caught:
        remat.optimize(text + big, 16500)
    assert caught.value.minimum_bytes > 2 * SMALLEST - 200
    assert [each.status for each in caught.value.report.functions] == ["infeasible"] * 2
    with pytest.raises(KeyError, match="'step', 'big'"):
        caught.value.report.function()
    result = remat.optimize(text + big, caught.value.minimum_bytes)
    assert [each.status for each in result.report.functions] == ["unchanged", "met"]


def test_warnings_of_the_tool_are_warnings():
    with pytest.warns(remat.RematWarning, match="does not fit into the budget of 16436 bytes") as caught:
        result = remat.optimize(STEP, "80%", on_infeasible="warn")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "note: arguments take 8192 bytes" in str(caught[0].message)
    assert result.report.function().packed_bytes == SMALLEST
    assert "warning: " in result.messages


def test_limits_of_cost():
    assert remat.optimize(STEP, max_overhead=0.2).report.function().packed_bytes == SMALLEST
    assert remat.optimize(STEP, max_overhead="20%").report.function().packed_bytes == SMALLEST
    assert remat.optimize(STEP, max_overhead=0.1).report.function().packed_bytes == UNCHANGED
    assert remat.optimize(STEP, max_overhead=1e-6).report.function().packed_bytes == UNCHANGED


def test_fronts():
    result = remat.optimize(STEP, pareto=True)
    assert [point.peak_bytes for point in result.pareto["step"]] == [UNCHANGED, SMALLEST]
    assert remat.pareto(STEP) == result.pareto["step"]
    assert remat.pareto(STEP.read_text())[1].added_cost_ps == 2731
    with pytest.raises(remat.InvalidInputError, match="'points' is an option for problems"):
        remat.pareto(STEP, 3)
    with pytest.raises(remat.InvalidInputError, match="got none"):
        remat.pareto("module {\n}")


def test_options_reach_the_pass(tmp_path):
    unchanged = remat.optimize(STEP, scope="temporaries").report.function()
    assert unchanged.baseline_packed_bytes == 3 * 4096
    assert remat.optimize(STEP, alignment=4096).report.function().baseline_packed_bytes > UNCHANGED
    assert remat.optimize(STEP, alignment="4KiB").report == remat.optimize(STEP, alignment=4096).report
    with pytest.raises(remat.InfeasibleError):
        remat.optimize(STEP, "90%", min_bytes="1MB")
    for target in ("h100", "cpu"):
        assert remat.optimize(STEP, target=target).report.function().cost_ps > 0
    slow = remat.optimize(STEP, target="cpu").report.function().cost_ps
    assert slow > 10 * remat.optimize(STEP).report.function().cost_ps
    models = tmp_path / "mödels {1} 'a' \"b\".json"
    models.write_text('{"operations": [{"names": ["my.relu"], "effects": "pure"}]}')
    source = 'func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n' \
        '  %y = "my.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}'
    with pytest.raises(remat.InvalidInputError, match="my.relu"):
        remat.optimize(source)
    assert "my.relu" in remat.optimize(source, models=models).text


@pytest.mark.parametrize("options, message", [
    ({"budget": "4 parsecs"}, "unknown unit 'parsecs'"),
    ({"budget": "101%"}, "percentage above 0% and at most 100%"),
    ({"budget": -1}, "from 0 to 2"),
    ({"budget": "1GB", "max_overhead": 0.1}, "two questions"),
    ({"max_overhead": "some"}, "expected a percentage from 0%"),
    ({"scope": "all"}, "for the --scope option"),
    ({"fusion": "cold"}, "for the --fusion option"),
    ({"on_infeasible": "cry"}, "for the --on-infeasible option"),
    ({"target": "no such target"}, "unknown target 'no such target'"),
    ({"effort": 11}, "'effort' to be from 0 to 10"),
    ({"alignment": 3}, "power of two"),
    ({"models": "no such file"}, "no such file"),
    ({"profile": "no such file"}, "no such file"),
    ({"scope": "a'b\"c"}, "both kinds of quotes"),
])
def test_wrong_options(options, message):
    with pytest.raises(remat.InvalidInputError, match=message):
        remat.optimize(STEP, **{"budget": "90%", **options} if "max_overhead" not in options else options)


@pytest.mark.parametrize("text, message", [
    ("func.func @f( {", "<stdin>:1:14: error"),
    ("this is (nothing)", "error"),
    ('func.func @f() {\n  "no.model"() : () -> ()\n  return\n}', "no.model"),
    ("func.func @f() {\n  return %x : i32\n}", "undeclared SSA value"),
])
def test_broken_text(text, message):
    for function in (remat.optimize, remat.memory_profile):
        with pytest.raises(remat.InvalidInputError, match=message):
            function(text)


def test_wrong_sources(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file.mlir"):
        remat.optimize("no such file.mlir", "80%")
    with pytest.raises(FileNotFoundError):
        remat.memory_profile(tmp_path / "absent.mlir")
    with pytest.raises(IsADirectoryError):
        remat.optimize(tmp_path, "80%")
    with pytest.raises(TypeError, match="int"):
        remat.optimize(3, "80%")
    with pytest.raises(TypeError, match="float"):
        remat.optimize(STEP, 0.8)
    assert remat.optimize("").report.functions == []


@pytest.mark.parametrize("name", ["ein Schritt.mlir", "größe 大.mlir", "a'b.mlir", "a(b){c}.mlir", "-o.mlir"])
def test_paths_of_all_kinds(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text(STEP.read_text())
    assert remat.optimize(tmp_path / name, "81%").report.function().status == "met"
    monkeypatch.chdir(tmp_path)
    assert remat.optimize(name, "81%").report.function().status == "met"
    assert remat.memory_profile(name)[0].packed_peak_bytes == UNCHANGED
    # Temporary files may be anywhere, too.
    folder = tmp_path / ("t" + name)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert remat.optimize(name, "81%").report.function().status == "met"
    assert list(folder.iterdir()) == []


def test_large_texts_do_not_block():
    """Megabytes go into the tool and come out of it at the same time, and an early end is no problem."""
    lines = [f"  %{n} = arith.addf %x, %x : tensor<4xf32> loc(\"{'l' * 200}\")" for n in range(8_000)]
    text = "func.func @f(%x: tensor<4xf32>) {\n" + "\n".join(lines) + "\n  return\n}\n"
    assert len(text) > 1_000_000
    profile = remat.memory_profile(text)
    assert profile[0].operations == 8_001
    with pytest.raises(remat.InvalidInputError, match="<stdin>:1:1"):
        remat.optimize("?\n" + text)


def test_memory_profile():
    [profile] = remat.memory_profile(STEP)
    assert (profile.function, profile.packed_peak_bytes) == ("step", UNCHANGED)
    assert profile.peak_operation.name == "arith.mulf"
    rows = sum(row["bytes"] for row in profile.live_at_peak)
    rest = profile.workspace_bytes + profile.alignment_bytes + profile.fragmentation_bytes
    assert rows + rest == UNCHANGED
    assert profile.categories_at_peak["activations"] == 4100
    assert "recomputation can help" in str(profile)
    two = STEP.read_text() + STEP.read_text().replace("@step", "@other")
    assert [each.function for each in remat.memory_profile(two)] == ["step", "other"]
    assert [each.function for each in remat.memory_profile(two, functions=["other"])] == ["other"]
    given = remat.memory_profile(STEP, roles=["input", "parameter"], loss=1, scope="temporaries")[0]
    assert given.argument_categories == ["inputs", "parameters"] and given.scope == "temporaries"
    with pytest.raises(remat.InvalidInputError, match="unknown role 'boss'"):
        remat.memory_profile(STEP, roles=["boss", "clerk"])


def test_reports_survive_files_and_new_keys(tmp_path):
    report = remat.optimize(STEP, "81%").report
    path = tmp_path / "ü.json"
    report.save(path)
    assert remat.Report.load(path) == report
    report.json["functions"][0]["new_key"] = {"of": "tomorrow"}
    function = report.function()
    assert function.new_key == {"of": "tomorrow"} and "new_key" in dir(function)
    with pytest.raises(AttributeError, match="FunctionReport has no 'nothing'"):
        function.nothing
    assert pickle.loads(pickle.dumps(report)) == report
    for text, message in [("{", "not JSON"), ("[]", "expected a report"), ("{}", "expected a report"),
                          ('{"functions": [], "version": 2}', "version 1, but got 2")]:
        with pytest.raises(remat.InvalidInputError, match=message):
            remat.Report.parse(text)


def script(folder, name, text):
    """A tool of its own in a build folder."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{textwrap.dedent(text)}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_tools_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("REMAT_BUILD", str(tmp_path))
    with pytest.raises(remat.ToolNotFoundError, match=f"'remat-opt' is not in '{tmp_path}/bin'"):
        remat.optimize(STEP, "80%")
    with pytest.raises(remat.ToolNotFoundError, match="libRematPlanner-c.so"):
        remat.plan(remat.Problem())
    monkeypatch.delenv("REMAT_BUILD")
    monkeypatch.setattr(tools, "BUNDLED", tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(remat.ToolNotFoundError, match="or 'PATH'.*pip install.*REMAT_BUILD"):
        remat.optimize(STEP, "80%")


def test_tools_on_the_path(tmp_path, monkeypatch):
    folder = tools.find_tool("remat-opt").parent
    monkeypatch.delenv("REMAT_BUILD")
    monkeypatch.setattr(tools, "BUNDLED", tmp_path)
    monkeypatch.setenv("PATH", str(folder))
    assert remat.optimize(STEP, "81%").report.function().status == "met"
    assert remat.plan(remat.Problem()).status == "optimal"


def test_tools_that_cannot_be_used(tmp_path, monkeypatch):
    monkeypatch.setenv("REMAT_BUILD", str(tmp_path))
    path = script(tmp_path, "remat-opt", "echo 'no such library' >&2; exit 127")
    with pytest.raises(remat.ToolNotFoundError, match="cannot be executed: no such library"):
        remat.optimize(STEP)
    path.chmod(0o644)
    if os.geteuid() != 0 or not os.access(path, os.X_OK):
        with pytest.raises(remat.ToolNotFoundError, match="cannot be executed: Permission denied"):
            remat.optimize(STEP)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / tools.PLANNER_LIBRARY).write_text("no library")
    with pytest.raises(remat.ToolNotFoundError, match="cannot be used"):
        remat.plan(remat.Problem())


def test_crashes_are_no_wrong_input(tmp_path, monkeypatch):
    monkeypatch.setenv("REMAT_BUILD", str(tmp_path))
    script(tmp_path, "remat-opt", "echo stack >&2; kill -SEGV $$")
    with pytest.raises(remat.ToolError, match="exit code -11\nstack"):
        remat.optimize(STEP)
    script(tmp_path, "remat-opt", "echo 'error: internal error: 1 is not 2' >&2; exit 1")
    with pytest.raises(remat.ToolError, match="1 is not 2"):
        remat.optimize(STEP)


def test_an_interrupt_ends_the_tool(tmp_path):
    """Nothing stays behind, and the exception is the one of Python."""
    script(tmp_path, "remat-opt", f"trap '' INT; echo $$ > '{tmp_path}/pid'; exec sleep 600")
    code = f"import remat\ntry:\n  remat.optimize({str(STEP)!r}, 5)\nexcept KeyboardInterrupt:\n  print('ended')"
    environment = {**os.environ, "REMAT_BUILD": str(tmp_path), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment,
        # Interrupts are ignored by what runs in the background, as tests may.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert (output, process.returncode) == ("ended\n", 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert list(tmp_path.glob("remat-*")) == []


def test_arguments_of_passes():
    assert pass_argument("p", {}) == "--p"
    assert pass_argument("p", {"a": None, "b": True, "c": 1}) == "--p=b=true c=1"
    assert pass_argument("p", {"a": "4 GB", "b": "it's"}) == "--p=a='4 GB' b=\"it's\""
