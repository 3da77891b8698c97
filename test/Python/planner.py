# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The planner from Python: the answers of remat-plan, and those of slow and obvious twins.

RUN: %pytest %s
"""

import heapq
import itertools
import json
import random
import subprocess
import threading
import time

import pytest

import remat
from remat import planner, tools
from remat.planner import Problem


def random_graph(seed, nodes):
    """A graph of networkx in node-link form, in which every node but the first reads one or two."""
    generator = random.Random(seed)
    links = []
    for node in range(1, nodes):
        for source in generator.sample(range(node), min(node, generator.randint(1, 2))):
            links.append({"source": f"n{source}", "target": f"n{node}"})
    return {
        "nodes": [
            {"id": f"n{node}", "cost_ram": generator.randint(1, 9), "cost_cpu": generator.randint(1, 9)}
            for node in range(nodes)
        ],
        "links": links,
    }


def random_problem(seed):
    """A problem with arguments, views, workspaces and a result."""
    generator = random.Random(seed)
    problem = Problem(alignment=generator.choice([1, 4]))
    values = [problem.value(generator.randint(1, 50), name=f"x{index}") for index in range(2)]
    for index in range(generator.randint(3, 9)):
        reads = generator.sample(values, min(len(values), generator.randint(1, 3)))
        owners = [read for read in reads if problem.values[read].placement == "own"]
        if owners and generator.random() < 0.2:
            made = problem.value(1, placement="view", source=owners[0])
            problem.operation(0, reads, [made], name=f"view{index}")
        else:
            made = problem.value(generator.randint(1, 50))
            workspace = generator.choice([0, 0, 20])
            problem.operation(generator.randint(0, 30), reads, [made], workspace=workspace)
        values.append(made)
    problem.operation(0, generator.sample(values, 2) + [values[-1]], effect="pinned")
    problem.operations[-1].reads = sorted(set(problem.operations[-1].reads))
    return problem


def cheapest(graph, budget):
    """The least added cost of all schedules within a budget of live bytes, None where there is none:
    Dijkstra over which outputs are in memory and which nodes were computed."""
    nodes = [node["id"] for node in graph["nodes"]]
    bytes_of = {node["id"]: node["cost_ram"] for node in graph["nodes"]}
    cost_of = {node["id"]: node["cost_cpu"] for node in graph["nodes"]}
    inputs = {node: set() for node in nodes}
    for link in graph["links"]:
        inputs[link["target"]].add(link["source"])
    start = (frozenset(), frozenset())
    best, queue, order = {start: 0}, [(0, 0, start)], itertools.count(1)
    while queue:
        cost, _, state = heapq.heappop(queue)
        kept, computed = state
        if cost > best[state]:
            continue
        if len(computed) == len(nodes):
            return cost - sum(cost_of.values())
        for node in nodes:
            if node in kept or not inputs[node] <= kept:
                continue
            live = kept | {node}
            if sum(bytes_of[each] for each in live) > budget:
                continue
            for size in range(len(live) + 1):
                for rest in itertools.combinations(sorted(live), size):
                    after = (frozenset(rest), computed | {node})
                    if cost + cost_of[node] < best.get(after, 1 << 60):
                        best[after] = cost + cost_of[node]
                        heapq.heappush(queue, (best[after], next(order), after))
    return None


def live_bytes(problem, plan):
    """Live bytes of each step by looking at all storages at each step, one reader at a time."""
    operations, values = problem.operations, problem.values
    written = {value for operation in operations for value in operation.writes}
    boundary = [value for value in range(len(values)) if value not in written]
    storage_of, storages = {}, []  # (step, value) -> number; [bytes, begin, end]
    for value in boundary:
        storage_of[None, value] = len(storages)
        storages.append([values[value].bytes, 0, len(plan.steps)])
    for number, step in enumerate(plan.steps):
        operation = operations[step.operation]
        for value, source in zip(operation.reads, step.reads):
            storages[storage_of[source, value]][2] = max(
                storages[storage_of[source, value]][2], number + 1)
        for value in operation.writes:
            if values[value].placement == "view":
                source = step.reads[operation.reads.index(values[value].source)]
                storage_of[number, value] = storage_of[source, values[value].source]
            else:
                storage_of[number, value] = len(storages)
                storages.append([values[value].bytes, number, number + 1])
    # A region waits for a value, which is live up to the step before it.
    for region in plan.regions:
        if region.after_value is not None:
            storage = storages[storage_of[region.after_step, region.after_value]]
            storage[2] = max(storage[2], region.begin)
    return [
        operations[step.operation].workspace
        + sum(size for size, begin, end in storages if begin <= number < end)
        for number, step in enumerate(plan.steps)
    ]


def remat_plan(*arguments):
    return subprocess.run(
        [str(tools.find_tool("remat-plan")), *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("seed", range(12))
def test_is_as_cheap_as_trying_everything(seed):
    graph = random_graph(seed, 5)
    peak = planner.simulate(graph).live_peak_bytes
    for budget in range(1, peak + 1):
        expected = cheapest(graph, budget)
        if expected is None:
            with pytest.raises(remat.InfeasibleError) as caught:
                remat.plan(graph, budget, packed=False, threads=1)
            assert cheapest(graph, caught.value.minimum_bytes) is not None
            assert caught.value.budget_bytes == budget
        else:
            answer = remat.plan(graph, budget, packed=False, threads=1)
            assert answer.added_cost_ps == expected, (seed, budget)
            assert answer.peak_bytes <= budget


@pytest.mark.parametrize("seed", range(20))
def test_live_bytes_are_those_of_looking_at_everything(seed):
    problem = random_problem(seed)
    unchanged = planner.simulate(problem)
    answers = planner.solve_front(problem, 6, effort=0)
    assert answers[0].packed_peak_bytes == unchanged.packed_peak_bytes
    for answer in answers:
        simulation = answer.simulation
        assert simulation.live_bytes == live_bytes(problem, answer.plan)
        assert simulation.live_peak_bytes == max(simulation.live_bytes)
        assert simulation.live_bytes[simulation.peak_step] == simulation.live_peak_bytes
        once = {step.operation for step in answer.plan.steps}
        executed = sum(problem.operations[step.operation].cost for step in answer.plan.steps)
        assert simulation.cost_ps == executed == answer.cost_ps
        assert answer.added_cost_ps == executed - sum(problem.operations[op].cost for op in once)
        # Buffers that are live together do not overlap, and the arena holds them.
        inside = [each for each in simulation.storages if not each.is_boundary and each.bytes]
        for one, two in itertools.combinations(inside, 2):
            together = one.begin < two.end and two.begin < one.end
            apart = one.offset + one.bytes <= two.offset or two.offset + two.bytes <= one.offset
            assert apart or not together
        for each in inside:
            assert each.offset % problem.alignment == 0
            assert each.offset + each.bytes <= simulation.arena_bytes
        assert planner.simulate(problem, answer.plan) == simulation
        assert planner.simulate(problem, answer.plan.to_json()) == simulation


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("solver", ["greedy", "anneal"])
def test_answers_are_those_of_the_tool(tmp_path, seed, packed, solver):
    graph = random_graph(seed, 16)
    path, output = tmp_path / "graph.json", tmp_path / "answer.json"
    path.write_text(json.dumps(graph))
    flags = ["--packed", "--reorder=off"] if packed else []
    flags += [f"--solver={solver}", "--iterations=1000", "--seeds=3", f"--output={output}"]
    options = {"packed": packed, "reorder": not packed, "solver": solver, "iterations": 1000, "seeds": 3}
    for budget in ("100%", "0.7x", "45.5%", "1B"):
        run = remat_plan("solve", path, f"--budget={budget}", *flags)
        expected = json.loads(output.read_text())
        if run.returncode == 0:
            answer = remat.plan(path, budget, **options)
        else:
            with pytest.raises(remat.InfeasibleError) as caught:
                remat.plan(path, budget, **options)
            answer = caught.value.answer
            assert caught.value.minimum_bytes == expected["peak_bytes"]
        assert answer.budget_bytes == expected["budget_bytes"]
        assert answer.peak_bytes == expected["peak_bytes"]
        assert answer.added_cost_ps == expected["added_cost"]
        assert answer.added_cost_lower_bound_ps == expected["added_cost_lower_bound"]
        assert json.loads(answer.plan.to_json())["steps"] == [
            {"clone": False, "reads": [], "dependences": [], "variant": 0, **step}
            for step in expected["plan"]["steps"]
        ]
        ids = [node["id"] for node in graph["nodes"]]
        assert [ids[op] for op in answer.schedule if op < len(ids)] == expected["schedule"]


def test_cost_limits_are_those_of_the_tool(tmp_path):
    path, output = tmp_path / "graph.json", tmp_path / "answer.json"
    path.write_text(json.dumps(random_graph(3, 20)))
    for limit in (0.1, "7.5%", None):
        option = [] if limit is None else [f"--max-overhead={'10%' if limit == 0.1 else limit}"]
        remat_plan("solve", path, f"--output={output}", "--effort=0", *option)
        expected = json.loads(output.read_text())
        answer = remat.plan(path, max_overhead=limit, packed=False, effort=0)
        assert (answer.peak_bytes, answer.added_cost_ps) == (
            expected["peak_bytes"], expected["added_cost"])


def test_fronts_are_those_of_the_tool(tmp_path):
    path, output = tmp_path / "graph.json", tmp_path / "front.json"
    path.write_text(json.dumps(random_graph(5, 20)))
    remat_plan("pareto", path, "--points=7", "--effort=0", f"--output={output}")
    expected = json.loads(output.read_text())["points"]
    front = remat.pareto(path, 7, packed=False, effort=0)
    assert [(point.peak_bytes, point.added_cost_ps) for point in front] == [
        (point["peak_bytes"], point["added_cost"]) for point in expected]
    assert front[0].overhead == 0 and front[-1].overhead > 0

    budgets = ["100%", "0.8x", "1B"]
    remat_plan("pareto", path, f"--budgets={','.join(budgets)}", "--effort=0", f"--output={output}")
    expected = json.loads(output.read_text())["points"]
    answers = planner.solve_front(path, budgets=budgets, packed=False, effort=0)
    assert [(each.budget_bytes, each.peak_bytes, each.fits) for each in answers] == [
        (point["budget_bytes"], point["peak_bytes"], point["status"] == "met") for point in expected]


def test_a_problem_survives_its_text(tmp_path):
    for seed in range(10):
        problem = random_problem(seed)
        assert Problem.parse(problem.to_json()) == problem
    problem = Problem(alignment=64)
    problem.value(100, name="x ü", awaitable=False)
    problem.value(200)
    problem.operation(7, [0], [1], name='"', workspace=90, policy="must_save",
                      variants=[planner.Variant(9, 10)])
    problem.operation(1, [1], effect="ordered", recomputable=False)
    path = tmp_path / "ein Problem ü.json"
    path.write_text(problem.to_json(), "utf-8")
    assert Problem.load(path) == problem
    # The tool takes the same text.
    assert remat_plan("solve", path).returncode == 0
    assert remat.plan(path).status == "optimal"


def test_variants_are_used():
    problem = Problem()
    value = problem.value(10)
    problem.operation(5, [], [value], workspace=100, variants=[planner.Variant(8, 20)])
    problem.operation(0, [value], effect="pinned")
    answer = remat.plan(problem, 30)
    assert (answer.plan.steps[0].variant, answer.added_cost_ps) == (1, 3)
    assert remat.plan(problem, 110).added_cost_ps == 0


def test_compressed_graphs(tmp_path):
    import gzip

    graph = random_graph(1, 6)
    path = tmp_path / "graph"
    path.write_bytes(gzip.compress(json.dumps(graph).encode()))
    assert Problem.load(path) == Problem.from_json(graph)
    path.write_bytes(gzip.compress(json.dumps(graph).encode())[:-9])
    with pytest.raises(remat.InvalidInputError, match="graph"):
        Problem.load(path)


@pytest.mark.parametrize("text, message", [
    ("{", "not JSON"),
    ("{} []", "not JSON"),
    ('{"version": 2, "values": [], "operations": []}', "expected 'version' to be 1, but got 2"),
    ('{"version": 1, "operations": []}', "expected 'values' to be an array"),
    ('{"version": 1, "values": [], "operations": [], "x": 1}', "unknown key 'x'"),
    ('{"version": 1, "values": [1], "operations": []}', r"expected 'values\[0\]' to be an object"),
    ('{"version": 1, "values": [{}], "operations": []}', r"missing key 'values\[0\].bytes'"),
    ('{"version": 1, "values": [], "operations": [{"cost": 1, "y": 1}]}',
     r"unknown key 'operations\[0\].y'"),
    ('{"version": 1, "values": [], "operations": [{"cost": 1, "reads": [3]}]}',
     r"operation 0 \(''\) reads value 3, which does not exist"),
    ('{"version": 1, "values": [{"bytes": -1}], "operations": []}', "negative size of -1"),
    ('{"version": 1, "values": [{"bytes": "1"}], "operations": []}', r"values\[0\].bytes"),
    ('{"nodes": [], "x": 1}', "expected 'edges' to be an array"),
    ('{"nodes": [1], "links": []}', "node 0 is no object"),
    ('{"nodes": [{}], "links": []}', "node 0 has no 'id'"),
    ('{"nodes": [{"id": 1, "cost_ram": 1}], "links": []}', "needs 'cost_cpu' or 'duration'"),
    ('{"nodes": [{"id": 1, "cost_ram": -1, "cost_cpu": 1}], "links": []}', "needs 'cost_ram'"),
    ('{"nodes": [{"id": 1, "cost_ram": 1, "cost_cpu": 1}], "links": [{"source": 1, "target": 2}]}',
     "link 0 has an end that is no node"),
    ('{"nodes": [{"id": 1, "cost_ram": 1, "cost_cpu": 1}], "links": [{"source": 1, "target": 1}]}',
     "which it reads"),
    ('{"nodes": [{"id": 1, "cost_ram": 1, "cost_cpu": 1}], "links": [], "graph": {"order": []}}',
     "list each of the 1 nodes once"),
    ('{"nodes": [{"id": 1, "cost_ram": 1, "cost_cpu": 1}, {"id": "1"}], "links": []}', "there twice"),
])
def test_wrong_problems(text, message):
    with pytest.raises(remat.InvalidInputError, match=message):
        remat.plan(text)


@pytest.mark.parametrize("options, message", [
    ({"budget": "4 parsecs"}, "unknown unit 'parsecs'"),
    ({"budget": "4"}, "no unit"),
    ({"budget": "1.5B"}, "not a whole number of bytes"),
    ({"budget": "110%"}, "at most 100%"),
    ({"budget": "0%"}, "above 0%"),
    ({"budget": ""}, "byte count"),
    ({"budget": -1}, "from 0 to 2"),
    ({"max_overhead": "much"}, "expected a percentage from 0%"),
    ({"max_overhead": -0.5}, "expected a percentage from 0%"),
    ({"budget": 1, "max_overhead": 0.1}, "two questions"),
    ({"solver": "luck"}, "luck"),
    ({"effort": 11}, "effort"),
    ({"seeds": 0}, "numSeeds"),
    ({"threads": 0}, "numThreads"),
    ({"time_limit": -1.0}, "timeLimitSeconds"),
    ({"min_bytes": -1}, "minBytes"),
    ({"on_infeasible": "cry"}, "cry"),
])
def test_wrong_options(options, message):
    with pytest.raises(remat.InvalidInputError, match=message):
        remat.plan(random_graph(0, 5), **options)


def test_a_solver_that_cannot_take_the_problem():
    with pytest.raises(remat.InvalidInputError, match="exact"):
        remat.plan(random_graph(0, 200), "90%", solver="exact")


def test_wrong_plans():
    graph = random_graph(0, 5)
    with pytest.raises(remat.InvalidInputError, match="operation 99, which does not exist"):
        planner.simulate(graph, '{"version": 1, "steps": [{"op": 99}]}')
    with pytest.raises(remat.InvalidInputError):
        planner.simulate(graph, planner.Plan([], []))
    with pytest.raises(remat.InvalidInputError, match="give one"):
        planner.solve_front(graph, 3, budgets=[5])
    with pytest.raises(remat.InvalidInputError, match="from 2 to"):
        planner.solve_front(graph, 1)
    with pytest.raises(TypeError):
        remat.plan(graph, 1.5)
    with pytest.raises(FileNotFoundError):
        remat.plan("no such file.json")


def test_infeasible_ones_are_refused_or_warned_about():
    graph = random_graph(2, 8)
    with pytest.raises(remat.InfeasibleError, match="budget of 1 bytes.*it is proved") as caught:
        remat.plan(graph, 1)
    minimum = caught.value.minimum_bytes
    assert remat.plan(graph, minimum).peak_bytes == minimum
    assert caught.value.answer.added_cost_lower_bound_ps is None
    with pytest.warns(remat.RematWarning, match=f"known to be feasible is {minimum} bytes"):
        assert remat.plan(graph, 1, on_infeasible="warn").peak_bytes == minimum


def test_what_must_be_recomputed_costs_more_than_the_limit():
    problem = Problem()
    a, b, c, d = (problem.value(bytes) for bytes in (8, 8, 80, 8))
    problem.operation(10, [], [a], policy="must_recompute")
    problem.operation(10, [a], [b])
    problem.operation(10, [b], [c])
    problem.operation(10, [a, c], [d])
    problem.operation(0, [d], effect="pinned")
    with pytest.raises(remat.InfeasibleError, match="limit of cost"):
        remat.plan(problem, max_overhead=0)
    assert remat.plan(problem, max_overhead="25%").added_cost_ps == 10


def hard_problem():
    """One that the search does not end for in years."""
    return random_graph(7, 60)


HARD = {"budget": "55%", "packed": False, "solver": "anneal", "effort": 10}


def test_a_callback_watches_and_stops():
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) < 3

    started = time.monotonic()
    answer = remat.plan(hard_problem(), **HARD, on_progress=watch)
    assert len(seen) == 3 and time.monotonic() - started < 60
    assert seen[-1].iteration <= seen[-1].num_iterations
    assert answer.fits


def test_an_exception_of_a_callback_is_raised():
    def fail(progress):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        remat.plan(hard_problem(), **HARD, on_progress=fail)
    # The search is told to end.
    for thread in threading.enumerate():
        if thread.name == "remat-planner":
            thread.join(timeout=120)
            assert not thread.is_alive()


def test_a_progress_bar_appears_where_it_is_asked_for(capsys):
    ends = time.monotonic() + 2

    def watch(progress):
        return time.monotonic() < ends

    remat.plan(hard_problem(), **HARD, progress=True, on_progress=watch)
    assert "planning" in capsys.readouterr().err
    ends = time.monotonic() + 2
    remat.plan(hard_problem(), **HARD, on_progress=watch)
    remat.plan(random_graph(0, 5), progress=True)
    assert capsys.readouterr().err == ""


def test_threads_and_memory():
    """Answers live as long as something looks at them, in any thread."""
    graph = random_graph(4, 12)
    expected = remat.plan(graph, "70%", packed=False).plan
    found = []
    workers = [
        threading.Thread(
            target=lambda: found.append(remat.plan(graph, "70%", packed=False, threads=2)))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(answer.plan == expected for answer in found) and len(found) == 4
    simulations = [answer.simulation for answer in found]
    del found
    assert simulations[0] == simulations[1]


def test_empty_problems():
    answer = remat.plan(Problem())
    assert answer.plan == planner.Plan([], []) and answer.simulation.live_bytes == []
    assert answer.overhead == 0


@pytest.mark.parametrize("seed", range(10))
def test_packing(seed):
    generator = random.Random(seed)
    buffers = []
    for _ in range(20):
        begin = generator.randrange(20)
        buffers.append((begin, begin + generator.randint(1, 9), generator.randint(1, 99)))
    offsets, arena = planner.pack(buffers, alignment=8)
    for (one, at), (two, other) in itertools.combinations(zip(buffers, offsets), 2):
        if one[0] < two[1] and two[0] < one[1]:
            assert at + one[2] <= other or other + two[2] <= at
    live = max(sum(-(-each[2] // 8) * 8 for each in buffers if each[0] <= now < each[1])
               for now in range(30))
    assert live <= arena and all(at % 8 == 0 for at in offsets)
    assert max(at + each[2] for each, at in zip(buffers, offsets)) <= arena
    with pytest.raises(remat.InvalidInputError, match="alignment"):
        planner.pack(buffers, alignment=3)
