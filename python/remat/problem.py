# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Planning problems: operations in order, values with bytes, who reads and writes what.

The attributes are the keys of docs/problem-format.md. Nothing is checked here: the planner checks a
problem when it is given one, and its messages name the attribute that is wrong. Sizes are bytes,
costs picoseconds, indices count from 0.
"""

from __future__ import annotations

import gzip
import json
import operator
import os
from dataclasses import dataclass, field, fields
from typing import Any, Iterable, Mapping

from remat.errors import InvalidInputError


@dataclass
class Value:
    """Something that is in memory. One that no operation writes is there throughout."""

    bytes: int
    name: str = ""
    placement: str = "own"
    source: int | None = None
    awaitable: bool = True


@dataclass
class Variant:
    """Another way to execute an operation: it costs more, and takes less scratch memory."""

    cost: int
    workspace: int = 0


@dataclass
class Operation:
    """What computes values. `recomputable` is by default whether the effect is "pure"."""

    cost: int
    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    dependences: list[int] = field(default_factory=list)
    name: str = ""
    workspace: int = 0
    effect: str = "pure"
    recomputable: bool | None = None
    policy: str = "none"
    variants: list[Variant] = field(default_factory=list)


@dataclass
class Problem:
    """Operations in the order of execution, and the values that they read and write.

    What must survive is read by the last operation, with the effect "pinned".
    """

    values: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    alignment: int = 1

    def value(self, bytes: int, **attributes: Any) -> int:
        """Adds a value, and returns its index."""
        self.values.append(Value(bytes, **attributes))
        return len(self.values) - 1

    def operation(
        self, cost: int, reads: Iterable[int] = (), writes: Iterable[int] = (), **attributes: Any
    ) -> int:
        """Adds an operation behind the others, and returns its index."""
        self.operations.append(Operation(cost, list(reads), list(writes), **attributes))
        return len(self.operations) - 1

    def to_json(self) -> str:
        """The problem as docs/problem-format.md has it."""
        return json.dumps(
            {
                "version": 1,
                "alignment": self.alignment,
                "values": [_to_object(each) for each in self.values],
                "operations": [_to_object(each) for each in self.operations],
            },
            default=operator.index,
        )

    @staticmethod
    def from_json(root: Mapping[str, Any]) -> Problem:
        """Takes an object in the form of docs/problem-format.md, or a graph of networkx."""
        if "nodes" in root:
            return _from_node_link(root)
        unknown = set(root) - {"version", "alignment", "values", "operations"}
        if unknown:
            raise InvalidInputError(f"unknown key '{min(unknown)}'")
        if root.get("version") != 1:
            raise InvalidInputError(f"expected 'version' to be 1, but got {root.get('version')}")
        problem = Problem(alignment=root.get("alignment", 1))
        for index, value in enumerate(_list(root, "values", "")):
            problem.values.append(_from_object(Value, value, f"values[{index}]"))
        for index, operation in enumerate(_list(root, "operations", "")):
            path = f"operations[{index}]"
            made = _from_object(Operation, operation, path)
            made.variants = [
                _from_object(Variant, variant, f"{path}.variants[{number}]")
                for number, variant in enumerate(_list(operation, "variants", path, []))
            ]
            problem.operations.append(made)
        return problem

    @staticmethod
    def parse(text: str) -> Problem:
        """Reads JSON, see `from_json`."""
        try:
            root = json.loads(text)
        except ValueError as error:
            raise InvalidInputError(f"the problem is not JSON: {error}") from error
        if not isinstance(root, dict):
            raise InvalidInputError("expected a problem or a graph, an object of JSON")
        return Problem.from_json(root)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Problem:
        """Reads a file of JSON, which may be compressed by gzip."""
        with open(path, "rb") as file:
            contents = file.read()
        try:
            if contents.startswith(b"\x1f\x8b"):
                contents = gzip.decompress(contents)
            return Problem.parse(contents.decode())
        except (EOFError, OSError, ValueError) as error:
            raise InvalidInputError(f"'{os.fspath(path)}': {error}") from error


def _to_object(item: Value | Operation | Variant) -> dict[str, Any]:
    """The keys that do not have their defaults."""
    made: dict[str, Any] = {}
    for each in fields(item):
        value = getattr(item, each.name)
        if each.name == "variants":
            value = [_to_object(variant) for variant in value]
        if each.name in ("bytes", "cost") or (value != each.default and value != []):
            made[each.name] = value
    return made


def _list(root: Mapping[str, Any], key: str, path: str, default: Any = None) -> list[Any]:
    value = root.get(key, default)
    if not isinstance(value, list):
        raise InvalidInputError(f"expected '{path + '.' if path else ''}{key}' to be an array")
    return value


def _from_object(kind: Any, item: Any, path: str) -> Any:
    if not isinstance(item, Mapping):
        raise InvalidInputError(f"expected '{path}' to be an object")
    unknown = set(item) - {each.name for each in fields(kind)}
    if unknown:
        raise InvalidInputError(f"unknown key '{path}.{min(unknown)}'")
    required = "cost" if kind is not Value else "bytes"
    if required not in item:
        raise InvalidInputError(f"missing key '{path}.{required}'")
    return kind(**item)


def _node_number(node: Mapping[str, Any], keys: tuple[str, str]) -> int | None:
    for key in keys:
        if key in node:
            value = node[key]
            whole = isinstance(value, (int, float)) and not isinstance(value, bool)
            return int(value) if whole and value == int(value) and value >= 0 else None
    return None


def _from_node_link(root: Mapping[str, Any]) -> Problem:
    """A graph of networkx in node-link form, as docs/remat-plan.md describes it: one value for each
    node, and an end that keeps what nothing reads from being left out."""
    nodes = _list(root, "nodes", "")
    links = _list(root, "links" if "links" in root else "edges", "")
    by_id: dict[str, Mapping[str, Any]] = {}
    for index, node in enumerate(nodes):
        if not isinstance(node, Mapping):
            raise InvalidInputError(f"node {index} is no object")
        name = node.get("id", node.get("name"))
        if name is None:
            raise InvalidInputError(f"node {index} has no 'id'")
        if str(name) in by_id:
            raise InvalidInputError(f"node '{name}' is there twice")
        by_id[str(name)] = node
    graph = root.get("graph")
    order = graph.get("order") if isinstance(graph, Mapping) else None
    ids = list(by_id) if order is None else [str(name) for name in order]
    if sorted(ids) != sorted(by_id):
        raise InvalidInputError(
            f"expected 'graph.order' to list each of the {len(by_id)} nodes once"
        )

    problem = Problem()
    indices: dict[str, int] = {}
    for name in ids:
        node = by_id[name]
        size = _node_number(node, ("cost_ram", "out_cost"))
        cost = _node_number(node, ("cost_cpu", "duration"))
        if size is None or cost is None:
            missing = "'cost_ram' or 'out_cost'" if size is None else "'cost_cpu' or 'duration'"
            raise InvalidInputError(f"node '{name}' needs {missing}, an integer of at least 0")
        label = str(node.get("name", name))
        indices[name] = problem.value(size, name=label)
        problem.operation(cost, writes=[indices[name]], name=label)
    for index, link in enumerate(links):
        ends = ("source", "target") if "source" in link else ("0", "1")
        source, target = (str(link.get(end)) for end in ends)
        if source not in indices or target not in indices:
            raise InvalidInputError(f"link {index} has an end that is no node")
        if indices[source] >= indices[target]:
            raise InvalidInputError(
                f"the input order has node '{target}' before '{source}', which it reads"
            )
        reads = problem.operations[indices[target]].reads
        if indices[source] not in reads:
            reads.append(indices[source])
    read = {value for operation in problem.operations for value in operation.reads}
    unread = [value for value in range(len(problem.values)) if value not in read]
    problem.operation(0, dependences=unread, name="end", effect="pinned")
    return problem
