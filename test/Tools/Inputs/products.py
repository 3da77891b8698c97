"""products.py write|check FOLDER: arguments of products.mlir, and whether its results are right."""
import os
import sys

import numpy as np

SHAPES = [((5, 7), "f4"), ((7, 3), "f4"), ((7, 5), "f4"), ((3, 7), "f4"), ((2, 5, 7), "f4"),
          ((2, 7, 3), "f4"), ((5, 7), "f8"), ((7, 3), "f8"), ((5, 7), "i4"), ((7, 3), "i4"),
          ((5, 7), "f2"), ((7, 3), "f2")]
action, folder = sys.argv[1:]
random = np.random.default_rng(1)
args = [random.integers(-9, 9, shape).astype(kind) if kind == "i4"
        else random.standard_normal(shape).astype(kind) for shape, kind in SHAPES]
if action == "write":
    os.makedirs(folder, exist_ok=True)
    for index, array in enumerate(args):
        np.save(f"{folder}/arg{index}.npy", array)
    sys.exit()
a, b, at, bt, x, y, p, q, i, j, h, l = args
wide = [array.astype("f8") for array in args]
expected = [wide[0] @ wide[1], wide[0] @ wide[1] + wide[2].T @ wide[3].T, (wide[0] @ wide[1]).T,
            wide[4] @ wide[5], p @ q, i @ j, wide[10] @ wide[11]]
for index, array in enumerate(expected):
    result = np.load(f"{folder}/result{index}.npy")
    assert result.shape == array.shape, (index, result.shape)
    tolerance = 1e-12 if result.dtype == np.float64 else 1e-5
    assert np.allclose(result, array, rtol=tolerance, atol=tolerance), (index, result, array)
print("all results are right")
