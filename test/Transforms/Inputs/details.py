"""The details of a report.

    details.py print REPORT          prints those of its first function
    details.py check REPORT          checks what holds for all functions
    details.py chain N               prints a function of N operations in a row
    details.py check-chain N REPORT  compares its timeline with what is expected
"""
import json
import sys

MAX_POINTS = 1000


def read(path: str) -> list[dict]:
    with open(path) as file:
        functions = json.load(file)["functions"]
    return [function for function in functions if function["status"] != "skipped"]


def show(function: dict) -> None:
    for when in ("before", "after"):
        timeline, arena = function["timeline"][when], function["arena"][when]
        print(f"{when}: {timeline['num_steps']} steps, peak at {timeline['peak_step']}")
        for name, row in [("steps", timeline["steps"]), *sorted(timeline["bytes"].items())]:
            print(f"{name:12}", " ".join(f"{number:4}" for number in row))
        print(f"boundary {arena['boundary_bytes']} B, arena {arena['arena_bytes']} B")
        for row in arena["storages"]:
            print(f"[{row['begin']}, {row['end']}) {row['bytes']} B {row['category']}"
                  f" {row['producer']} {row['value']}"
                  + (f" at {row['offset']}" if row["offset"] is not None else "")
                  + (", recomputed" if row["recomputed"] else "")
                  + (f": {row['reason']}" if row["reason"] else ""))


def check(function: dict) -> None:
    for when, peak, packed in [("before", "baseline_peak_bytes", "baseline_packed_bytes"),
                               ("after", "peak_bytes", "packed_bytes")]:
        timeline, arena = function["timeline"][when], function["arena"][when]
        steps = timeline["steps"]
        assert steps == sorted(set(steps)) and 0 <= steps[0] and steps[-1] < timeline["num_steps"]
        assert len(steps) <= MAX_POINTS
        totals = [sum(curve) for curve in zip(*timeline["bytes"].values(), strict=True)]
        assert len(totals) == len(steps)
        assert totals[steps.index(timeline["peak_step"])] == max(totals) == function[peak]
        assert arena["boundary_bytes"] + arena["arena_bytes"] == function[packed]
        assert len(arena["storages"]) <= 2000
        placed = [row for row in arena["storages"] if row["offset"] is not None]
        for number, row in enumerate(placed):
            assert row["bytes"] * 1000 >= function["baseline_peak_bytes"]
            assert row["offset"] + row["bytes"] <= arena["arena_bytes"]
            for other in placed[:number]:
                assert (row["begin"] >= other["end"] or other["begin"] >= row["end"]
                        or row["offset"] >= other["offset"] + other["bytes"]
                        or other["offset"] >= row["offset"] + row["bytes"]), (row, other)
    at_peak = {row["value"]: row["reason"] for row in function["live_at_peak"]}
    peak_step = function["timeline"]["after"]["peak_step"]
    for row in function["arena"]["after"]["storages"]:
        is_live = row["begin"] <= peak_step < row["end"]
        assert bool(row["reason"]) == is_live
        assert (not is_live or not row["value"]
                or row["reason"] == at_peak.get(row["value"], row["reason"]))


def size(number: int) -> int:
    """Elements of the result of an operation."""
    return number * number % 17 + 1


def chain(count: int) -> None:
    print(f"func.func @chain(%v0: tensor<{size(0)}xf32>) -> tensor<{size(count)}xf32> {{")
    for number in range(1, count + 1):
        print(f'%v{number} = "stablehlo.custom_call"(%v{number - 1}) <{{call_target_name = "f"}}>'
              f" : (tensor<{size(number - 1)}xf32>) -> tensor<{size(number)}xf32>")
    print(f"return %v{count} : tensor<{size(count)}xf32> }}")


def check_chain(count: int, function: dict) -> None:
    # An operation needs what it reads and writes, and the argument is always there.
    live = [4 * (size(0) + (size(step) if step else 0) + size(step + 1)) for step in range(count)]
    live.append(4 * (size(0) + size(count)))
    changes = len(live)
    points = list(range(changes))
    if changes > MAX_POINTS:
        bounds = [number * changes // MAX_POINTS for number in range(MAX_POINTS + 1)]
        points = [max(range(begin, end), key=lambda step: (live[step], -step))
                  for begin, end in zip(bounds, bounds[1:])]
    for when in ("before", "after"):
        timeline = function["timeline"][when]
        assert timeline["steps"] == points
        totals = [sum(curve) for curve in zip(*timeline["bytes"].values())]
        assert totals == [live[step] for step in points]


def main() -> None:
    action, *rest = sys.argv[1:]
    if action == "print":
        show(read(rest[0])[0])
    elif action == "check":
        for function in read(rest[0]):
            check(function)
    elif action == "chain":
        chain(int(rest[0]))
    else:
        check_chain(int(rest[0]), read(rest[1])[0])


main()
