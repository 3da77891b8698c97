# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Python cells of a page, one after the other and with the same names, as a notebook does."""

import contextlib
import io
import traceback


class Cells:
    """What the cells have defined so far."""

    def __init__(self):
        self._names = {"__name__": "__main__"}

    def run(self, code):
        """What the cell prints, with the last line of an exception, and that line or None."""
        output, error = io.StringIO(), None
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                exec(compile(code, "cell", "exec"), self._names)
            except Exception as exception:
                error = traceback.format_exception_only(exception)[-1]
                print(error, end="")
        return output.getvalue(), error
