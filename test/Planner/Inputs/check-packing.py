#!/usr/bin/env python3
"""Checks what `remat-plan pack --output` wrote, by looking at all pairs of buffers.

usage: check-packing.py INPUT.csv PACKED.csv CAPACITY
"""
import csv
import sys


def read(path, columns):
    with open(path, newline="") as file:
        return [tuple(int(row[name]) for name in columns) for row in csv.DictReader(file)]


given = ["id", "lower", "upper", "size"]
capacity = int(sys.argv[3])
packed = read(sys.argv[2], given + ["offset"])
assert [row[:4] for row in packed] == read(sys.argv[1], given), "not the buffers of the input"
for number, (name, lower, upper, size, offset) in enumerate(packed):
    assert 0 <= offset <= capacity - size, f"buffer {name} leaves the arena"
    for other, other_lower, other_upper, other_size, other_offset in packed[:number]:
        assert (
            upper <= other_lower
            or other_upper <= lower
            or offset + size <= other_offset
            or other_offset + other_size <= offset
        ), f"buffers {name} and {other} overlap"
print(f"{len(packed)} buffers within {capacity} B")
