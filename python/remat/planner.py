# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The planner: which values of a computation to drop and to compute again so that it fits.

Runs in this process, over the planner's C library. docs/planner-c-api.md says what each number means;
sizes are bytes, costs picoseconds, times the positions of steps, ranges half-open.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from remat import capi
from remat.errors import InfeasibleError, InvalidInputError, RematWarning
from remat.plans import (
    Plan,
    Region,
    Simulation,
    Step,
    Storage,
    optional,
    read_plan,
    read_simulation,
)
from remat.problem import Operation, Problem, Value, Variant
from remat.progress import ProgressBar
from remat.units import Budget, format_bytes, resolve_budget, resolve_overhead

__all__ = [
    "Answer",
    "Operation",
    "Plan",
    "Problem",
    "Progress",
    "Region",
    "Simulation",
    "Step",
    "Storage",
    "Value",
    "Variant",
    "pack",
    "plan",
    "simulate",
    "solve_front",
]

#: A problem, or JSON in the form of docs/problem-format.md or networkx's node-link form: parsed, as text
#: (which begins with a brace) or in a file.
ProblemSource = Problem | Mapping[str, Any] | str | os.PathLike[str]

_NO_LIMIT = 2**63 - 1
# Seconds between two looks at a search.
_PERIOD = 0.1


class Answer:
    """What the planner found. The plan and what it takes are read when they are looked at."""

    def __init__(self, handle: capi.Handle, budget_bytes: int | None, is_packed: bool) -> None:
        self._handle = handle
        info = capi.AnswerInfo()
        library = capi.library()
        capi.call(library.rematAnswerGetInfo, handle.address, ctypes.byref(info))
        #: "optimal", "feasible", "not-found" or "infeasible"; the first and the last are proofs.
        self.status: str = library.rematStatusGetName(info.status).decode()
        self.budget_bytes = budget_bytes
        self.live_peak_bytes: int = info.livePeakBytes
        self.packed_peak_bytes: int = info.packedPeakBytes
        #: The peak that a budget is compared with.
        self.peak_bytes: int = self.packed_peak_bytes if is_packed else self.live_peak_bytes
        #: Of all steps, and of all but the first of each operation.
        self.cost_ps: int = info.cost
        self.added_cost_ps: int = info.addedCost
        #: What every plan adds at least; None where it is proved that none fits.
        self.added_cost_lower_bound_ps: int | None = (
            None if self.status == "infeasible" else max(info.addedCostLowerBound, 0)
        )
        #: The smallest budget that is known to be feasible.
        self.minimum_known_bytes: int = info.minimumKnownBytes

    @property
    def fits(self) -> bool:
        """Whether the plan is within the budget or the limit of cost."""
        return self.status in ("optimal", "feasible")

    @property
    def overhead(self) -> float:
        """The added part of the cost."""
        unchanged = self.cost_ps - self.added_cost_ps
        return self.added_cost_ps / unchanged if unchanged else 0.0

    @functools.cached_property
    def plan(self) -> Plan:
        """The steps and regions."""
        return read_plan(capi.answer_plan(self._handle))

    @functools.cached_property
    def simulation(self) -> Simulation:
        """Live bytes of each step, storages and their offsets."""
        return read_simulation(capi.answer_simulation(self._handle))

    @property
    def schedule(self) -> list[int]:
        """The operations in the order of execution; what is there again is recomputed."""
        return [step.operation for step in self.plan.steps]

    def to_text(self) -> str:
        """The plan for people, one line for each step."""
        plan = capi.answer_plan(self._handle)
        return capi.take_text(capi.call(capi.library().rematPlanToText, plan.address))

    def __repr__(self) -> str:
        return (
            f"<Answer {self.status}: peak {format_bytes(self.peak_bytes)}, "
            f"cost +{100 * self.overhead:.2f} %>"
        )


@dataclass(frozen=True)
class Progress:
    """How far a search is: `iteration` of `num_iterations`.

    `added_cost_ps` is what the best plan so far adds, None while there is none.
    """

    iteration: int
    num_iterations: int
    added_cost_ps: int | None


def to_problem(source: ProblemSource) -> Problem:
    """Reads a problem where it is not one."""
    if isinstance(source, Problem):
        return source
    if isinstance(source, Mapping):
        return Problem.from_json(source)
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return Problem.parse(source)
    return Problem.load(source)


def _options(
    *,
    packed: bool,
    reorder: bool,
    solver: str,
    effort: int,
    seeds: int,
    iterations: int,
    threads: int | None,
    time_limit: float,
    min_bytes: int,
) -> capi.SolveOptions:
    library = capi.library()
    options = capi.SolveOptions()
    size = ctypes.sizeof(options)
    capi.call(library.rematSolveOptionsInit, ctypes.byref(options), size)
    number = ctypes.c_int32()
    capi.call(library.rematSolverParse, solver.encode(), ctypes.byref(number))
    options.solver = number.value
    options.reorder = bool(reorder)
    options.isPacked = bool(packed)
    options.minBytes = min_bytes
    options.numSeeds = seeds
    options.numIterations = iterations
    options.numThreads = (os.cpu_count() or 1) if threads is None else threads
    options.timeLimitSeconds = time_limit
    # 0 stands for the default there, and for no search here.
    options.effort = effort if effort != 0 else -1
    return options


def _search(
    options: capi.SolveOptions,
    search: Callable[[], Any],
    cost_ps: int,
    progress: bool | None,
    on_progress: Callable[[Progress], object] | None,
) -> Any:
    """Runs a search in a thread of its own, and watches it from this one.

    So an interrupt gets here at once, and no exception has to pass through C. After one, the thread
    ends when the search looks at its callback the next time; until then it keeps alive what is used.
    """
    latest: list[Progress] = []
    stop, ended = threading.Event(), threading.Event()
    outcome: list[Any] = []

    def watch(state: Any, _: object) -> bool:
        now = state.contents
        latest[:] = [Progress(now.iteration, now.numIterations, optional(now.addedCost))]
        return not stop.is_set()

    callback = capi.ProgressCallback(watch)
    options.onProgress = callback

    def run() -> None:
        try:
            outcome.append(search())
        except Exception as error:  # Raised again below.
            outcome.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, name="remat-planner")
    thread.start()
    try:
        with ProgressBar("planning", progress) as bar:
            while not ended.wait(_PERIOD):
                if not latest:
                    continue
                now = latest[0]
                added = now.added_cost_ps
                note = "nothing fits yet" if added is None else f"+{100 * added / cost_ps:.2f} %"
                bar.update(now.iteration, now.num_iterations, note if cost_ps else "")
                if on_progress and not stop.is_set() and on_progress(now) is False:
                    stop.set()
    except BaseException:
        stop.set()
        raise
    thread.join()
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def _total_cost(problem: Problem) -> int:
    return sum(int(operation.cost) for operation in problem.operations)


def _unchanged_peak(handle: capi.Handle, packed: bool) -> int:
    made = read_simulation(capi.simulate_plan(capi.identity_plan(handle)))
    return made.packed_peak_bytes if packed else made.live_peak_bytes


def _budget_bytes(budget: Budget, handle: capi.Handle, packed: bool) -> int:
    is_part = isinstance(budget, str) and budget.strip()[-1:] in ("%", "x")
    return resolve_budget(budget, _unchanged_peak(handle, packed) if is_part else 0)


def _refuse(answer: Answer, on_infeasible: str) -> None:
    if answer.budget_bytes is None:
        limit = "the limit of cost: what must be recomputed costs more"
    else:
        limit = (
            f"the budget of {answer.budget_bytes} bytes: the smallest budget known to be feasible "
            f"is {answer.minimum_known_bytes} bytes"
        )
    message = f"the problem does not fit into {limit}"
    if answer.status == "infeasible":
        message += "; it is proved that no plan fits"
    if on_infeasible == "warn":
        warnings.warn(message, RematWarning, stacklevel=3)
        return
    raise InfeasibleError(
        message,
        minimum_bytes=answer.minimum_known_bytes,
        budget_bytes=answer.budget_bytes,
        answer=answer,
    )


def plan(
    problem: ProblemSource,
    budget: Budget | None = None,
    *,
    max_overhead: float | str | None = None,
    packed: bool = True,
    reorder: bool = True,
    solver: str = "auto",
    effort: int = 2,
    seeds: int = 2,
    iterations: int = 0,
    threads: int | None = None,
    time_limit: float = 0,
    min_bytes: int = 0,
    on_infeasible: str = "error",
    progress: bool | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> Answer:
    """The cheapest plan known whose peak is within `budget`.

    `budget` is bytes, or a text such as "4GB", "80%" or "0.8x" (of the unchanged peak); with
    `packed=False` it is one of the live peak. `max_overhead` asks for the smallest peak that adds at
    most this part of the cost, 0.05 or "5%"; without both the smallest peak known is the answer. The
    other options are those of docs/remat-plan.md, but for `threads=None`: as many as there are cores.

    `on_progress` is called in this thread, at most ten times a second; once it returns False, the best
    plan so far is the answer. An interrupt ends the search and is raised. Raises InfeasibleError, with
    the smallest plan, where none fits, unless `on_infeasible="warn"`.
    """
    if on_infeasible not in ("error", "warn"):
        raise InvalidInputError(
            f"expected 'on_infeasible' to be 'error' or 'warn', but got '{on_infeasible}'"
        )
    if budget is not None and max_overhead is not None:
        raise InvalidInputError("'budget' and 'max_overhead' are two questions: give one")
    problem = to_problem(problem)
    handle = capi.parse_problem(problem.to_json())
    options = _options(
        packed=packed,
        reorder=reorder,
        solver=solver,
        effort=effort,
        seeds=seeds,
        iterations=iterations,
        threads=threads,
        time_limit=time_limit,
        min_bytes=min_bytes,
    )
    cost_ps = _total_cost(problem)
    library = capi.library()
    if budget is not None:
        limit = budget_bytes = _budget_bytes(budget, handle, packed)
        solve = library.rematSolve
    else:
        limit = _NO_LIMIT if max_overhead is None else resolve_overhead(max_overhead, cost_ps)
        budget_bytes = None
        solve = library.rematSolveForCost

    def search() -> capi.Handle:
        address = capi.call(solve, handle.address, limit, ctypes.byref(options))
        return capi.Handle(address, library.rematAnswerDestroy)

    answer = Answer(_search(options, search, cost_ps, progress, on_progress), budget_bytes, packed)
    if not answer.fits:
        _refuse(answer, on_infeasible)
    return answer


def solve_front(
    problem: ProblemSource,
    points: int | None = None,
    *,
    budgets: Sequence[Budget] = (),
    packed: bool = True,
    reorder: bool = True,
    solver: str = "auto",
    effort: int = 2,
    seeds: int = 2,
    iterations: int = 0,
    threads: int | None = None,
    time_limit: float = 0,
    min_bytes: int = 0,
    progress: bool | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> list[Answer]:
    """Answers for several budgets with one search: a smaller budget never gets a cheaper plan.

    With `budgets`, one answer for each, whether it fits or not. Otherwise `points` (20) budgets from
    the unchanged peak down to the smallest one that the search finds, where equal peaks are one answer.
    The other options are those of `plan`.
    """
    if budgets and points is not None:
        raise InvalidInputError("'budgets' and 'points' are two questions: give one")
    problem = to_problem(problem)
    handle = capi.parse_problem(problem.to_json())
    options = _options(
        packed=packed,
        reorder=reorder,
        solver=solver,
        effort=effort,
        seeds=seeds,
        iterations=iterations,
        threads=threads,
        time_limit=time_limit,
        min_bytes=min_bytes,
    )
    library = capi.library()
    asked = [_budget_bytes(budget, handle, packed) for budget in budgets]
    count = 20 if points is None else points
    if not asked and not 2 <= count <= 100_000:
        raise InvalidInputError(f"expected 'points' to be from 2 to 100000, but got {count}")
    answers = (ctypes.c_void_p * (len(asked) or count))()

    def search() -> list[capi.Handle]:
        if asked:
            array = (ctypes.c_int64 * len(asked))(*asked)
            arguments = [handle.address, array, len(asked), ctypes.byref(options), answers]
            capi.call(library.rematSolveAll, *arguments)
        else:
            arguments = [handle.address, count, None, 0, ctypes.byref(options), answers]
            capi.call(library.rematSolveFront, *arguments)
        return [capi.Handle(each or 0, library.rematAnswerDestroy) for each in answers]

    found = _search(options, search, _total_cost(problem), progress, on_progress)
    if asked:
        return [Answer(each, budget, packed) for each, budget in zip(found, asked)]
    front: list[Answer] = []
    for each in found:
        answer = Answer(each, None, packed)
        if not front or answer.peak_bytes < front[-1].peak_bytes:
            front.append(answer)
    return front


def simulate(problem: ProblemSource, plan: Plan | str | None = None) -> Simulation:
    """What a plan takes, given as JSON or as a value; without one, the problem as it is.

    The plan is verified against the problem first: InvalidInputError says what is wrong with it.
    """
    handle = capi.parse_problem(to_problem(problem).to_json())
    if plan is None:
        made = capi.identity_plan(handle)
    else:
        made = capi.parse_plan(handle, plan.to_json() if isinstance(plan, Plan) else plan)
    return read_simulation(capi.simulate_plan(made))


def pack(
    buffers: Sequence[tuple[int, int, int]], alignment: int = 1, max_visits: int = 0
) -> tuple[list[int], int]:
    """Offsets for buffers (begin, end, bytes), and the bytes of the arena that holds them.

    Buffers that are live together do not overlap; `begin` < `end`. `max_visits` limits the work; 0
    chooses a limit that takes about 25 ms.
    """
    array = (capi.Buffer * len(buffers))(*(capi.Buffer(*buffer) for buffer in buffers))
    offsets = (ctypes.c_int64 * len(buffers))()
    arena = ctypes.c_int64()
    capi.call(
        capi.library().rematPackBuffers,
        array,
        len(buffers),
        alignment,
        max_visits,
        offsets,
        ctypes.byref(arena),
    )
    return list(offsets), arena.value
