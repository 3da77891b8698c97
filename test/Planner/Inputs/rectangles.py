#!/usr/bin/env python3
"""Prints buffers that fill an arena without a gap, in the CSV form of MiniMalloc.

usage: rectangles.py SEED BYTES DEPTH
"""
import random
import sys


def cut(begin, end, size, depth):
    """Cuts steps [begin, end) by `size` bytes at random, along time or along bytes."""
    if depth and end - begin > 1 and generator.getrandbits(1):
        middle = begin + 1 + int(generator.random() * (end - begin - 1))
        return cut(begin, middle, size, depth - 1) + cut(middle, end, size, depth - 1)
    if depth and size > 1:
        lower = 1 + int(generator.random() * (size - 1))
        return cut(begin, end, lower, depth - 1) + cut(begin, end, size - lower, depth - 1)
    return [(begin, end, size)]


seed, size, depth = map(int, sys.argv[1:])
generator = random.Random(seed)
print("id,lower,upper,size")
for index, (begin, end, part) in enumerate(cut(0, 300, size, depth)):
    print(f"{index},{begin},{end},{part}")
