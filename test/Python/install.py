# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`pip install ./python` with an existing build: the package works without the build, anywhere.

REQUIRES: scikit_build_core
RUN: %pytest %s
"""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEP = pathlib.Path(__file__).parent / "Inputs" / "step.mlir"


def pip(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)],
        capture_output=True, text=True, env={**os.environ, **variables})


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    done = pip("wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT / "python")
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = folder.iterdir()
    return path


def test_the_wheel_has_what_is_needed_and_no_more(wheel):
    assert wheel.name.startswith("remat-") and "-py3-none-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith("/METADATA")]
        text = archive.read(metadata).decode()
    tools = sorted(name for name in names if name.startswith("remat/_tools/"))
    assert tools == [
        "remat/_tools/bin/remat-opt",
        "remat/_tools/bin/remat-plan",
        "remat/_tools/lib/libRematPlanner-c.so.0",
        "remat/_tools/lib/libRematRuntime.so.0",
    ]
    assert {"remat/py.typed", "remat/report/report.py", "remat/report/page.css", "remat/report/page.js",
            "remat/report/style.css"} <= set(names)
    assert all(name.startswith("remat") for name in names)
    assert any(name.endswith("/LICENSE") for name in names)
    for line in ("Requires-Python: >=3.10", "License-Expression: Apache-2.0 WITH LLVM-exception",
                 "Provides-Extra: jax", "Provides-Extra: test", "Requires-Dist: tqdm"):
        assert line in text


def test_an_installed_package_needs_no_build(wheel, tmp_path):
    target = tmp_path / "ein Ordner"
    done = pip("install", "--no-deps", "--target", target, wheel)
    assert done.returncode == 0, done.stdout + done.stderr
    environment = {name: value for name, value in os.environ.items() if name != "REMAT_BUILD"}
    environment |= {"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin"}

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "remat", *map(str, arguments)],
                              capture_output=True, text=True, env=environment, cwd=tmp_path)

    done = run("optimize", STEP, "--budget=81%", "-o", os.devnull)
    assert done.returncode == 0 and "function 'step': met" in done.stderr, done.stderr
    graph = tmp_path / "graph.json"
    graph.write_text('{"nodes": [{"id": 1, "cost_ram": 5, "cost_cpu": 2}], "links": []}')
    done = run("plan", graph, "--budget=100%")
    assert done.returncode == 0 and "status       optimal" in done.stdout, done.stderr


def test_a_folder_without_a_build_is_refused(tmp_path):
    done = pip("wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT / "python",
               REMAT_BUILD=str(tmp_path))
    assert done.returncode != 0
    text = " ".join((done.stdout + done.stderr).split())
    assert f"REMAT_BUILD is '{tmp_path}', which is no folder where Remat was built" in text
