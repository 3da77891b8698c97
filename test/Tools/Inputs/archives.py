"""archives.py FOLDER: arguments of products.mlir in archives, some of which cannot be read.

FOLDER has the arguments as files already."""
import io
import pathlib
import struct
import sys
import zipfile

import numpy as np

folder = pathlib.Path(sys.argv[1])
arrays = {path.stem: np.load(path) for path in sorted(folder.glob("arg*.npy"))}
np.savez(folder / "stored.npz", **arrays)
np.savez_compressed(folder / "deflated.npz", **arrays)
np.savez(folder / "unnamed.npz", *arrays.values())
np.savez(folder / "shape.npz", arg1=np.zeros((3, 7), "f4"))

stored = (folder / "stored.npz").read_bytes()
(folder / "cut.npz").write_bytes(stored[:-30])
# A bit of an element: in arg1, behind its header.
at = stored.index(b"arg1.npy")
at = stored.index(b"NUMPY", at) + 200
(folder / "flipped.npz").write_bytes(stored[:at] + bytes([stored[at] ^ 1]) + stored[at + 1:])


def save(name, data, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(folder / f"{name}.npz", "w", method) as archive:
        archive.writestr("arg1.npy", data)


def to_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


good = to_bytes(arrays["arg1"])
save("short", good[:-4])
save("long", good + bytes(4))
save("text", b"text")
# 1 GiB of zeros, in a megabyte.
save("bomb", good + bytes(1 << 30), zipfile.ZIP_DEFLATED)
save("lzma", good, zipfile.ZIP_LZMA)
# A header that is longer than any: version 2, of 4 GB.
save("header", b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFFF) + bytes(1 << 20))
