"""aliases.py write|check FOLDER: arguments of aliases.mlir, and whether its results are right."""
import os
import sys

import numpy as np

action, folder = sys.argv[1:]
x, y, d = (np.arange(first, first + 4, dtype="f4") / 8 for first in (1, 5, 9))
if action == "write":
    os.makedirs(folder, exist_ok=True)
    for index, array in enumerate((x, y, np.bool_(False), d)):
        np.save(f"{folder}/arg{index}.npy", array)
    sys.exit()
inserted = np.exp(x)
inserted[0] = 9
a, b = x.copy(), y.copy()
for _ in range(3):
    n = a.copy()
    n[0:2] = a[2:4]
    a, b = b, n + b
shifted = d.copy()
shifted[1:4] = d[0:3]
for index, array in enumerate((inserted, np.exp(x), a, b, y * y, shifted)):
    result = np.load(f"{folder}/result{index}.npy")
    assert np.allclose(result, array, rtol=1e-6), (index, result, array)
print("all results are right")
