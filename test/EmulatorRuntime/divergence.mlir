// Threads that wait for others that do not come.
//
// RUN: %compile %s -o %t
// RUN: not %run -e ended %t 2>&1 | FileCheck %s --check-prefix=ENDED
// RUN: not %run -e elsewhere %t 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not %run -e shuffle %t 2>&1 | FileCheck %s --check-prefix=SHUFFLE
// RUN: not %run -e mask %t 2>&1 | FileCheck %s --check-prefix=MASK

// ENDED: remat emulator: kernel 'ended', block (1, 0, 0): divergent barrier: thread (0, 0, 0) waits at a barrier, but thread (1, 1, 0) has ended
// ELSEWHERE: remat emulator: kernel 'elsewhere', block (0, 0, 0): divergent barrier: thread (0, 0, 0) waits at a barrier, but thread (2, 0, 0) waits elsewhere
// SHUFFLE: remat emulator: kernel 'shuffle', block (0, 0, 0): divergent warp: thread (32, 0, 0) waits for lanes of its warp, but thread (40, 0, 0) has ended
// MASK: remat emulator: kernel 'mask', block (0, 0, 0), thread (8, 0, 0): it is not in the mask 0xff of its own operation

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Blocks of 2 x 2 threads: the last one of the second block does not come.
    gpu.func @ended(%out: memref<2xi32>) kernel {
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %block = gpu.block_id x
      %x = gpu.thread_id x
      %y = gpu.thread_id y
      %sum = arith.addi %x, %y : index
      %isLast = arith.cmpi eq, %sum, %c2 : index
      %isSecond = arith.cmpi eq, %block, %c1 : index
      %leaves = arith.andi %isLast, %isSecond : i1
      scf.if %leaves {
      } else {
        gpu.barrier
      }
      gpu.return
    }

    gpu.func @elsewhere(%out: memref<2xi32>) kernel {
      %c2 = arith.constant 2 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %thread = gpu.thread_id x
      %isFirst = arith.cmpi ult, %thread, %c2 : index
      scf.if %isFirst {
        memref.store %one, %out[%c0] : memref<2xi32>
        gpu.barrier
        memref.store %one, %out[%c1] : memref<2xi32>
      } else {
        gpu.barrier
        memref.store %one, %out[%c0] : memref<2xi32>
      }
      gpu.return
    }

    gpu.func @shuffle(%out: memref<2xi32>) kernel {
      %c40 = arith.constant 40 : index
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %thread = gpu.thread_id x
      %takesPart = arith.cmpi ult, %thread, %c40 : index
      scf.if %takesPart {
        %value, %p = gpu.shuffle xor %one, %one, %width : i32
        memref.store %value, %out[%c0] : memref<2xi32>
      }
      gpu.return
    }

    // A width of 8 lets the first 8 lanes of a warp take part.
    gpu.func @mask(%out: memref<2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %width = arith.constant 8 : i32
      %value, %p = gpu.shuffle xor %one, %one, %width : i32
      memref.store %value, %out[%c0] : memref<2xi32>
      gpu.return
    }
  }

  func.func @ended() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %out = memref.alloc() : memref<2xi32>
    gpu.launch_func @kernels::@ended blocks in (%c2, %c1, %c1) threads in (%c2, %c2, %c1)
        args(%out : memref<2xi32>)
    return
  }
  func.func @elsewhere() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %out = memref.alloc() : memref<2xi32>
    gpu.launch_func @kernels::@elsewhere blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%out : memref<2xi32>)
    return
  }
  func.func @shuffle() {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %out = memref.alloc() : memref<2xi32>
    gpu.launch_func @kernels::@shuffle blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%out : memref<2xi32>)
    return
  }
  func.func @mask() {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %out = memref.alloc() : memref<2xi32>
    gpu.launch_func @kernels::@mask blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%out : memref<2xi32>)
    return
  }
}
