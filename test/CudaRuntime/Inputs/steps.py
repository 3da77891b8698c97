# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls functions of libRematCudaRuntime.so, and prints after each what went wrong.

  steps.py libRematCudaRuntime.so [--module BITCODE] STEP...

A step is the name of a function below, with an argument behind a colon if it takes one. Steps that
begin with + do not take the error.
"""

import argparse
import ctypes
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "integration"))
from device import Device

F32, I1 = 3, 0
NUM_THREADS = 64


def words(*values):
    return (ctypes.c_int64 * len(values))(*values)


class Steps:
    def __init__(self, path, module):
        self.library = Device(path).library
        self.code = module
        self.module = self.kernel = None

    def open(self):
        return self.library.rematDeviceOpen()

    def operation(self, name):
        # Lives as long as this process.
        self.name = name.encode()
        self.library.rematDeviceBeginOperation(self.name)

    def take(self):
        return self.library.rematDeviceTakeError()

    def allocate(self, size):
        self.memory = self.library.mgpuMemAlloc(int(size), None, False)
        if not self.memory:
            print("null")

    def free(self):
        self.library.mgpuMemFree(self.memory, None)

    def used(self):
        print(self.library.rematDeviceGetUsedBytes(), "bytes are used")

    def copy(self, size):
        self.library.mgpuMemcpy(self.memory, ctypes.create_string_buffer(int(size)), int(size), None)

    def fill(self, count):
        """Both ways, and back to the host from another thread."""
        self.library.mgpuMemset32(self.memory, 0x01020304, int(count), None)
        self.library.mgpuMemset16(self.memory, 0x0506, 1, None)
        data = (ctypes.c_uint16 * (2 * int(count)))()
        def read():
            self.library.mgpuMemcpy(data, self.memory, ctypes.sizeof(data), None)
            self.library.mgpuStreamSynchronize(None)
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        print(*map(hex, data))

    def touch(self):
        print(ctypes.string_at(self.memory, 1))

    def load(self):
        with open(self.code, "rb") as stream:
            code = stream.read()
        # The library keeps no copy.
        self.bitcode = code + bytes(16)
        self.module = self.library.mgpuModuleLoad(self.bitcode, len(code))

    def text(self):
        self.library.mgpuModuleLoadJIT(b"// PTX\n", 3)

    def unload(self):
        self.library.mgpuModuleUnload(self.module)

    def find(self, name):
        self.kernel = self.library.mgpuModuleGetFunction(self.module, name.encode())

    def launch(self, block_size=NUM_THREADS):
        memory, value = ctypes.c_void_p(self.memory), ctypes.c_float(2.5)
        arguments = (ctypes.c_void_p * 2)(*map(ctypes.addressof, (memory, value)))
        self.library.mgpuLaunchKernel(self.kernel, 1, 1, 1, int(block_size), 1, 1, 0,
                                      self.library.mgpuStreamCreate(), arguments, None, 2)

    def cluster(self):
        self.library.mgpuLaunchClusterKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_int64] * 9 + [
            ctypes.c_int32] + [ctypes.c_void_p] * 3 + [ctypes.c_int64]
        self.library.mgpuLaunchClusterKernel(self.kernel, *[1] * 9, 0, None, None, None, 0)

    def read(self):
        data = (ctypes.c_float * NUM_THREADS)()
        self.library.mgpuMemcpy(data, self.memory, ctypes.sizeof(data), None)
        self.library.mgpuStreamSynchronize(None)
        print(data[0], data[NUM_THREADS - 1])

    def synchronize(self):
        self.library.mgpuStreamSynchronize(self.library.mgpuStreamCreate())

    def events(self):
        begin, end = self.library.mgpuEventCreate(), self.library.mgpuEventCreate()
        for event in (begin, end):
            self.library.mgpuEventRecord(event, None)
        self.library.mgpuStreamWaitEvent(None, end)
        self.library.mgpuEventSynchronize(end)
        time = self.library.rematDeviceGetMilliseconds(begin, end)
        for event in (begin, end):
            self.library.mgpuEventDestroy(event)
        print("a time" if 0 <= time < 1000 else time)

    def register(self):
        self.host = (ctypes.c_float * 8)()
        self.library.mgpuMemHostRegister(self.host, 32)

    def unregister(self):
        self.library.mgpuMemHostUnregister(self.host)

    def memref(self):
        """Registers a memref, and not what is behind it."""
        data = (ctypes.c_float * 8)()
        address = ctypes.addressof(data)
        descriptor = words(address, address, 2, 3, 2, 2, 1)
        self.library.mgpuMemHostRegisterMemRef(2, descriptor, 4)
        self.library.mgpuMemHostUnregister(address + 8)
        self.library.mgpuMemHostRegisterMemRef(2, descriptor, 4)
        self.library.mgpuMemHostUnregisterMemRef(2, descriptor, 4)

    def device(self, index):
        self.library.mgpuSetDefaultDevice(int(index))

    def product(self, workspace_bytes=256, kind=F32, begin=0):
        ones, strides = [1] * 4, [0] * 4 + [1, 1]
        # So many terms that there is a workspace.
        how = words(kind, kind, F32, *ones, 1, 1, 512, *strides * 3)
        first = self.memory + begin
        self.library.rematDeviceMatmul(how, first, first, first + 4096, self.memory + 8192,
                                       int(workspace_bytes))

    def shifted(self):
        """The same with less alignment."""
        self.product(begin=4)

    def bits(self):
        self.product(kind=I1)

    def convolution(self, workspace_bytes=256, kind=F32):
        sizes = [1] * (5 + 5 * 3)
        sizes[0] = 2
        strides = [1] * (5 + 6 + 5)
        how = words(kind, kind, F32, *sizes, *strides)
        self.library.rematDeviceConvolution(how, *[self.memory] * 2, self.memory + 256, self.memory + 512,
                                      int(workspace_bytes))

    def gradient(self):
        """Of a filter with one element, whose output has two by two."""
        sizes = [2, 1, 1, 1, 1] + [2, 2, 1] * 2 + [1] * 9
        how = words(F32, F32, F32, *sizes, 4, 4, 2, 1, 1, 4, 4, 4, 2, 1, 1, *[1] * 5)
        self.library.rematDeviceConvolution(how, *[self.memory] * 2, self.memory + 256, self.memory + 512,
                                      256)

    def calls(self, name):
        """How often the driver of the tests, or a library beside it, was asked for something."""
        print(ctypes.CDLL("libcuda.so.1").fakeCudaCountCalls(name.encode()), "calls")

    def truth(self):
        self.convolution(kind=I1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--module")
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    steps = Steps(arguments.library, arguments.module)
    for step in arguments.steps:
        name, _, argument = step.lstrip("+").partition(":")
        result = getattr(steps, name)(*[argument] if argument else [])
        if not step.startswith("+"):
            error = result or steps.library.rematDeviceTakeError()
            print(f"{step}: {error.decode() if error else 'done'}", flush=True)


if __name__ == "__main__":
    main()
