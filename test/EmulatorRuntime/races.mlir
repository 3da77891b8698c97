// Results that depend on the order of blocks, or of threads, are a race.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s --check-prefix=FORWARD
// RUN: env REMAT_EMULATOR_ORDER=forward %run -e main %t | FileCheck %s --check-prefix=FORWARD
// RUN: env REMAT_EMULATOR_ORDER=reverse %run -e main %t | FileCheck %s --check-prefix=REVERSE
//
// Programs choose the order, too.
//
// RUN: %run -e reversed %t | FileCheck %s --check-prefix=REVERSE
//
// RUN: env REMAT_EMULATOR_ORDER=random not %run -e main %t 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: remat emulator: expected REMAT_EMULATOR_ORDER to be forward or reverse, but got 'random'

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each block reads what the next one writes.
    gpu.func @blocks(%values: memref<5xi32>) kernel {
      %c1 = arith.constant 1 : index
      %block = gpu.block_id x
      %next = arith.addi %block, %c1 : index
      %0 = memref.load %values[%next] : memref<5xi32>
      memref.store %0, %values[%block] : memref<5xi32>
      gpu.return
    }

    // A barrier is missing between the store and the load.
    gpu.func @threads(%values: memref<4xi32>)
        workgroup(%shared : memref<4xi32, #gpu.address_space<workgroup>>) kernel {
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %thread = gpu.thread_id x
      %own = arith.index_cast %thread : index to i32
      memref.store %own, %shared[%thread] : memref<4xi32, #gpu.address_space<workgroup>>
      %after = arith.addi %thread, %c1 : index
      %next = arith.andi %after, %c3 : index
      %0 = memref.load %shared[%next] : memref<4xi32, #gpu.address_space<workgroup>>
      memref.store %0, %values[%thread] : memref<4xi32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %values = memref.alloc() : memref<5xi32>
    scf.for %i = %c0 to %c5 step %c1 {
      %0 = arith.index_cast %i : index to i32
      memref.store %0, %values[%i] : memref<5xi32>
    }
    gpu.launch_func @kernels::@blocks blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%values : memref<5xi32>)
    // FORWARD: [1,  2,  3,  4,  4]
    // REVERSE: [4,  4,  4,  4,  4]
    %cast = memref.cast %values : memref<5xi32> to memref<*xi32>
    func.call @printMemrefI32(%cast) : (memref<*xi32>) -> ()

    // Shared memory holds nothing useful at the beginning of a block.
    %few = memref.alloc() : memref<4xi32>
    gpu.launch_func @kernels::@threads blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%few : memref<4xi32>)
    // FORWARD: [-1,  -1,  -1,  0]
    // REVERSE: [1,  2,  3,  -1]
    %fewCast = memref.cast %few : memref<4xi32> to memref<*xi32>
    func.call @printMemrefI32(%fewCast) : (memref<*xi32>) -> ()
    return
  }

  func.func @reversed() {
    %reverse = arith.constant 1 : i32
    func.call @rematEmulatorSetReverseOrder(%reverse) : (i32) -> ()
    func.call @main() : () -> ()
    return
  }
  func.func private @rematEmulatorSetReverseOrder(i32)
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
}
