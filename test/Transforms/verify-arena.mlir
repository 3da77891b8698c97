// RUN: remat-opt %s --remat-verify-arena --split-input-file --verify-diagnostics

// expected-error @+1 {{'unplanned' has no planned arena}}
func.func @unplanned() {
  return
}

// -----

func.func @allocates(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  // expected-error @+1 {{'memref.alloc' makes a buffer outside of the arena}}
  %a = memref.alloc() : memref<8xf32>
  return
}

// -----

func.func @outside(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 4 : i64} {
  %c = arith.constant 36 : index
  // expected-error @+1 {{a view of [36, 68) in a buffer of 64 bytes}}
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  return
}

// -----

func.func @unaligned(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 32 : index
  // expected-error @+1 {{a view at 32, which is no multiple of the alignment of 64 bytes}}
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  return
}

// -----

func.func @anywhere(%c: index, %arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  // expected-error @+1 {{a view without a fixed place}}
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  return
}

// -----

func.func @raw(%x: i8, %arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  // expected-error @+1 {{'linalg.fill' uses the arena itself}}
  linalg.fill ins(%x : i8) outs(%arena : memref<64xi8>)
  return
}

// -----

func.func @argument(%f: f32, %x: memref<4x8xf32>, %arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %row = memref.subview %x[1, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: 8>>
  // expected-error @+1 {{'linalg.fill' writes to memory that is read only}}
  linalg.fill ins(%f : f32) outs(%row : memref<8xf32, strided<[1], offset: 8>>)
  return
}

// -----

memref.global "private" constant @data : memref<2xf32> = dense<[1.0, 2.0]>
func.func @constant(%f: f32, %arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %a = memref.get_global @data : memref<2xf32>
  // expected-error @+1 {{'linalg.fill' writes to memory that is read only}}
  linalg.fill ins(%f : f32) outs(%a : memref<2xf32>)
  return
}

// -----

// What may be written to.
func.func @allowed(%f: f32, %d: memref<8xf32> {remat.donated}, %r: memref<8xf32> {remat.result},
                   %arena: memref<128xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 64 : index
  %a = memref.view %arena[%c][] : memref<128xi8> to memref<8xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%f : f32) outs(%d : memref<8xf32>)
  linalg.fill ins(%f : f32) outs(%r : memref<8xf32>)
  return
}

// -----

func.func @cast(%arena: memref<128xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 64 : index
  %a = memref.view %arena[%c][] : memref<128xi8> to memref<8xf32>
  %b = memref.reinterpret_cast %a to offset: [4], sizes: [2, 2], strides: [2, 1]
      : memref<8xf32> to memref<2x2xf32, strided<[2, 1], offset: 4>>
  // expected-error @+1 {{a view of elements 4 to 8 of a buffer of 8}}
  %d = memref.reinterpret_cast %a to offset: [4], sizes: [5], strides: [1]
      : memref<8xf32> to memref<5xf32, strided<[1], offset: 4>>
  return
}

// -----

func.func @cast_anywhere(%o: index, %arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 0 : index
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  // expected-error @+1 {{a view without a fixed place}}
  %b = memref.reinterpret_cast %a to offset: [%o], sizes: [4], strides: [1]
      : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func private @unknown(memref<8xf32>)
func.func @external(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 0 : index
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  // expected-error @+1 {{'func.call' may use buffers in a way that is not known}}
  call @unknown(%a) : (memref<8xf32>) -> ()
  return
}

// -----

func.func private @other(index)
func.func @address(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 0 : index
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  // expected-error @+1 {{'memref.extract_aligned_pointer_as_index' may use buffers in a way that is not known}}
  %p = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
  call @other(%p) : (index) -> ()
  return
}

// -----

func.func @pointer(%p: !llvm.ptr, %f: f32, %arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  // expected-error @+1 {{'llvm.store' may use buffers in a way that is not known}}
  llvm.store %f, %p : f32, !llvm.ptr
  return
}

// -----

// The runtime library is known.
func.func private @rematSomething(index)
func.func @runtime(%arena: memref<64xi8> {remat.arena}) attributes {remat.arena_alignment = 64 : i64} {
  %c = arith.constant 0 : index
  %a = memref.view %arena[%c][] : memref<64xi8> to memref<8xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
  call @rematSomething(%p) : (index) -> ()
  return
}
