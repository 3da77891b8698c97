# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans, and what they take.

Sizes are bytes, costs picoseconds, times the positions of steps, ranges half-open.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any, Sequence

from remat import capi


@dataclass(frozen=True)
class Step:
    """An execution of an operation.

    `reads` and `dependences` name for each of those of the operation the step that computed the value,
    None for boundary values. `variant` is 0, or the number of the operation's variant from 1 on.
    """

    operation: int
    clone: bool
    reads: list[int | None]
    dependences: list[int | None]
    variant: int = 0


@dataclass(frozen=True)
class Region:
    """A run of clones, from step `begin` to `end`, that waits for a value of an earlier step."""

    begin: int
    end: int
    after_value: int | None
    after_step: int | None


@dataclass(frozen=True)
class Plan:
    """An order of execution with recomputations."""

    steps: list[Step]
    regions: list[Region]

    def to_json(self) -> str:
        """The plan as docs/problem-format.md has it."""

        def numbers(items: Sequence[int | None]) -> list[int]:
            return [-1 if item is None else item for item in items]

        steps = [
            {
                "op": step.operation,
                "clone": step.clone,
                "reads": numbers(step.reads),
                "dependences": numbers(step.dependences),
                "variant": step.variant,
            }
            for step in self.steps
        ]
        regions = []
        for region in self.regions:
            made: dict[str, Any] = {"begin": region.begin, "end": region.end}
            if region.after_value is not None:
                made["after"] = {"value": region.after_value, "step": region.after_step}
            regions.append(made)
        return json.dumps({"version": 1, "steps": steps, "regions": regions})


@dataclass(frozen=True)
class Storage:
    """A buffer that is live during the steps from `begin` to `end`.

    `offset` is its place in the arena; boundary values are outside. `value` began it, which `step`
    computed (None for boundary values).
    """

    bytes: int
    begin: int
    end: int
    offset: int
    is_boundary: bool
    value: int
    step: int | None


@dataclass(frozen=True)
class Simulation:
    """What a plan takes."""

    #: During each step, workspace included, without alignment.
    live_bytes: list[int]
    live_peak_bytes: int
    peak_step: int
    boundary_bytes: int
    arena_bytes: int
    packed_peak_bytes: int
    cost_ps: int
    added_cost_ps: int
    storages: list[Storage]
    #: For each step, the storages of the values that it writes; None for those never in memory.
    write_storages: list[list[int | None]]
    #: For each value of the problem, its storage if it is a boundary value.
    boundary_storages: list[int | None]
    #: Where the workspace of each step is in the arena; 0 where there is none.
    workspace_offsets: list[int]


def optional(number: int) -> int | None:
    """None for the numbers below 0 that stand for nothing."""
    return None if number < 0 else number


def read_plan(handle: capi.Handle) -> Plan:
    """Copies a plan of the library."""
    arrays = capi.PlanArrays()
    capi.call(capi.library().rematPlanGetArrays, handle.address, ctypes.byref(arrays))
    count = arrays.numSteps
    reads = capi.rows(arrays.readBegins, arrays.reads, count)
    dependences = capi.rows(arrays.dependenceBegins, arrays.dependences, count)
    steps = [
        Step(
            arrays.operations[step],
            bool(arrays.isClone[step]),
            [optional(read) for read in reads[step]],
            [optional(dependence) for dependence in dependences[step]],
            arrays.variants[step] if arrays.variants else 0,
        )
        for step in range(count)
    ]
    regions = [
        Region(
            arrays.regionBegins[region],
            arrays.regionEnds[region],
            optional(arrays.regionAfterValues[region]),
            optional(arrays.regionAfterSteps[region]),
        )
        for region in range(arrays.numRegions)
    ]
    return Plan(steps, regions)


def read_simulation(handle: capi.Handle) -> Simulation:
    """Copies what a plan takes."""
    arrays = capi.SimulationArrays()
    capi.call(capi.library().rematSimulationGetArrays, handle.address, ctypes.byref(arrays))
    count = arrays.numSteps
    storages = [
        Storage(
            arrays.storageBytes[storage],
            arrays.storageBegins[storage],
            arrays.storageEnds[storage],
            arrays.storageOffsets[storage],
            bool(arrays.storageIsBoundary[storage]),
            arrays.storageValues[storage],
            optional(arrays.storageSteps[storage]),
        )
        for storage in range(arrays.numStorages)
    ]
    writes = capi.rows(arrays.writeBegins, arrays.writeStorages, count)
    return Simulation(
        live_bytes=arrays.liveBytes[:count] if count else [],
        live_peak_bytes=arrays.livePeakBytes,
        peak_step=arrays.peakStep,
        boundary_bytes=arrays.boundaryBytes,
        arena_bytes=arrays.arenaBytes,
        packed_peak_bytes=arrays.packedPeakBytes,
        cost_ps=arrays.cost,
        added_cost_ps=arrays.addedCost,
        storages=storages,
        write_storages=[[optional(storage) for storage in row] for row in writes],
        boundary_storages=[
            optional(arrays.boundaryStorages[value]) for value in range(arrays.numValues)
        ],
        workspace_offsets=arrays.workspaceOffsets[:count] if count else [],
    )
