// RUN: remat-opt %s --remat-plan-arena --remat-verify-arena --split-input-file | FileCheck %s
// RUN: remat-opt %s --remat-plan-arena="results=caller alignment=256B" --remat-verify-arena --split-input-file | FileCheck %s --check-prefix=CALLER

// Buffers that are never live together share their place; what is returned is where the
// attribute says.
// CHECK-LABEL: func @chain(
// CHECK-SAME:    %[[X:.*]]: memref<16xf32>, %[[ARENA:.*]]: memref<128xi8> {remat.arena})
// CHECK-SAME:    remat.arena_alignment = 64 : i64, remat.arena_bytes = 128 : i64
// CHECK-SAME:    remat.argument_bytes = 64 : i64, remat.constant_bytes = 0 : i64
// CHECK-SAME:    remat.result_bytes = 64 : i64
// CHECK-SAME:    remat.results = [{offset = {{[0-9]+}} : i64, type = memref<4x4xf32>}]
// CALLER-LABEL: func @chain(
// CALLER-SAME:    %[[X:.*]]: memref<16xf32>, %[[R:.*]]: memref<4x4xf32> {remat.result}, %[[ARENA:.*]]: memref<512xi8> {remat.arena})
// CALLER-SAME:    remat.results = [{argument = 1 : i64, offset = 0 : i64, type = memref<4x4xf32>}]
func.func @chain(%x: memref<16xf32>) -> memref<4x4xf32> {
  // CHECK: %[[C0:.*]] = arith.constant [[OFFSET:[0-9]+]] : index
  // CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<128xi8> to memref<16xf32>
  // CHECK: linalg.exp ins(%[[X]] : {{.*}}) outs(%[[A]] :
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  // CHECK: %[[B:.*]] = memref.view %[[ARENA]]
  %b = memref.alloc() : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  // CHECK: %[[C02:.*]] = arith.constant [[OFFSET]] : index
  // CHECK: memref.view %[[ARENA]][%[[C02]]][] : memref<128xi8> to memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  linalg.exp ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  %r = memref.expand_shape %c [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  // CHECK: {{return$}}
  // A view of a buffer is no buffer of its own.
  // CALLER: memref.copy %{{.*}}, %[[R]]
  return %r : memref<4x4xf32>
}

// -----

// A result is written where the caller wants it; arguments, parts of them and scalars are
// returned as well.
// CHECK-LABEL: func @results(
// CHECK-SAME:    -> f32
// CHECK-SAME:    remat.results = [{argument = 0 : i64, offset = 16 : i64, type = memref<4xf32>},
// CHECK-SAME:                     {offset = 0 : i64, type = memref<8xf32>},
// CHECK-SAME:                     {offset = 16 : i64, type = memref<2xf32>}]
// CALLER-LABEL: func @results(
// CALLER-SAME:    %{{.*}}, %{{.*}}, %[[R0:[^:]*]]: memref<4xf32> {remat.result}, %[[R1:.*]]: memref<8xf32> {remat.result}, %[[R2:.*]]: memref<2xf32> {remat.result}, %{{.*}}: memref<0xi8> {remat.arena}) -> f32
func.func @results(%x: memref<8xf32>, %s: f32)
    -> (memref<4xf32, strided<[1], offset: 4>>, f32, memref<8xf32>,
        memref<2xf32, strided<[1], offset: 4>>) {
  %a = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %b = memref.alloc() : memref<8xf32>
  // CALLER: linalg.exp ins(%{{.*}}) outs(%[[R1]] :
  linalg.exp ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  %c = memref.subview %b[4] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: 4>>
  // CALLER-DAG: memref.copy %{{.*}}, %[[R0]]
  // CALLER-DAG: memref.copy %{{.*}}, %[[R2]]
  return %a, %s, %b, %c : memref<4xf32, strided<[1], offset: 4>>, f32, memref<8xf32>,
                          memref<2xf32, strided<[1], offset: 4>>
}

// -----

// What a loop uses is needed in every iteration; what is allocated inside is not needed
// outside, and branches share.
// CHECK-LABEL: func @regions(
// CHECK-SAME:    %{{.*}}: memref<192xi8> {remat.arena})
func.func @regions(%x: memref<16xf32>, %f: f32, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outside = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%outside : memref<16xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<16xf32>
    linalg.exp ins(%outside : memref<16xf32>) outs(%a : memref<16xf32>)
    %b = memref.alloc() : memref<16xf32>
    linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
    %c = memref.alloc() : memref<16xf32>
    linalg.exp ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  }
  scf.if %p {
    %a = memref.alloc() : memref<32xf32>
    linalg.fill ins(%f : f32) outs(%a : memref<32xf32>)
  } else {
    %b = memref.alloc() : memref<32xf32>
    linalg.fill ins(%f : f32) outs(%b : memref<32xf32>)
  }
  return
}

// -----

// What a loop carries over from an allocation inside is needed in the whole loop.
// CHECK-LABEL: func @carried(
// CHECK-SAME:    %{{.*}}: memref<192xi8> {remat.arena})
func.func @carried(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%init : memref<16xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> memref<16xf32> {
    %b = memref.alloc() : memref<16xf32>
    linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
    scf.yield %b : memref<16xf32>
  }
  %last = memref.alloc() : memref<16xf32>
  linalg.exp ins(%r : memref<16xf32>) outs(%last : memref<16xf32>)
  return
}

// -----

// A callee writes its results into buffers of the caller, and has an arena there while it
// runs.
// CHECK-LABEL: func private @callee(
// CHECK-SAME:    %{{.*}}: memref<16xf32>, %[[R0:.*]]: memref<16xf32> {remat.result}, %[[R1:.*]]: memref<16xf32> {remat.result}, %{{.*}}: memref<64xi8> {remat.arena})
func.func private @callee(%x: memref<16xf32>) -> (memref<16xf32>, memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<16xf32>
  // CHECK: linalg.exp {{.*}} outs(%[[R0]] :
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  // CHECK: memref.copy %{{.*}}, %[[R1]]
  return %b, %x : memref<16xf32>, memref<16xf32>
}
// CHECK-LABEL: func @caller(
// CHECK-SAME:    %[[X:.*]]: memref<16xf32>, %[[ARENA:.*]]: memref<192xi8> {remat.arena})
func.func @caller(%x: memref<16xf32>) -> memref<16xf32> {
  // CHECK-DAG: %[[A:.*]] = memref.view %[[ARENA]][%{{.*}}][] : memref<192xi8> to memref<16xf32>
  // CHECK-DAG: %[[BLOCK:.*]] = memref.view %[[ARENA]][%{{.*}}][] : memref<192xi8> to memref<64xi8>
  // CHECK: call @callee(%[[X]], %[[RESULT:.*]], %[[OTHER:.*]], %[[BLOCK]])
  %r:2 = call @callee(%x) : (memref<16xf32>) -> (memref<16xf32>, memref<16xf32>)
  %s = memref.alloc() : memref<16xf32>
  // CHECK: linalg.add ins(%[[RESULT]], %[[OTHER]] :
  linalg.add ins(%r#0, %r#1 : memref<16xf32>, memref<16xf32>) outs(%s : memref<16xf32>)
  %t = memref.alloc() : memref<16xf32>
  linalg.exp ins(%s : memref<16xf32>) outs(%t : memref<16xf32>)
  return %t : memref<16xf32>
}
