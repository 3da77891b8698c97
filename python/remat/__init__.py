# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes training steps fit into memory. docs/python.md shows how."""

from remat.errors import (
    InfeasibleError,
    InvalidInputError,
    RematError,
    RematWarning,
    ToolError,
    ToolNotFoundError,
)
from remat.front import pareto
from remat.optimize import MemoryProfile, Result, memory_profile, optimize
from remat.planner import Answer, Problem, plan
from remat.report import FrontPoint, Report

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "FrontPoint",
    "InfeasibleError",
    "InvalidInputError",
    "MemoryProfile",
    "Problem",
    "RematError",
    "RematWarning",
    "Report",
    "Result",
    "ToolError",
    "ToolNotFoundError",
    "__version__",
    "memory_profile",
    "optimize",
    "pareto",
    "plan",
]
