#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recounts the live peak and the cost of logs of DTR's prototype, and compares them with what
remat-plan says of the unchanged plan.

  check-traces.py FOLDER|FILE...    exit code 1 where they differ

Counts storages and the time of their last use; knows nothing of values, versions and plans.
"""

import gzip
import json
import os
import subprocess
import sys


def recount(lines):
    tensor_of, storage_of, size, first, last = {}, {}, {}, {}, {}
    constants, cost, time, arguments = set(), 0, -1, []
    alias_of = {line["NAME"]: int(line["ALIAS"]) for line in lines
                if line["INSTRUCTION"] == "ALIAS" and line["ALIAS"] != "-1"}

    def use(tensor):
        last[storage_of[tensor]] = time

    for line in lines:
        kind = line["INSTRUCTION"]
        if kind == "CONSTANT":
            tensor_of[line["NAME"]] = storage_of[line["NAME"]] = line["NAME"]
            constants.add(line["NAME"])
        elif kind == "CALL":
            arguments = [tensor_of[name] for name in line["ARGS"]]
            # A call that only makes views takes no time.
            if not all(name in alias_of for name in line["RESULT"]):
                time += 1
                cost += int(line["TIME"]) * 1000
                for tensor in arguments:
                    use(tensor)
            for name in line["RESULT"]:
                tensor_of[name] = name
                if name in alias_of:
                    storage_of[name] = storage_of[arguments[alias_of[name]]]
                else:
                    storage_of[name], first[name], last[name] = name, time, time
        elif kind == "MEMORY":
            size[line["NAME"]] = int(line["MEMORY"])
        elif kind == "COPY":
            tensor_of[line["DST"]] = tensor_of[line["SRC"]]
        elif kind == "MUTATE":
            time += 1
            cost += int(line["TIME"]) * 1000
            for name in line["ARGS"]:
                use(tensor_of[name])
            for position in line["MUTATE"]:
                assert storage_of[tensor_of[line["ARGS"][position]]] not in constants
        elif kind == "RELEASE":
            del tensor_of[line["NAME"]]
    time += 1
    for tensor in tensor_of.values():
        use(tensor)
    change = [0] * (time + 2)
    for storage in set(storage_of.values()):
        begin, end = (0, time) if storage in constants else (first[storage], last[storage])
        change[begin] += size[storage]
        change[end + 1] -= size[storage]
    live = peak = 0
    for step in change:
        live += step
        peak = max(peak, live)
    return peak, cost


def main():
    paths = []
    for path in sys.argv[1:]:
        paths += [os.path.join(path, name) for name in sorted(os.listdir(path))] \
            if os.path.isdir(path) else [path]
    failures = 0
    for path in paths:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt") as file:
            expected = "unchanged    %d B, cost %d" % recount([json.loads(line) for line in file])
        output = subprocess.run(["remat-plan", "solve", "--effort=0", path, "--max-overhead=0%"], text=True,
                                stdout=subprocess.PIPE).stdout
        if expected not in output.splitlines():
            failures += 1
            print(f"{path}: expected '{expected}', but got\n{output}")
    return failures != 0


sys.exit(main())
