# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A progress bar for what takes long."""

from __future__ import annotations

import sys
import time
from typing import Any

# Seconds until a bar appears: what is faster needs none.
_DELAY = 1.0


class ProgressBar:
    """A bar of tqdm on standard error, from a second after its creation to the end of `with`.

    By default only where that is a terminal; `shown` decides otherwise.
    """

    def __init__(self, title: str, shown: bool | None) -> None:
        self._title = title
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._started = time.monotonic()
        self._bar: Any = None

    def update(self, done: int, total: int, note: str) -> None:
        """`done` of `total` steps are done."""
        if not self._shown or time.monotonic() - self._started < _DELAY:
            return
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, desc=self._title, leave=False, file=sys.stderr)
        # A later search of the same call has a length of its own.
        self._bar.total = total
        self._bar.n = done
        self._bar.set_postfix_str(note)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
