# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries for devices from Python: memory, products and convolutions."""

import ctypes

TEXTS = ("rematDeviceOpen", "rematDeviceTakeError")
POINTERS = ("mgpuMemAlloc", "mgpuEventCreate", "mgpuModuleLoad", "mgpuModuleLoadJIT",
            "mgpuModuleGetFunction", "mgpuStreamCreate")
NUMBERS = ("rematDeviceGetUsedBytes", "rematDeviceMatmulWorkspace",
           "rematDeviceConvolutionWorkspace")


class DeviceError(Exception):
    pass


class Device:
    def __init__(self, path):
        library = self.library = ctypes.CDLL(path)
        for names, kind in ((TEXTS, ctypes.c_char_p), (POINTERS, ctypes.c_void_p),
                            (NUMBERS, ctypes.c_int64),
                            (("rematDeviceGetMilliseconds",), ctypes.c_double)):
            for name in names:
                getattr(library, name).restype = kind
        pointer, size = ctypes.c_void_p, ctypes.c_uint64
        library.rematDeviceBeginOperation.argtypes = [ctypes.c_char_p]
        library.rematDeviceGetMilliseconds.argtypes = [pointer] * 2
        library.mgpuMemAlloc.argtypes = [size, pointer, ctypes.c_bool]
        library.mgpuMemFree.argtypes = [pointer] * 2
        library.mgpuMemcpy.argtypes = [pointer, pointer, size, pointer]
        library.mgpuMemset32.argtypes = [pointer, ctypes.c_uint32, size, pointer]
        library.mgpuMemset16.argtypes = [pointer, ctypes.c_uint16, size, pointer]
        library.mgpuMemHostRegister.argtypes = [pointer, size]
        library.mgpuMemHostUnregister.argtypes = [pointer]
        library.mgpuMemHostRegisterMemRef.argtypes = [ctypes.c_int64, pointer, ctypes.c_int64]
        library.mgpuMemHostUnregisterMemRef.argtypes = [ctypes.c_int64, pointer, ctypes.c_int64]
        library.mgpuModuleLoad.argtypes = [ctypes.c_char_p, size]
        library.mgpuModuleLoadJIT.argtypes = [ctypes.c_char_p, ctypes.c_int32]
        library.mgpuModuleUnload.argtypes = [pointer]
        library.mgpuModuleGetFunction.argtypes = [pointer, ctypes.c_char_p]
        library.mgpuLaunchKernel.argtypes = [pointer] + [ctypes.c_int64] * 6 + [
            ctypes.c_int32, pointer, pointer, pointer, size]
        for name in ("EventDestroy", "EventSynchronize", "StreamSynchronize", "StreamDestroy"):
            getattr(library, "mgpu" + name).argtypes = [pointer]
        for name in ("EventRecord", "StreamWaitEvent"):
            getattr(library, "mgpu" + name).argtypes = [pointer] * 2
        library.rematDeviceLoad.argtypes = [pointer, ctypes.c_int64]
        library.rematDeviceStore.argtypes = [pointer, ctypes.c_int64, ctypes.c_int64]
        for name in ("rematDeviceMatmul", "rematDeviceConvolution"):
            getattr(library, name).argtypes = [pointer] * 5 + [ctypes.c_int64]

    def check(self):
        """Raises what went wrong since the last time."""
        error = self.library.rematDeviceTakeError()
        if error is not None:
            raise DeviceError(error.decode())

    def upload(self, array):
        """The address of a copy on the device."""
        address = self.library.mgpuMemAlloc(array.nbytes, None, False)
        self.library.mgpuMemcpy(address, array.ctypes.data, array.nbytes, None)
        self.check()
        return address

    def download(self, address, array):
        """Back from there, and frees it."""
        self.library.mgpuMemcpy(array.ctypes.data, address, array.nbytes, None)
        self.library.mgpuStreamSynchronize(None)
        self.library.mgpuMemFree(address, None)
        self.check()

    def get_workspace(self, name, how):
        return getattr(self.library, f"rematDevice{name}Workspace")(ctypes.byref(how))

    def call(self, name, how, buffers, begins, workspace, begin, workspace_bytes):
        """Changes the last of the buffers, and the workspace, which begins at a byte."""
        arrays = buffers + [workspace]
        addresses = [self.upload(array) for array in arrays]
        operands = [address + first * buffer.itemsize
                    for address, buffer, first in zip(addresses, buffers, begins)]
        getattr(self.library, f"rematDevice{name}")(ctypes.byref(how), *operands,
                                                    addresses[-1] + begin, workspace_bytes)
        for address, array in zip(addresses, arrays):
            self.download(address, array)

    def print_calls(self):
        """How often functions were called, if the driver is the one of the tests."""
        try:
            driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            return
        for name in ("cublasLtMatmul", "cublasLtMatmulAlgoGetHeuristic", "cudnnConvolutionForward",
                     "cudnnConvolutionBackwardFilter", "cudnnTransformTensor"):
            if hasattr(driver, "fakeCudaCountCalls"):
                print(f"{name}: {driver.fakeCudaCountCalls(name.encode())}")
