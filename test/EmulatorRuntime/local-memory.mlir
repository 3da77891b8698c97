// Each thread counts in an array of its own, and adds the counts to those of all threads.
// Accesses are checked, except those to variables of the thread.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s
// RUN: env REMAT_EMULATOR_ORDER=reverse %run -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @histogram(%in: memref<64xi32>, %counts: memref<4xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %own = memref.alloca() : memref<4xi32>
      scf.for %i = %c0 to %c4 step %c1 {
        memref.store %zero, %own[%i] : memref<4xi32>
      }
      %thread = gpu.thread_id x
      %first = arith.muli %thread, %c8 : index
      %last = arith.addi %first, %c8 : index
      scf.for %i = %first to %last step %c1 {
        %value = memref.load %in[%i] : memref<64xi32>
        %slot = arith.index_cast %value : i32 to index
        %0 = memref.load %own[%slot] : memref<4xi32>
        %1 = arith.addi %0, %one : i32
        memref.store %1, %own[%slot] : memref<4xi32>
      }
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = memref.load %own[%i] : memref<4xi32>
        %1 = memref.atomic_rmw addi %0, %counts[%i] : (i32, memref<4xi32>) -> i32
      }
      gpu.return
    }
  }

  func.func private @rematEmulatorRegisterMemory(!llvm.ptr, i64, i32)
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %i3 = arith.constant 3 : i32
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 256 : i64
    %in = memref.alloc() : memref<64xi32>
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = arith.index_cast %i : index to i32
      %1 = arith.muli %0, %0 : i32
      %2 = arith.andi %1, %i3 : i32
      memref.store %2, %in[%i] : memref<64xi32>
    }
    %0 = memref.extract_aligned_pointer_as_index %in : memref<64xi32> -> index
    %1 = arith.index_cast %0 : index to i64
    %2 = llvm.inttoptr %1 : i64 to !llvm.ptr
    func.call @rematEmulatorRegisterMemory(%2, %bytes, %zero) : (!llvm.ptr, i64, i32) -> ()

    // Memory of mgpuMemAlloc needs no registration.
    %token0 = gpu.wait async
    %counts, %token1 = gpu.alloc async [%token0] () : memref<4xi32>
    %token2 = gpu.memset async [%token1] %counts, %zero : memref<4xi32>, i32
    gpu.wait [%token2]
    gpu.launch_func @kernels::@histogram blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%in : memref<64xi32>, %counts : memref<4xi32>)
    %host = memref.alloc() : memref<4xi32>
    %token3 = gpu.wait async
    %token4 = gpu.memcpy async [%token3] %host, %counts : memref<4xi32>, memref<4xi32>
    %token5 = gpu.dealloc async [%token4] %counts : memref<4xi32>
    gpu.wait [%token5]
    // CHECK: [32,  32,  0,  0]
    %cast = memref.cast %host : memref<4xi32> to memref<*xi32>
    func.call @printMemrefI32(%cast) : (memref<*xi32>) -> ()
    return
  }
}
