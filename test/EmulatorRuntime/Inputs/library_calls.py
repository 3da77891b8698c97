# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the emulator's functions for libraries and for the host in a wrong way.

  library_calls.py libRematEmulatorRuntime.so {outside,read-only,workspace,host-load,host-store,free}
"""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "integration"))
from device import Device

F32 = 3
SIZE, INNER = 4, 512


def main():
    library, fault = Device(sys.argv[1]).library, sys.argv[2]
    library.rematEmulatorRegisterMemory.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32]
    memory = ctypes.create_string_buffer(1 << 16)
    begin = ctypes.addressof(memory)
    library.rematEmulatorRegisterMemory(begin, 1 << 14, 1)
    read_only, outside = begin + (1 << 14), begin + (1 << 15)
    library.rematEmulatorRegisterMemory(read_only, 256, 0)
    place = b"a place"
    if fault != "workspace":
        library.rematDeviceBeginOperation(place)
    # So many terms that there is a workspace.
    shape = (ctypes.c_int64 * 28)(F32, F32, F32, 1, 1, 1, 1, SIZE, SIZE, INNER, 0, 0, 0, 0, INNER, 1,
                                  0, 0, 0, 0, SIZE, 1, 0, 0, 0, 0, SIZE, 1)
    if fault == "free":
        library.mgpuMemFree(begin, None)
    elif fault == "host-load":
        library.rematDeviceLoad(outside, 8)
    elif fault == "host-store":
        library.rematDeviceStore(read_only, 4, 0)
    else:
        library.rematDeviceMatmul(shape, outside if fault == "outside" else begin, begin,
                                  read_only if fault == "read-only" else begin + 8192, begin + 12288,
                                  128 if fault == "workspace" else 256)


main()
