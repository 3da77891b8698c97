// RUN: remat-opt %s --remat-plan-arena --split-input-file --verify-diagnostics
// RUN: not remat-opt %s --remat-plan-arena="alignment=48B" 2>&1 | FileCheck %s --check-prefix=ALIGNMENT
// ALIGNMENT: remat-plan-arena: expected 'alignment' to be a power of two, but got '48B'

func.func @unknown(%n: index) {
  // expected-error @+1 {{the size of a buffer of type 'memref<?xf32>' is not known}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @stack() {
  // expected-error @+1 {{'memref.alloca' allocates memory that cannot be planned}}
  %a = memref.alloca() : memref<8xf32>
  return
}

// -----

// expected-error @+1 {{'recursive' calls itself, so its memory cannot be planned}}
func.func @recursive() {
  call @recursive() : () -> ()
  return
}

// -----

func.func @either(%c: i1) -> memref<8xf32> {
  %f = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%f : f32) outs(%b : memref<8xf32>)
  %r = arith.select %c, %a, %b : memref<8xf32>
  // expected-error @+1 {{result 0 of 'either' has no fixed place in memory}}
  return %r : memref<8xf32>
}

// -----

func.func @columns() -> memref<4x2xf32, strided<[8, 1]>> {
  %f = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<4x8xf32>)
  %r = memref.subview %a[0, 0] [4, 2] [1, 1]
      : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1]>>
  // expected-error @+1 {{result 0 of 'columns' has no fixed place in memory}}
  return %r : memref<4x2xf32, strided<[8, 1]>>
}

// -----

func.func @layout(%x: memref<4x4xf32, strided<[1, 4]>>) {
  // expected-error @+1 {{a buffer of type 'memref<4x4xf32, strided<[1, 4]>>' cannot be a part of an arena}}
  %a = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  linalg.copy ins(%x : memref<4x4xf32, strided<[1, 4]>>) outs(%a : memref<4x4xf32, strided<[1, 4]>>)
  return
}

// -----

// expected-error @+1 {{the buffers of 'large' have more than 2^61 bytes}}
func.func @large() {
  %f = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<576460752303423488xf32>
  %b = memref.alloc() : memref<576460752303423488xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<576460752303423488xf32>)
  linalg.fill ins(%f : f32) outs(%b : memref<576460752303423488xf32>)
  return
}

// -----

// expected-error @+1 {{'planned' has a planned arena already}}
func.func @planned(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_bytes = 64 : i64} {
  return
}

// -----

func.func @tensors(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'math.tanh' computes with tensors: run remat-bufferize first}}
  %r = math.tanh %x : tensor<8xf32>
  return %r : tensor<8xf32>
}
