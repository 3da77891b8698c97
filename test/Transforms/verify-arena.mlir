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
