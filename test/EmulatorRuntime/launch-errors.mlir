// Launches that CUDA refuses, or that a kernel is not for.
//
// RUN: %compile %s -o %t
// RUN: not %run -e threads %t 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not %run -e depth %t 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: not %run -e grid %t 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not %run -e none %t 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %run -e known %t 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: not %run -e dynamic %t 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not %run -e cluster %t 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not %run -e assertion %t 2>&1 | FileCheck %s --check-prefix=ASSERTION
// RUN: not %run -e trap %t 2>&1 | FileCheck %s --check-prefix=TRAP
// RUN: not %run -e required %t 2>&1 | FileCheck %s --check-prefix=REQUIRED
// RUN: sed 's/@kernels::@required/@kernels::@other/' %t > %t.other
// RUN: not %run -e required %t.other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/@kernels::@required/@kernels::@two/' %t > %t.two
// RUN: not %run -e required %t.two 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %run -e largest %t 2>&1 | count 0

// THREADS: remat emulator: kernel 'empty', grid (1, 1, 1), block (1024, 2, 1): the block has 2048 threads, more than 1024
// DEPTH: remat emulator: kernel 'empty', grid (1, 1, 1), block (1, 1, 65): the block is not between (1, 1, 1) and (1024, 1024, 64)
// GRID: remat emulator: kernel 'empty', grid (1, 65536, 1), block (1, 1, 1): the grid is not between (1, 1, 1) and (2147483647, 65535, 65535)
// NONE: remat emulator: kernel 'empty', grid (0, 1, 1), block (1, 1, 1): the grid is not between
// KNOWN: remat emulator: kernel 'known', grid (1, 1, 1), block (65, 1, 1): the kernel is for blocks of at most 64 threads
// DYNAMIC: remat emulator: kernel 'empty', grid (1, 1, 1), block (1, 1, 1): dynamic shared memory, 128 bytes, is not emulated
// CLUSTER: remat emulator: kernel 'empty': clusters of blocks are not emulated
// TRAP: remat emulator: kernel 'trap', block (0, 0, 0), thread (0, 0, 0): trap
// REQUIRED: remat emulator: kernel 'required', grid (1, 1, 1), block (65, 1, 1): the kernel is for blocks of (64, 1, 1)
// OTHER: remat emulator: the module has no kernel 'other'
// TWO: remat emulator: kernel 'two', grid (1, 1, 1), block (65, 1, 1): the kernel has 2 arguments, but got 0
// ASSERTION: remat emulator: kernel 'assertion', block (0, 0, 0), thread (2, 0, 0): assertion failed: too many

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @empty() kernel {
      gpu.return
    }
    gpu.func @known() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @required() kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @two(%a: i32, %b: i32) kernel {
      gpu.return
    }
    gpu.func @trap() kernel {
      llvm.intr.trap
      gpu.return
    }
    gpu.func @assertion() kernel {
      %c2 = arith.constant 2 : index
      %thread = gpu.thread_id x
      %few = arith.cmpi ult, %thread, %c2 : index
      cf.assert %few, "too many"
      gpu.return
    }
  }

  func.func @threads() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c1024 = arith.constant 1024 : index
    gpu.launch_func @kernels::@empty blocks in (%c1, %c1, %c1) threads in (%c1024, %c2, %c1)
    return
  }
  func.func @depth() {
    %c1 = arith.constant 1 : index
    %c65 = arith.constant 65 : index
    gpu.launch_func @kernels::@empty blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c65)
    return
  }
  func.func @grid() {
    %c1 = arith.constant 1 : index
    %c65536 = arith.constant 65536 : index
    gpu.launch_func @kernels::@empty blocks in (%c1, %c65536, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @none() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@empty blocks in (%c0, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @known() {
    %c1 = arith.constant 1 : index
    %c65 = arith.constant 65 : index
    gpu.launch_func @kernels::@known blocks in (%c1, %c1, %c1) threads in (%c65, %c1, %c1)
    return
  }
  func.func @required() {
    %c1 = arith.constant 1 : index
    %c65 = arith.constant 65 : index
    gpu.launch_func @kernels::@required blocks in (%c1, %c1, %c1) threads in (%c65, %c1, %c1)
    return
  }
  func.func @trap() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@trap blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @dynamic() {
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 128 : i32
    gpu.launch_func @kernels::@empty blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %bytes
    return
  }
  func.func @cluster() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@empty clusters in (%c1, %c1, %c1)
        blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @assertion() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@assertion blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
    return
  }
  func.func @largest() {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c8 = arith.constant 8 : index
    %c2 = arith.constant 2 : index
    %c65535 = arith.constant 65535 : index
    gpu.launch_func @kernels::@empty blocks in (%c1, %c65535, %c1) threads in (%c8, %c2, %c64)
    return
  }
}
