# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what a plan takes, from the input and the sequence of executions alone.

Written from docs/memory-model.md, docs/problem-format.md and docs/trace-format.md; shares nothing
with the planner. Bytes are live bytes, before alignment. What is wrong raises WrongPlan.
"""

import collections
import gzip
import json

BOUNDARY = -1
# A name that contains one of these draws random numbers ("droupout" is how the logs spell it).
RANDOM = ("bernoulli", "cauchy", "dropout", "droupout", "exponential", "geometric", "log_normal",
          "multinomial", "poisson", "rand", "rrelu", "uniform")


# Bytes, and the cost of what is executed beyond once.
Taken = collections.namedtuple("Taken", "live_peak added_cost")


class WrongPlan(Exception):
    pass


def require(condition, message):
    if not condition:
        raise WrongPlan(message)


# ---- Node-link graphs ----------------------------------------------------------------------------


class Graph:
    """A node-link graph: nodes in input order, each with one output."""

    def __init__(self, root):
        nodes = {str(node.get("id", node.get("name"))): node for node in root["nodes"]}
        order = (root.get("graph") or {}).get("order")
        self.order = [str(name) for name in order] if order else list(nodes)
        self.cost = {name: node["cost_cpu"] if "cost_cpu" in node else node["duration"]
                     for name, node in nodes.items()}
        self.bytes = {name: node["cost_ram"] if "cost_ram" in node else node["out_cost"]
                      for name, node in nodes.items()}
        self.inputs = {name: [] for name in nodes}
        for link in root["links"]:
            source, target = (str(link[key] if key in link else link[other])
                              for key, other in (("source", "0"), ("target", "1")))
            if source not in self.inputs[target]:
                self.inputs[target].append(source)
        self.size = len(nodes)
        self.total_cost = sum(self.cost.values())

    def working_set(self):
        """The most bytes that one node needs at once."""
        return max(self.bytes[name] + sum(self.bytes[source] for source in inputs)
                   for name, inputs in self.inputs.items())

    def replay(self, schedule, in_order):
        """What a sequence of nodes takes. Every read is of the last computation, which is live up
        to its last read. `in_order`: first computations keep the input order."""
        first, last, end, added = [], {}, [], 0
        for step, name in enumerate(schedule):
            require(name in self.cost, f"there is no node {name}")
            for source in self.inputs[name]:
                require(source in last, f"step {step} reads {source}, which was not computed")
                end[last[source]] = step
            if name in last:
                added += self.cost[name]
            else:
                first.append(name)
            last[name] = step
            end.append(step)
        require(len(first) == len(self.order), "some node is never computed")
        require(not in_order or first == self.order, "first computations leave the input order")
        live, peak, freed = 0, 0, [0] * len(schedule)
        for step, name in enumerate(schedule):
            freed[end[step]] += self.bytes[name]
        for step, name in enumerate(schedule):
            live += self.bytes[name]
            peak = max(peak, live)
            live -= freed[step]
        return Taken(peak, added)

    def replay_unchanged(self):
        return self.replay(self.order, in_order=True)

    def replay_answer(self, answer, in_order):
        return self.replay(answer["schedule"], in_order)


# ---- Problems ------------------------------------------------------------------------------------


class Problem:
    """A problem in the planner's own form."""

    def __init__(self, root):
        self.values, self.operations = root["values"], root["operations"]
        self.producer = [BOUNDARY] * len(self.values)
        for index, op in enumerate(self.operations):
            for value in op.get("writes", ()):
                self.producer[value] = index
        self.size = len(self.operations)
        self.total_cost = sum(op["cost"] for op in self.operations)

    def replay_unchanged(self):
        """Of each operation once, in order."""
        steps = [{"op": index,
                  "reads": [self.producer[value] for value in op.get("reads", ())],
                  "dependences": [self.producer[value] for value in op.get("dependences", ())]}
                 for index, op in enumerate(self.operations)]
        return self.replay({"steps": steps}, in_order=True)

    def replay_answer(self, answer, in_order):
        return self.replay(answer["plan"], in_order)

    def replay(self, plan, in_order):
        """What a plan takes."""
        steps, regions = plan["steps"], plan.get("regions", [])
        self.check_steps(steps, in_order)
        self.check_regions(steps, regions)
        peak = self.measure(steps, regions)
        executed = {step["op"] for step in steps}
        return Taken(peak, sum(self.operations[step["op"]]["cost"] for step in steps)
                     - sum(self.operations[op]["cost"] for op in executed))

    def check_steps(self, steps, in_order):
        executed, originals, effects, newest = set(), set(), [], -1
        for number, step in enumerate(steps):
            op = self.operations[step["op"]]
            effect = op.get("effect", "pure")
            for kind in ("reads", "dependences"):
                values, sources = op.get(kind, ()), step.get(kind, ())
                require(len(values) == len(sources), f"step {number}: the number of its {kind}")
                for value, source in zip(values, sources):
                    if self.producer[value] == BOUNDARY:
                        require(source == BOUNDARY, f"step {number} computes an argument")
                        continue
                    require(0 <= source < number, f"step {number} reads what comes later")
                    require(steps[source]["op"] == self.producer[value],
                            f"step {number} reads {value} from {source}, which writes others")
            if step.get("clone"):
                require(op.get("recomputable", effect == "pure") and effect == "pure"
                        and op.get("policy") != "must_save",
                        f"step {number} repeats what must not be repeated")
            else:
                require(step["op"] not in originals, f"step {number} is a second original")
                originals.add(step["op"])
                if effect != "pure":
                    effects.append(step["op"])
            if step["op"] not in executed and not step.get("clone"):
                require(not in_order or step["op"] > newest, f"step {number} leaves its place")
                newest = max(newest, step["op"])
            executed.add(step["op"])
        require(effects == [index for index, op in enumerate(self.operations)
                            if op.get("effect", "pure") != "pure"], "the order of effects")

    def check_regions(self, steps, regions):
        covered = []
        for region in regions:
            covered += range(region["begin"], region["end"])
            after = region.get("after")
            require(not after or (0 <= after["step"] < region["begin"]
                                  and steps[after["step"]]["op"] == self.producer[after["value"]]),
                    "a region waits for what is not there")
        require(covered == [number for number, step in enumerate(steps) if step.get("clone")],
                "regions and clones differ")

    def measure(self, steps, regions):
        """The most bytes that are live at once. A holder is what holds bytes by itself: a value
        that is no view, as one step has computed it; its views are it."""
        values, operations = self.values, self.operations
        holders = {(value, BOUNDARY): (value, BOUNDARY) for value in range(len(values))
                   if self.producer[value] == BOUNDARY}
        last_read = {}
        for number, step in enumerate(steps):
            op = operations[step["op"]]
            sources = dict(zip(op.get("reads", ()), step.get("reads", ())))
            for value, source in sources.items():
                last_read[holders[value, source]] = number
            for value in op.get("writes", ()):
                seen = values[value].get("source") \
                    if values[value].get("placement") == "view" else None
                holders[value, number] = (value, number) if seen is None \
                    else holders[seen, sources[seen]]
        last_wait = {}
        for region in regions:
            if after := region.get("after"):
                holder = holders[after["value"], after["step"]]
                last_read[holder] = max(last_read.get(holder, -1), region["begin"] - 1)
                last_wait[holder] = max(last_wait.get(holder, -1), region["begin"])

        def in_memory(holder):
            return values[holder[0]].get("placement") != "none"

        live = sum(values[value]["bytes"] for value, step in holders
                   if step == BOUNDARY and in_memory((value, step)))
        change = [0] * (len(steps) + 1)
        for number, step in enumerate(steps):
            op = operations[step["op"]]
            sources = dict(zip(op.get("reads", ()), step.get("reads", ())))
            change[number] += op.get("workspace", 0)
            change[number + 1] -= op.get("workspace", 0)
            taken = set()
            for value in op.get("writes", ()):
                holder = (value, number)
                if holders[holder] != holder or not in_memory(holder):
                    continue
                size = values[value]["bytes"]
                begin = number
                if values[value].get("placement") == "reuse":
                    seen = values[value]["source"]
                    old = holders[seen, sources[seen]]
                    operands = [holders[item] for item in sources.items()]
                    if old[1] != BOUNDARY and in_memory(old) \
                            and values[old[0]]["bytes"] == size and last_read[old] == number \
                            and last_wait.get(old, -1) <= number and old not in taken \
                            and operands.count(old) == 1:
                        # In the old one's place, which is counted up to this step.
                        taken.add(old)
                        begin = number + 1
                change[begin] += size
                change[max(number, last_read.get(holder, -1)) + 1] -= size
        peak = live
        for difference in change[:-1]:
            live += difference
            peak = max(peak, live)
        return peak


# ---- Logs of DTR's prototype ---------------------------------------------------------------------


class Log:
    """Makes the problem that docs/trace-format.md describes of a log."""

    def __init__(self, lines):
        self.values, self.operations = [], []
        # By tensor: bytes, storage, and for views the argument, the call, the value and version.
        self.tensors, self.names = [], {}
        # By storage: its tensor, the value of its contents and their version.
        self.storages = []
        self.call, self.arguments, self.described, self.read = None, [], [], []
        for line in lines:
            if line.strip():
                entry = json.loads(line)
                getattr(self, "on_" + entry["INSTRUCTION"].lower())(entry)
        self.finish()
        self.add_end()

    def problem(self):
        return Problem({"values": self.values, "operations": self.operations})

    def on_annotate(self, entry):
        pass

    def on_constant(self, entry):
        self.finish()
        self.add_tensor(entry["NAME"])

    def on_memory(self, entry):
        self.tensors[self.names[entry["NAME"]]]["bytes"] = int(entry["MEMORY"])

    def on_alias(self, entry):
        self.tensors[self.names[entry["NAME"]]]["alias"] = int(entry["ALIAS"])

    def on_copy(self, entry):
        self.finish()
        self.names[entry["DST"]] = self.names[entry["SRC"]]

    def on_release(self, entry):
        self.finish()
        del self.names[entry["NAME"]]

    def on_call(self, entry):
        self.finish()
        self.call = self.operation(entry, is_effect=not entry["RESULT"])
        for name in entry["RESULT"]:
            self.add_tensor(name)

    def on_mutate(self, entry):
        self.finish()
        op = self.operation(entry, is_effect=not entry["MUTATE"])
        mutated = list(dict.fromkeys(self.tensors[self.arguments[int(position)]]["storage"]
                                     for position in entry["MUTATE"]))
        read = [self.contents(tensor) for tensor in self.arguments
                if self.tensors[tensor]["storage"] not in mutated]
        read += [self.storages[storage]["value"] for storage in mutated]
        op["reads"] = list(dict.fromkeys(read))
        self.operations.append(op)
        for storage in (self.storages[index] for index in mutated):
            size = self.tensors[storage["tensor"]]["bytes"]
            storage["value"] = self.add_value(op, size, "reuse", storage["value"])
            storage["version"] += 1
        self.arguments = []

    def operation(self, entry, is_effect):
        self.arguments = [self.names[name] for name in entry["ARGS"]]
        name = entry["NAME"]
        draws = "backward" not in name and (name in ("normal", "normal_")
                                            or any(part in name for part in RANDOM))
        return {"cost": 1000 * int(entry["TIME"]), "reads": [], "writes": [],
                "effect": "ordered" if draws or is_effect else "pure"}

    def add_tensor(self, name):
        self.names[name] = len(self.tensors)
        self.described.append(len(self.tensors))
        self.tensors.append({"alias": -1, "version": -1})

    def add_value(self, op, size, placement, source=None):
        self.values.append({"bytes": size, "placement": placement})
        if source is not None:
            self.values[-1]["source"] = source
        if op:
            op["writes"].append(len(self.values) - 1)
        return len(self.values) - 1

    def contents(self, index):
        """The value of a tensor now; a view of new contents is an operation without a cost."""
        tensor = self.tensors[index]
        storage = self.storages[tensor["storage"]]
        if tensor["alias"] < 0:
            return storage["value"]
        if tensor["version"] != storage["version"]:
            op = {"cost": 0, "reads": [storage["value"]], "writes": []}
            self.operations.append(op)
            tensor["value"] = self.add_value(op, tensor["bytes"], "view", storage["value"])
            tensor["version"] = storage["version"]
        return tensor["value"]

    def finish(self):
        """Completes the last constant or call: the lines behind it have described the results."""
        op, results = self.call, [self.tensors[index] for index in self.described]
        if op and results and all(tensor["alias"] >= 0 for tensor in results):
            op = None
        read = []
        if op:
            read = [self.contents(tensor) for tensor in self.arguments]
            op["reads"] = list(dict.fromkeys(read))
            self.operations.append(op)
        for index, tensor in zip(self.described, results):
            if tensor["alias"] < 0:
                tensor["storage"] = len(self.storages)
                value = self.add_value(op, tensor["bytes"], "own")
                self.storages.append({"tensor": index, "value": value, "version": 0})
                continue
            tensor["storage"] = self.tensors[self.arguments[tensor["alias"]]]["storage"]
            if op:
                tensor["version"] = self.storages[tensor["storage"]]["version"]
                tensor["value"] = self.add_value(op, tensor["bytes"], "view",
                                                 read[tensor["alias"]])
        self.call, self.arguments, self.described = None, [], []

    def add_end(self):
        """The terminator reads what still has a name, and everything is executed."""
        results = [self.contents(index) for index in sorted(set(self.names.values()))]
        computed = {value for op in self.operations for value in op["writes"]}
        end = {"cost": 0, "reads": [value for value in dict.fromkeys(results) if value in computed],
               "effect": "pinned"}
        read = {value for op in self.operations + [end] for value in op["reads"]}
        end["dependences"] = [op["writes"][0] for op in self.operations
                              if op["writes"] and not read.intersection(op["writes"])]
        self.operations.append(end)


def read_instance(path):
    """The graph or problem of a file."""
    with open(path, "rb") as file:
        data = file.read()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    if '"INSTRUCTION"' in text.lstrip().partition("\n")[0]:
        return Log(text.splitlines()).problem()
    root = json.loads(text)
    return Graph(root) if "nodes" in root else Problem(root)
