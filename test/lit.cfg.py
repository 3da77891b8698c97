# Configuration of lit for the tests of passes and tools.
import ctypes
import os
import shutil
import subprocess

import lit.formats

config.name = "Remat"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["lib", "unit", "Inputs"]
# Another interpreter has other packages.
config.python = lit_config.params.get("python", config.python)

path = [config.remat_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
# Leaks at exit are LLVM's singletons.
config.environment["ASAN_OPTIONS"] = "detect_leaks=0"

config.substitutions += [
    ("%shared_data", config.shared_data),
    ("%remat_lib", config.remat_lib_dir),
    ("%mlir_lib", config.mlir_lib_dir),
    ("%remat_src", config.remat_source_dir),
    ("%remat_build", config.remat_binary_dir),
    ("%fake_cuda", config.remat_binary_dir + "/test/fake-cuda"),
    ("%recount", f"{config.python} {config.remat_source_dir}/test/integration/recount.py"),
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%cxx", config.cxx),
    ("%cc", config.cc),
]

if os.path.isdir(os.path.join(config.shared_data, "mlir")):
    config.available_features.add("shared-data")
else:
    lit_config.note(f"no instances in {config.shared_data}: tests that need them are skipped")


def find_module(name):
    """The folder of a Python module, if it is installed."""
    process = subprocess.run(
        [config.python, "-c", f"import {name}; print(*{name}.__path__)"],
        capture_output=True, text=True)
    return process.stdout.strip() if process.returncode == 0 else None


if find_module("ortools"):
    config.available_features.add("ortools")
else:
    lit_config.note("ortools is not installed: no comparison with an integer program")
if find_module("numpy"):
    config.available_features.add("numpy")
else:
    lit_config.note("numpy is not installed: no comparison of products with it")
if find_module("highsbox"):
    config.available_features.add("highs")
    config.substitutions += [("%highs_lib", find_module("highsbox") + "/highs_dist/lib")]
else:
    lit_config.note("highsbox is not installed: no lower bounds by linear programs")
if find_module("pytest") and find_module("tqdm"):
    config.available_features.add("pytest")
else:
    lit_config.note("pytest or tqdm is not installed: no tests of the Python package")
for name in ("jax", "mypy", "scikit_build_core"):
    if find_module(name):
        config.available_features.add(name)
    else:
        lit_config.note(f"{name} is not installed: no tests of the Python package that need it")
if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
    config.available_features.add("chromium")
else:
    lit_config.note("chromium is not installed: no tests of pages in a browser")
if not config.sanitizers:
    config.available_features.add("plugins")

if config.cuda_runtime:
    config.available_features.add("cuda-runtime")
else:
    lit_config.note("no headers of CUDA and cuDNN: no tests of the runtime for NVIDIA's driver")
try:
    driver = ctypes.CDLL("libcuda.so.1")
    config.available_features.add("cuda-driver")
    count = ctypes.c_int()
    if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0:
        config.available_features.add("gpu")
except OSError:
    lit_config.note("no driver for a GPU: no tests on one")

# Kernels are linked with libdevice, which only NVIDIA's toolkit has.
toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
for toolkit in filter(None, toolkits):
    if os.path.exists(os.path.join(toolkit, "nvvm", "libdevice", "libdevice.10.bc")):
        config.available_features.add("cuda-toolkit")
        config.substitutions += [("%cuda_toolkit", toolkit)]
        if os.path.exists(os.path.join(toolkit, "bin", "ptxas")):
            config.available_features.add("ptxas")
        break
else:
    lit_config.note("no CUDA toolkit: no tests that compile kernels")
