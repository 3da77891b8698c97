# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files as a whole or not at all."""

from __future__ import annotations

import os


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Writes text; a file that is there is replaced once all is written. Devices and pipes are
    written directly."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        return
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            # The caller knows nothing of the temporary file.
            error.filename, error.filename2 = os.fspath(path), None
        raise
