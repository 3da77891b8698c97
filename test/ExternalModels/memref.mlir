// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

func.func @allocations(%n: index) {
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it allocates memory}}
  %0 = memref.alloc() : memref<8xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it allocates memory}}
  %1 = memref.alloca() : memref<8xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it frees memory}}
  memref.dealloc %0 : memref<8xf32>
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  memref.alloca_scope {
    memref.alloca_scope.return
  }
  return
}

// -----

func.func @views(%m: memref<4x8xf32>, %b: memref<128xi8>, %n: index, %u: memref<*xf32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %0 = memref.subview %m[1, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset: 8>>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %1 = memref.cast %m : memref<4x8xf32> to memref<?x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %2 = memref.reinterpret_cast %m to offset: [0], sizes: [32], strides: [1] : memref<4x8xf32> to memref<32xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %3 = memref.collapse_shape %m [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %4 = memref.expand_shape %m [[0], [1, 2]] output_shape [4, 2, 4] : memref<4x8xf32> into memref<4x2x4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %5 = memref.transpose %m (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %6 = memref.view %b[%n][] : memref<128xi8> to memref<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %7 = memref.memory_space_cast %m : memref<4x8xf32> to memref<4x8xf32, 1>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %8 = memref.assume_alignment %m, 64 : memref<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0, result 1: view of operand 1}}
  %9:2 = memref.distinct_objects %m, %b : memref<4x8xf32>, memref<128xi8>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %10:6 = memref.extract_strided_metadata %m : memref<4x8xf32> -> memref<f32>, index, index, index, index, index
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, unread 0}}
  %11 = memref.dim %m, %n : memref<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, unread 0}}
  %12 = memref.rank %u : memref<*xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, unread 0}}
  %13 = memref.extract_aligned_pointer_as_index %m : memref<4x8xf32> -> index
  return
}

// -----

func.func @accesses(%m: memref<4xf32>, %o: memref<4xf32>, %i: index, %f: f32, %x: memref<4xindex>) {
  // expected-remark @+1 {{model: reads, flops = 0, bytes = 4, it reads memory that may change}}
  %0 = memref.load %m[%i] : memref<4xf32>
  // expected-remark @+1 {{model: reads, flops = 0, bytes = 8, it reads memory that may change}}
  %1 = memref.load %x[%i] : memref<4xindex>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 4, it writes to memory}}
  memref.store %f, %m[%i] : memref<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 32, unread 1, it writes to memory}}
  memref.copy %m, %o : memref<4xf32> to memref<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 4, it writes to memory}}
  %2 = memref.atomic_rmw addf %f, %m[%i] : (f32, memref<4xf32>) -> f32
  // expected-remark @+1 {{model: ordered, recursive, per element, flops = 1 (f32), bytes = 4, it writes to memory}}
  %3 = memref.generic_atomic_rmw %m[%i] : memref<4xf32> {
  ^bb0(%c: f32):
    %n = arith.addf %c, %f : f32
    memref.atomic_yield %n : f32
  }
  return
}

// -----

// expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it defines a symbol}}
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>

func.func @global() {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %0 = memref.get_global @table : memref<2xf32>
  return
}
