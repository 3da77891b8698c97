#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the exact solver with an integer program that shares no code with it.

  oracle.py [--problems N] [--first SEED] [--nodes N] [--tool remat-plan] [--verbose]

Random problems, each with three budgets, with operations in their order and free to move. An
operation has one result with a storage of its own; the last one is the pinned terminator.

The integer program has one step per execution: x[t, i] says whether step t executes operation i,
m[t, i] whether the value of i stays in memory after step t. It needs a number of steps. Every
operation costs at least c > 0, except for the terminator, which is executed once. So a plan of n
operations that adds at most C has at most n + C / c steps, and with the C that the tool claims, a
plan that is as cheap or cheaper is among the solutions: the claim is right if and only if C is the
least cost there. That nothing fits at all is shown by visiting all states that can be reached.

Needs ortools (CP-SAT); exits with 77 if it is not installed. The full comparison is the default;
with 14 nodes some integer programs are too hard and count as unknown.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

NOT_INSTALLED = 77
# Of an operation, except for the terminator.
MIN_COST = 5
# States that the proof of infeasibility may visit.
MAX_STATES = 1_000_000
# What the integer program may take, in units of CP-SAT, about seconds.
MAX_WORK = 20


def generate(seed, max_nodes):
    """A problem in the planner's form, and its operations as (reads, cost, bytes, workspace)."""
    rng = random.Random(seed)
    count = rng.randint(4, max_nodes)
    has_workspace = rng.random() < 0.3
    reads = []
    if seed % 2:
        # Forwards, and backwards with what was computed forwards.
        forward = (count + 1) // 2
        for node in range(count):
            sources = {node - 1} if node > 0 else set()
            if node >= forward:
                sources.add(count - 1 - node)
            if node > 1 and rng.random() < 0.15:
                sources.add(rng.randrange(node))
            reads.append(sorted(sources))
    else:
        for node in range(count):
            sources = {rng.randrange(max(0, node - rng.choice((2, 4, 14))), node)
                       for _ in range(rng.randint(0, 3)) if node > 0}
            reads.append(sorted(sources))
    used = {source for sources in reads for source in sources}
    nodes = [(sources, rng.randint(MIN_COST, 2 * MIN_COST), rng.randint(0, 30),
              rng.randint(0, 20) if has_workspace else 0) for sources in reads]
    results = [node for node in range(count) if node not in used]
    nodes.append((results, 0, 0, 0))
    operations = [{"reads": sources, "writes": [node], "cost": cost, "workspace": workspace}
                  for node, (sources, cost, _, workspace) in enumerate(nodes[:-1])]
    operations.append({"reads": results, "cost": 0, "effect": "pinned"})
    values = [{"bytes": node[2]} for node in nodes[:-1]]
    return {"version": 1, "values": values, "operations": operations}, nodes


def working_set(nodes, op):
    sources, _, size, workspace = nodes[op]
    return sum(nodes[source][2] for source in sources) + size + workspace


def unchanged_peak(nodes):
    last = {source: op for op, node in enumerate(nodes) for source in node[0]}
    return max(sum(nodes[value][2] for value in range(op + 1) if last.get(value, value) >= op)
               + nodes[op][3] for op in range(len(nodes)))


def solve(cp_model, nodes, budget, reorder, most):
    """The least added cost of a plan, at most `most`, and whether it is proven; None for no plan."""
    num_steps = len(nodes) + most // MIN_COST
    model = cp_model.CpModel()
    count = len(nodes)
    end = count - 1

    def variables(name):
        return [[model.new_bool_var(f"{name}{step}_{op}") for op in range(count)]
                for step in range(num_steps)]

    runs, stays, done = variables("x"), variables("m"), variables("e")
    for step in range(num_steps):
        model.add_at_most_one(runs[step])
        if step:
            # Idle steps come last.
            model.add(sum(runs[step]) <= sum(runs[step - 1]))
        present = []
        for op, (sources, _, size, workspace) in enumerate(nodes):
            before = stays[step - 1][op] if step else 0
            done_before = done[step - 1][op] if step else 0
            model.add(stays[step][op] <= before + runs[step][op])
            model.add(done[step][op] <= done_before + runs[step][op])
            model.add(done[step][op] >= done_before)
            model.add(done[step][op] >= runs[step][op])
            for source in sources:
                model.add(runs[step][op] <= (stays[step - 1][source] if step else 0))
            if step:
                model.add(runs[step][op] + done[step - 1][end] <= 1)
            if op and not reorder:
                model.add(runs[step][op] <= (done[step - 1][op - 1] if step else 0))
            there = model.new_bool_var(f"p{step}_{op}")
            model.add(there >= before)
            model.add(there >= runs[step][op])
            present.append(size * there + workspace * runs[step][op])
        model.add(sum(present) <= budget)
    for op in range(count):
        model.add(done[-1][op] == 1)
    cost = sum(node[1] * runs[step][op]
               for step in range(num_steps) for op, node in enumerate(nodes))
    model.add(cost <= sum(node[1] for node in nodes) + most)
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = MAX_WORK
    status = solver.solve(model)
    is_proven = status in (cp_model.INFEASIBLE, cp_model.OPTIMAL)
    if status not in (cp_model.FEASIBLE, cp_model.OPTIMAL):
        return None, is_proven
    return round(solver.objective_value) - sum(node[1] for node in nodes), is_proven


def can_finish(nodes, budget, reorder):
    """Whether any sequence of steps fits: visits what can be in memory after what has been
    executed. None if there are too many states."""
    count = len(nodes)
    masks = [sum(1 << source for source in node[0]) for node in nodes]
    sizes = [node[2] for node in nodes]
    seen = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        executed, memory = pending.pop()
        if executed >> (count - 1) & 1:
            return True
        if len(seen) > MAX_STATES:
            return None
        used = sum(size for value, size in enumerate(sizes) if memory >> value & 1)
        following = [(executed, memory & ~(1 << value)) for value in range(count)
                     if memory >> value & 1]
        for op in range(count):
            is_first = not executed >> op & 1
            in_order = executed >> op == 0 and executed == (1 << op) - 1
            if memory >> op & 1 or memory & masks[op] != masks[op]:
                continue
            if is_first and not (in_order or reorder):
                continue
            if op == count - 1 and executed != (1 << op) - 1:
                continue
            if used + sizes[op] + nodes[op][3] <= budget:
                following.append((executed | 1 << op, memory | 1 << op))
        for state in following:
            if state not in seen:
                seen.add(state)
                pending.append(state)
    return False


def ask_tool(tool, path, budget, reorder):
    answer = path + ".answer"
    process = subprocess.run([tool, "solve", path, "--solver=exact",
                              f"--reorder={'on' if reorder else 'off'}", f"--budget={budget}B",
                              f"--output={answer}"], capture_output=True, text=True, check=False)
    if process.returncode not in (0, 2):
        raise RuntimeError(f"{' '.join(process.args)}: {process.stderr}")
    with open(answer, encoding="utf-8") as file:
        return json.load(file)


def compare(cp_model, nodes, budget, reorder, answer):
    """What is wrong with the tool's answer, or None; and how the oracle answers."""
    status, bound = answer["status"], answer["added_cost_lower_bound"]
    if (answer["gap"] is None) != (status == "infeasible"):
        return f"status {status}, but the gap is {answer['gap']}", "unknown"
    if status == "infeasible":
        if bound is not None:
            return "nothing was found, without a proof", "unknown"
        fits = can_finish(nodes, budget, reorder)
        return ("something fits" if fits else None), ("unknown" if fits is None else "infeasible")
    if status != "optimal":
        return f"status {status} is no proof", "unknown"
    added = answer["added_cost"]
    least, is_proven = solve(cp_model, nodes, budget, reorder, added)
    if least is None and is_proven:
        return f"nothing fits that adds at most {added}", "infeasible"
    if least is not None and least < added:
        return f"adds {added}, but {least} is possible", "optimal"
    if bound != added:
        return f"lower bound {bound} is not the optimum {added}", "optimal"
    if not is_proven:
        return None, "unknown"
    return None, "optimal" if added else "unchanged"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=14)
    parser.add_argument("--tool", default="remat-plan")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        print("ortools is not installed")
        sys.exit(NOT_INSTALLED)

    counts, num_wrong = {}, 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(arguments.first, arguments.first + arguments.problems):
            problem, nodes = generate(seed, arguments.nodes)
            path = os.path.join(directory, f"{seed}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(problem, file)
            least = max(working_set(nodes, op) for op in range(len(nodes)))
            most = unchanged_peak(nodes)
            for part in range(3):
                budget = least + (most - least) * part // 3
                for reorder in (False, True):
                    answer = ask_tool(arguments.tool, path, budget, reorder)
                    wrong, kind = compare(cp_model, nodes, budget, reorder, answer)
                    counts[kind] = counts.get(kind, 0) + 1
                    num_wrong += wrong is not None
                    if wrong or arguments.verbose:
                        print(f"seed {seed} budget {budget} reorder {reorder}: {wrong or kind}",
                              flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    print(f"{num_wrong} wrong")
    sys.exit(1 if num_wrong else 0)


if __name__ == "__main__":
    main()
