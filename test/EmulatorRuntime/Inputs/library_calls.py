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
SIZE = 8


def main():
    library, fault = Device(sys.argv[1]).library, sys.argv[2]
    library.rematEmulatorRegisterMemory.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32]
    memory = ctypes.create_string_buffer(4096)
    begin = ctypes.addressof(memory)
    library.rematEmulatorRegisterMemory(begin, 1024, 1)
    library.rematEmulatorRegisterMemory(begin + 1024, 256, 0)
    outside, read_only = begin + 2048, begin + 1024
    place = b"a place"
    if fault != "workspace":
        library.rematDeviceBeginOperation(place)
    strides = (0, 0, 0, 0, SIZE, 1)
    shape = (ctypes.c_int64 * 28)(F32, F32, F32, 1, 1, 1, 1, SIZE, SIZE, SIZE, *strides * 3)
    if fault == "free":
        library.mgpuMemFree(begin, None)
    elif fault == "host-load":
        library.rematDeviceLoad(outside, 8)
    elif fault == "host-store":
        library.rematDeviceStore(read_only, 4, 0)
    else:
        library.rematDeviceMatmul(shape, outside if fault == "outside" else begin, begin,
                                  read_only if fault == "read-only" else begin + 256, begin + 512,
                                  128 if fault == "workspace" else 256)


main()
