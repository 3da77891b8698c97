# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the tools that are written in C++, and runs them.

They are looked for in the build folder that the environment variable REMAT_BUILD names, in this
package (`pip install` puts them there), and on the PATH, in this order. Where REMAT_BUILD is set,
only there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from remat.errors import ToolNotFoundError

#: What `pip install` bundles: `bin` and `lib`.
BUNDLED = Path(__file__).resolve().parent / "_tools"
PLANNER_LIBRARY = "libRematPlanner-c.so"


def _not_found(name: str, places: Sequence[object]) -> ToolNotFoundError:
    looked = " or ".join(f"'{place}'" for place in places)
    return ToolNotFoundError(
        f"'{name}' is not in {looked}; install the package with 'pip install ./python' in a clone "
        "of the project, or set REMAT_BUILD to a folder where the project was built"
    )


def _build() -> Path | None:
    folder = os.environ.get("REMAT_BUILD")
    return Path(folder) if folder else None


def find_tool(name: str) -> Path:
    """The path of a tool such as `remat-opt`."""
    build = _build()
    folder = (build or BUNDLED) / "bin"
    if (folder / name).is_file():
        return folder / name
    if build:
        raise _not_found(name, [folder])
    found = shutil.which(name)
    if found:
        return Path(found)
    raise _not_found(name, [folder, "PATH"])


def find_planner_library() -> Path:
    """The path of the planner's C library."""
    build = _build()
    folders = [(build or BUNDLED) / "lib"]
    tool = None if build else shutil.which("remat-plan")
    if tool:
        folders.append(Path(tool).resolve().parent.parent / "lib")
    for folder in folders:
        # A wheel has no symbolic links, and so only the name that the loader asks for.
        for name in (PLANNER_LIBRARY, PLANNER_LIBRARY + ".0"):
            if (folder / name).is_file():
                return folder / name
    raise _not_found(PLANNER_LIBRARY, folders)


@dataclass(frozen=True)
class Run:
    """How a tool ended. `returncode` is less than 0 where a signal ended it."""

    returncode: int
    stdout: str
    stderr: str


def run_tool(name: str, arguments: Sequence[str], stdin: str = "") -> Run:
    """Runs a tool to its end. An interrupt, or any other exception, ends the tool first.

    Texts are UTF-8; bytes that are not survive a round trip.
    """
    path = find_tool(name)
    try:
        process = subprocess.Popen(
            [str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise ToolNotFoundError(f"'{path}' cannot be executed: {error.strerror}") from error
    with process:
        try:
            outputs = process.communicate(stdin.encode("utf-8", "surrogateescape"))
        except BaseException:
            process.kill()
            process.wait()
            raise
    stdout, stderr = (output.decode("utf-8", "surrogateescape") for output in outputs)
    if process.returncode == 127:
        # The loader has not found a library.
        raise ToolNotFoundError(f"'{path}' cannot be executed: {stderr.strip()}")
    return Run(process.returncode, stdout, stderr)
