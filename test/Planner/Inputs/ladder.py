#!/usr/bin/env python3
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a ladder of N rungs as a node-link graph: a1 to aN, each read by the next one, then bN
down to b1, where bI reads aI and b(I+1). All outputs have 10 bytes, all costs are 1.

  ladder.py N [--backwards]    with --backwards, the nodes are listed in the wrong order
"""

import json
import sys

N = int(sys.argv[1])
names = [f"a{i}" for i in range(1, N + 1)] + [f"b{i}" for i in range(N, 0, -1)]
links = [(f"a{i}", f"a{i + 1}") for i in range(1, N)] + [(f"a{i}", f"b{i}") for i in range(N, 0, -1)]
links += [(f"b{i + 1}", f"b{i}") for i in range(N - 1, 0, -1)]
if "--backwards" in sys.argv:
    names.reverse()
print(json.dumps({
    "directed": True, "multigraph": False, "graph": {"name": f"ladder {N}"},
    "nodes": [{"id": name, "cost_cpu": 1, "cost_ram": 10} for name in names],
    "links": [{"source": source, "target": target} for source, target in links]}))
