# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions and structs of include/Remat-c/Planner.h, by ctypes.

Only what is called is declared. Whatever this file gives out owns its memory.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_void_p
from pathlib import Path
from typing import Any, Callable

from remat.errors import InvalidInputError, ToolNotFoundError
from remat.tools import find_planner_library

I64 = POINTER(c_int64)
U8 = POINTER(c_uint8)


class Struct(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self) -> None:
        super().__init__(ctypes.sizeof(type(self)))


class PlanArrays(Struct):
    _fields_ = [
        ("structSize", c_size_t),
        ("numSteps", c_int64),
        ("operations", I64),
        ("isClone", U8),
        ("numReads", c_int64),
        ("readBegins", I64),
        ("reads", I64),
        ("numDependences", c_int64),
        ("dependenceBegins", I64),
        ("dependences", I64),
        ("numRegions", c_int64),
        ("regionBegins", I64),
        ("regionEnds", I64),
        ("regionAfterValues", I64),
        ("regionAfterSteps", I64),
        ("variants", I64),
    ]


class SimulationArrays(Struct):
    _fields_ = [
        ("structSize", c_size_t),
        ("numSteps", c_int64),
        ("liveBytes", I64),
        ("livePeakBytes", c_int64),
        ("peakStep", c_int64),
        ("boundaryBytes", c_int64),
        ("arenaBytes", c_int64),
        ("packedPeakBytes", c_int64),
        ("cost", c_int64),
        ("addedCost", c_int64),
        ("numStorages", c_int64),
        ("storageBytes", I64),
        ("storageBegins", I64),
        ("storageEnds", I64),
        ("storageOffsets", I64),
        ("storageIsBoundary", U8),
        ("storageValues", I64),
        ("storageSteps", I64),
        ("numWrites", c_int64),
        ("writeBegins", I64),
        ("writeStorages", I64),
        ("numValues", c_int64),
        ("boundaryStorages", I64),
        ("workspaceOffsets", I64),
    ]


class Progress(ctypes.Structure):
    _fields_ = [("iteration", c_int64), ("numIterations", c_int64), ("addedCost", c_int64)]


ProgressCallback = ctypes.CFUNCTYPE(c_bool, POINTER(Progress), c_void_p)


class SolveOptions(Struct):
    _fields_ = [
        ("structSize", c_size_t),
        ("solver", c_int32),
        ("reorder", c_uint8),
        ("isPacked", c_uint8),
        ("minBytes", c_int64),
        ("numSeeds", c_int64),
        ("numIterations", c_int64),
        ("numThreads", c_int64),
        ("timeLimitSeconds", c_double),
        ("onProgress", ProgressCallback),
        ("userData", c_void_p),
        ("effort", c_int64),
    ]


class AnswerInfo(Struct):
    _fields_ = [
        ("structSize", c_size_t),
        ("status", c_int32),
        ("livePeakBytes", c_int64),
        ("packedPeakBytes", c_int64),
        ("requiredBytes", c_int64),
        ("cost", c_int64),
        ("addedCost", c_int64),
        ("addedCostLowerBound", c_int64),
        ("minimumKnownBytes", c_int64),
    ]


class Buffer(ctypes.Structure):
    _fields_ = [("begin", c_int64), ("end", c_int64), ("bytes", c_int64)]


# Texts that are to be freed, and handles, are plain addresses.
_ERROR = POINTER(c_void_p)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "rematPlannerGetVersion": (c_char_p, []),
    "rematStringFree": (None, [c_void_p]),
    "rematProblemParse": (c_void_p, [c_char_p, c_size_t, _ERROR]),
    "rematProblemDestroy": (None, [c_void_p]),
    "rematProblemGetWorkingSetBytes": (c_bool, [c_void_p, I64, _ERROR]),
    "rematPlanCreateIdentity": (c_void_p, [c_void_p, _ERROR]),
    "rematPlanParse": (c_void_p, [c_void_p, c_char_p, c_size_t, _ERROR]),
    "rematPlanDestroy": (None, [c_void_p]),
    "rematPlanGetArrays": (c_bool, [c_void_p, POINTER(PlanArrays), _ERROR]),
    "rematPlanToText": (c_void_p, [c_void_p, _ERROR]),
    "rematPlanSimulate": (c_void_p, [c_void_p, _ERROR]),
    "rematSimulationDestroy": (None, [c_void_p]),
    "rematSimulationGetArrays": (c_bool, [c_void_p, POINTER(SimulationArrays), _ERROR]),
    "rematSolverParse": (c_bool, [c_char_p, POINTER(c_int32), _ERROR]),
    "rematStatusGetName": (c_char_p, [c_int32]),
    "rematSolveOptionsInit": (c_bool, [POINTER(SolveOptions), c_size_t, _ERROR]),
    "rematSolve": (c_void_p, [c_void_p, c_int64, POINTER(SolveOptions), _ERROR]),
    "rematSolveForCost": (c_void_p, [c_void_p, c_int64, POINTER(SolveOptions), _ERROR]),
    "rematSolveAll": (
        c_bool,
        [c_void_p, I64, c_int64, POINTER(SolveOptions), POINTER(c_void_p), _ERROR],
    ),
    "rematSolveFront": (
        c_bool,
        [c_void_p, c_int64, I64, c_int64, POINTER(SolveOptions), POINTER(c_void_p), _ERROR],
    ),
    "rematAnswerDestroy": (None, [c_void_p]),
    "rematAnswerGetInfo": (c_bool, [c_void_p, POINTER(AnswerInfo), _ERROR]),
    "rematAnswerGetPlan": (c_void_p, [c_void_p]),
    "rematAnswerGetSimulation": (c_void_p, [c_void_p]),
    "rematPackBuffers": (
        c_bool,
        [POINTER(Buffer), c_int64, c_int64, c_int64, I64, I64, _ERROR],
    ),
}


@functools.lru_cache(maxsize=None)
def _load(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (AttributeError, OSError) as error:
        raise ToolNotFoundError(f"'{path}' cannot be used: {error}") from error
    return library


def library() -> ctypes.CDLL:
    """The planner's library."""
    return _load(find_planner_library())


def take_text(address: int | None) -> str:
    """A text that is to be freed, as a str."""
    if not address:
        return ""
    try:
        return ctypes.string_at(address).decode("utf-8", "replace")
    finally:
        library().rematStringFree(address)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls what can fail, and returns what it returns."""
    error = c_void_p()
    result = function(*arguments, ctypes.byref(error))
    if not result:
        raise InvalidInputError(take_text(error.value) or "out of memory")
    return result


class Handle:
    """An address, destroyed together with this object; or a part of `owner`, which it keeps alive.

    Whatever uses the address has to hold the handle: functions take handles, not addresses.
    """

    def __init__(
        self,
        address: int,
        destroy: Callable[[int], None] | None = None,
        owner: Handle | None = None,
    ) -> None:
        self.address = address
        self._owner = owner
        if destroy:
            weakref.finalize(self, destroy, address)


def parse_problem(text: str) -> Handle:
    """Makes a problem of JSON, and checks it."""
    data = text.encode("utf-8", "surrogatepass")
    made = library()
    return Handle(call(made.rematProblemParse, data, len(data)), made.rematProblemDestroy)


def parse_plan(problem: Handle, text: str) -> Handle:
    """Makes a plan of JSON, and verifies it."""
    data = text.encode("utf-8", "surrogatepass")
    made = library()
    return Handle(call(made.rematPlanParse, problem.address, data, len(data)), made.rematPlanDestroy)


def identity_plan(problem: Handle) -> Handle:
    """The plan that executes a problem as it is."""
    made = library()
    return Handle(call(made.rematPlanCreateIdentity, problem.address), made.rematPlanDestroy)


def simulate_plan(plan: Handle) -> Handle:
    """What a plan takes."""
    made = library()
    return Handle(call(made.rematPlanSimulate, plan.address), made.rematSimulationDestroy)


def answer_plan(answer: Handle) -> Handle:
    """The plan of an answer."""
    return Handle(library().rematAnswerGetPlan(answer.address), owner=answer)


def answer_simulation(answer: Handle) -> Handle:
    """What the plan of an answer takes."""
    return Handle(library().rematAnswerGetSimulation(answer.address), owner=answer)


def rows(begins: Any, items: Any, count: int) -> list[list[int]]:
    """Compressed sparse rows as a list for each row."""
    if not begins:
        return [[] for _ in range(count)]
    bounds = begins[: count + 1]
    flat = items[: bounds[count]] if items else []
    return [flat[bounds[row] : bounds[row + 1]] for row in range(count)]
