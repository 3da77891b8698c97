"""convolutions.py write|check FOLDER: arguments of convolutions.mlir, and whether its results are
right."""
import itertools
import os
import sys

import numpy as np

SHAPES = [(2, 9, 11, 3), (3, 3, 3, 4), (2, 4, 7, 4), (2, 3, 8, 8), (4, 3, 3, 3), (3, 3, 3),
          (3, 8, 8, 2), (6, 6, 2, 4), (12,), (3,), (5, 7), (7, 3), (7, 3), (5, 3)]
action, folder = sys.argv[1:]
random = np.random.default_rng(1)
# Few bits, so that sums of products are exact, in bf16 too before they are rounded.
args = [random.integers(-8, 9, shape).astype("f4") / 8 for shape in SHAPES]
args[12] = args[12] > 0


def to_bf16(array):
    bits = np.ascontiguousarray(array, "f4").view("u4").astype("u8")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


if action == "write":
    os.makedirs(folder, exist_ok=True)
    for number, array in enumerate(args):
        np.save(f"{folder}/arg{number}.npy", to_bf16(array) if number in (10, 11) else array)
    sys.exit()


def convolve(x, w, sizes, strides=(1, 1), dilations=(1, 1)):
    """Channels last, filters as height, width, input and output channel."""
    result = np.zeros((x.shape[0], *sizes, w.shape[3]))
    for i, j in itertools.product(range(w.shape[0]), range(w.shape[1])):
        rows = slice(i * dilations[0], i * dilations[0] + (sizes[0] - 1) * strides[0] + 1,
                     strides[0])
        columns = slice(j * dilations[1], j * dilations[1] + (sizes[1] - 1) * strides[1] + 1,
                        strides[1])
        result += x[:, rows, columns] @ w[i, j]
    return result


x, w, y, xc, wc, wd, xg, g, l, k, h, i, t, c = args
padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
diagonal = np.zeros((3, 3, 3, 3))
for channel in range(3):
    diagonal[:, :, channel, channel] = wd[:, :, channel]
expected = [y + convolve(x, w, (4, 7), (2, 1), (1, 2)),
            convolve(xc.transpose(0, 2, 3, 1), wc.transpose(2, 3, 1, 0), (6, 6))
            .transpose(0, 3, 1, 2),
            convolve(padded, diagonal, (9, 11)), convolve(xg, g, (3, 3)),
            np.correlate(l, k, "valid"), to_bf16(h @ i), c + h @ i, c + h @ t, c]
for number, array in enumerate(expected):
    result = np.load(f"{folder}/result{number}.npy")
    assert result.shape == array.shape, (number, result.shape)
    assert np.array_equal(result, array.astype(result.dtype)), (number, result, array)
print("all results are right")
