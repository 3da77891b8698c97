# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package has types that mypy accepts, and so have its users.

REQUIRES: mypy
RUN: %pytest %s
"""

import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"


def mypy(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}/cache", *arguments],
        cwd=PACKAGE, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(PACKAGE)})


def test_the_package(tmp_path):
    done = mypy(tmp_path, "remat")
    assert done.returncode == 0, done.stdout


def test_a_user(tmp_path):
    source = tmp_path / "user.py"
    source.write_text("import remat\nbytes: int = remat.optimize('x').report.function().packed_bytes\n")
    assert mypy(tmp_path, str(source)).returncode == 0
    source.write_text("import remat\ntext: int = remat.optimize('x').text\n")
    assert "Incompatible types in assignment" in mypy(tmp_path, str(source)).stdout
