// What kernels may access: all memory of the process, or, from the first registered range on,
// registered memory, that of mgpuMemAlloc, and their own variables.
//
// RUN: %compile %s -o %t
// RUN: %run -e unchecked %t | FileCheck %s --check-prefix=GOOD
// RUN: %run -e good %t | FileCheck %s --check-prefix=GOOD
// RUN: not %run -e behind %t 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: env REMAT_EMULATOR_ORDER=reverse not %run -e forgotten %t 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// RUN: not %run -e read_only %t 2>&1 | FileCheck %s --check-prefix=READ-ONLY
// RUN: not %run -e misaligned %t 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: not %run -e shared %t 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not %run -e overlap %t 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not %run -e unknown %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// GOOD: [21,  22,  23,  24,  25,  26,  27,  28]
// BEHIND: remat emulator: kernel 'add', block (1, 0, 0), thread (3, 0, 0) reads 4 bytes at 0x{{[0-9a-f]+}}, outside of registered memory; the nearest are 28 bytes at 0x{{[0-9a-f]+$}}
// FORGOTTEN: remat emulator: kernel 'add', block (1, 0, 0), thread (3, 0, 0) reads 4 bytes at 0x{{[0-9a-f]+}}, outside of registered memory; the nearest are 32 bytes at 0x
// READ-ONLY: remat emulator: kernel 'add', block (0, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x{{[0-9a-f]+}}, which are read-only
// MISALIGNED: remat emulator: kernel 'add', block (0, 0, 0), thread (0, 0, 0) reads 4 bytes at 0x{{[0-9a-f]+}}, which is not a multiple of 4
// SHARED: remat emulator: kernel 'shared', block (0, 0, 0), thread (4, 0, 0) writes 4 bytes at 0x{{[0-9a-f]+}}, outside of the variables in shared memory
// OVERLAP: remat emulator: registered memory of 8 bytes at 0x{{[0-9a-f]+}} overlaps memory that is registered already
// UNKNOWN: remat emulator: no memory is registered at 0x40

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" constant @twenty : memref<8xi32> = dense<[13, 13, 13, 13, 13, 13, 13, 13]>
    gpu.func @add(%in: memref<8xi32>, %out: memref<8xi32>) kernel {
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %thread : index
      %table = memref.get_global @twenty : memref<8xi32>
      %0 = memref.load %in[%i] : memref<8xi32>
      %1 = memref.load %table[%i] : memref<8xi32>
      %2 = arith.addi %0, %1 : i32
      memref.store %2, %out[%i] : memref<8xi32>
      gpu.return
    }

    gpu.func @shared(%in: memref<8xi32>)
        workgroup(%shared : memref<4xi32, #gpu.address_space<workgroup>>) kernel {
      %thread = gpu.thread_id x
      %0 = memref.load %in[%thread] : memref<8xi32>
      memref.store %0, %shared[%thread] : memref<4xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %1 = memref.load %shared[%thread] : memref<4xi32, #gpu.address_space<workgroup>>
      memref.store %1, %in[%thread] : memref<8xi32>
      gpu.return
    }
  }

  func.func private @rematEmulatorRegisterMemory(!llvm.ptr, i64, i32)
  func.func private @rematEmulatorUnregisterMemory(!llvm.ptr)
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  func.func @pointer(%memory: memref<8xi32>) -> !llvm.ptr {
    %0 = memref.extract_aligned_pointer_as_index %memory : memref<8xi32> -> index
    %1 = arith.index_cast %0 : index to i64
    %2 = llvm.inttoptr %1 : i64 to !llvm.ptr
    return %2 : !llvm.ptr
  }
  func.func @register(%memory: memref<8xi32>, %bytes: i64, %writable: i32) {
    %0 = func.call @pointer(%memory) : (memref<8xi32>) -> !llvm.ptr
    func.call @rematEmulatorRegisterMemory(%0, %bytes, %writable) : (!llvm.ptr, i64, i32) -> ()
    return
  }
  func.func @input() -> memref<8xi32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %i8 = arith.constant 8 : i32
    %in = memref.alloc() : memref<8xi32>
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = arith.index_cast %i : index to i32
      %1 = arith.addi %0, %i8 : i32
      memref.store %1, %in[%i] : memref<8xi32>
    }
    return %in : memref<8xi32>
  }
  func.func @launch(%in: memref<8xi32>, %out: memref<8xi32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@add blocks in (%c2, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%in : memref<8xi32>, %out : memref<8xi32>)
    %cast = memref.cast %out : memref<8xi32> to memref<*xi32>
    func.call @printMemrefI32(%cast) : (memref<*xi32>) -> ()
    return
  }

  func.func @unchecked() {
    %in = func.call @input() : () -> memref<8xi32>
    %out = memref.alloc() : memref<8xi32>
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    return
  }

  // Once more after a launch that wrote to other memory, and with ranges that come and go.
  func.func @good() {
    %bytes = arith.constant 32 : i64
    %no = arith.constant 0 : i32
    %yes = arith.constant 1 : i32
    %in = func.call @input() : () -> memref<8xi32>
    %other = memref.alloc() : memref<8xi32>
    %out = memref.alloc() : memref<8xi32>
    func.call @register(%in, %bytes, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @register(%out, %bytes, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @register(%other, %bytes, %yes) : (memref<8xi32>, i64, i32) -> ()
    func.call @launch(%in, %other) : (memref<8xi32>, memref<8xi32>) -> ()
    func.call @register(%out, %bytes, %yes) : (memref<8xi32>, i64, i32) -> ()
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    return
  }

  func.func @behind() {
    %bytes = arith.constant 32 : i64
    %fewer = arith.constant 28 : i64
    %no = arith.constant 0 : i32
    %yes = arith.constant 1 : i32
    %in = func.call @input() : () -> memref<8xi32>
    %out = memref.alloc() : memref<8xi32>
    func.call @register(%in, %fewer, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @register(%out, %bytes, %yes) : (memref<8xi32>, i64, i32) -> ()
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    return
  }

  // The second launch accesses memory that the first one was allowed to.
  func.func @forgotten() {
    %bytes = arith.constant 32 : i64
    %no = arith.constant 0 : i32
    %yes = arith.constant 1 : i32
    %in = func.call @input() : () -> memref<8xi32>
    %out = memref.alloc() : memref<8xi32>
    func.call @register(%in, %bytes, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @register(%out, %bytes, %yes) : (memref<8xi32>, i64, i32) -> ()
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    %0 = func.call @pointer(%in) : (memref<8xi32>) -> !llvm.ptr
    func.call @rematEmulatorUnregisterMemory(%0) : (!llvm.ptr) -> ()
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    return
  }

  func.func @read_only() {
    %bytes = arith.constant 32 : i64
    %no = arith.constant 0 : i32
    %in = func.call @input() : () -> memref<8xi32>
    %out = memref.alloc() : memref<8xi32>
    func.call @register(%in, %bytes, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @register(%out, %bytes, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    return
  }

  func.func @misaligned() {
    %c2 = arith.constant 2 : index
    %bytes = memref.alloc() : memref<64xi8>
    %in = memref.view %bytes[%c2][] : memref<64xi8> to memref<8xi32>
    %out = memref.alloc() : memref<8xi32>
    func.call @launch(%in, %out) : (memref<8xi32>, memref<8xi32>) -> ()
    return
  }

  func.func @shared() {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %in = func.call @input() : () -> memref<8xi32>
    gpu.launch_func @kernels::@shared blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%in : memref<8xi32>)
    return
  }

  func.func @overlap() {
    %bytes = arith.constant 32 : i64
    %fewer = arith.constant 8 : i64
    %no = arith.constant 0 : i32
    %in = func.call @input() : () -> memref<8xi32>
    func.call @register(%in, %bytes, %no) : (memref<8xi32>, i64, i32) -> ()
    func.call @register(%in, %fewer, %no) : (memref<8xi32>, i64, i32) -> ()
    return
  }

  func.func @unknown() {
    %0 = llvm.mlir.constant(64 : i64) : i64
    %1 = llvm.inttoptr %0 : i64 to !llvm.ptr
    func.call @rematEmulatorUnregisterMemory(%1) : (!llvm.ptr) -> ()
    return
  }
}
