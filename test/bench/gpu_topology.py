# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GPU that is not there, to compile for with XLA:GPU."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from typing import Any

_H200 = """gpu_device_info {
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  threads_per_core_limit: 2048
  core_count: 132
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: 4800000000000
  l2_cache_size: 62914560
  clock_rate_ghz: 1.98
  device_memory_size: %d
  shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 }
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
device_description_str: "NVIDIA H200"
"""
#: What an H200 has, in bytes.
H200_MEMORY = 141_000_000_000


def install_plugin(folder: str) -> None:
    """Puts the compiler (XLA:GPU, 400 MB) of the version of JAX into `folder`, if it is not there.

    Has to be called before JAX has devices.
    """
    if not os.path.isdir(os.path.join(folder, "jax_plugins")):
        version = importlib.metadata.version("jax")
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder,
             f"jax-cuda13-plugin=={version}", f"jax-cuda13-pjrt=={version}"],
            check=True, stdout=sys.stderr)
    # JAX looks for plugins on the path; at its end, so that nothing else is replaced.
    sys.path.append(os.path.abspath(folder))


def h200(memory_bytes: int = H200_MEMORY) -> str:
    """An NVIDIA H200 as XLA describes it. XLA's own pass works towards the memory."""
    return _H200 % memory_bytes


def device(description: str) -> Any:
    """A device to compile for, which cannot execute."""
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(
        platform="cuda", topology_name="", target_config=description, topology="1x1x1")
    return topology.devices[0]
