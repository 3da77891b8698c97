// Each thread computes one number, in blocks and grids of two dimensions; the last blocks have
// threads without a number.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s
// RUN: env REMAT_EMULATOR_ORDER=reverse %run -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @axpy(%x: memref<3x5xf32>, %y: memref<3x5xf32>, %a: f32) kernel {
      %blockRow = gpu.block_id y
      %blockColumn = gpu.block_id x
      %rows = gpu.block_dim y
      %columns = gpu.block_dim x
      %threadRow = gpu.thread_id y
      %threadColumn = gpu.thread_id x
      %firstRow = arith.muli %blockRow, %rows : index
      %row = arith.addi %firstRow, %threadRow : index
      %firstColumn = arith.muli %blockColumn, %columns : index
      %column = arith.addi %firstColumn, %threadColumn : index
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %rowExists = arith.cmpi ult, %row, %c3 : index
      %columnExists = arith.cmpi ult, %column, %c5 : index
      %exists = arith.andi %rowExists, %columnExists : i1
      scf.if %exists {
        %0 = memref.load %x[%row, %column] : memref<3x5xf32>
        %1 = memref.load %y[%row, %column] : memref<3x5xf32>
        %2 = arith.mulf %a, %0 : f32
        %3 = arith.addf %2, %1 : f32
        memref.store %3, %y[%row, %column] : memref<3x5xf32>
      }
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c0 = arith.constant 0 : index
    %a = arith.constant 10.0 : f32
    %x = memref.alloc() : memref<3x5xf32>
    %y = memref.alloc() : memref<3x5xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        %r = arith.index_cast %i : index to i32
        %rf = arith.sitofp %r : i32 to f32
        %c = arith.index_cast %j : index to i32
        %cf = arith.sitofp %c : i32 to f32
        memref.store %rf, %x[%i, %j] : memref<3x5xf32>
        memref.store %cf, %y[%i, %j] : memref<3x5xf32>
      }
    }
    gpu.launch_func @kernels::@axpy blocks in (%c3, %c2, %c1) threads in (%c2, %c2, %c1)
        args(%x : memref<3x5xf32>, %y : memref<3x5xf32>, %a : f32)
    %unranked = memref.cast %y : memref<3x5xf32> to memref<*xf32>
    func.call @printMemrefF32(%unranked) : (memref<*xf32>) -> ()
    return
  }
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
}

// CHECK: sizes = [3, 5]
// CHECK: {{\[}}[0,   1,   2,   3,   4],
// CHECK: [10,   11,   12,   13,   14],
// CHECK: [20,   21,   22,   23,   24]]
