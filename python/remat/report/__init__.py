# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a rematerialization, and what is made of it."""

from remat.report.front import FrontPoint, read_fronts
from remat.report.report import (
    FunctionReport,
    LiveValue,
    MovedOperation,
    OperationPlace,
    RecomputedOperation,
    Report,
)

__all__ = [
    "FrontPoint",
    "FunctionReport",
    "LiveValue",
    "MovedOperation",
    "OperationPlace",
    "RecomputedOperation",
    "Report",
    "read_fronts",
]
