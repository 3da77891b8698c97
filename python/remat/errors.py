# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can go wrong, and what the exceptions carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remat.planner import Answer
    from remat.report import Report


class RematError(Exception):
    """The base of all errors of this package.

    The message is everything that the tool printed, if it comes from a tool. `report` is what
    it wrote before it failed, or None.
    """

    def __init__(self, message: str, *, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report


class InfeasibleError(RematError):
    """No plan within the budget was found.

    `minimum_bytes` is the smallest budget that is known to be feasible, `budget_bytes` the one
    that was asked (None where the limit was one of cost). `answer` is the smallest plan known,
    where the planner was asked without MLIR.
    """

    def __init__(
        self,
        message: str,
        *,
        report: Report | None = None,
        minimum_bytes: int = 0,
        budget_bytes: int | None = None,
        answer: Answer | None = None,
    ) -> None:
        super().__init__(message, report=report)
        self.minimum_bytes = minimum_bytes
        self.budget_bytes = budget_bytes
        self.answer = answer


class InvalidInputError(RematError, ValueError):
    """The program, the problem or an option is wrong; the message says where and why."""


class ToolError(RematError):
    """A tool crashed, or found an error of its own."""


class ToolNotFoundError(RematError):
    """A tool or a library is not there, or cannot be used."""


class RematWarning(UserWarning):
    """A warning of a tool."""
