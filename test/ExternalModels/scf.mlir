// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

// Trip counts of loops with constant bounds; results have a storage of their own.
func.func @for(%t: tensor<8xf32>, %n: index) {
  // expected-remark @+1 {{result 0: none}}
  %c3 = arith.constant 3 : index
  // expected-remark @+1 {{result 0: none}}
  %c17 = arith.constant 17 : index
  // expected-remark @+1 {{result 0: none}}
  %c5 = arith.constant 5 : index
  // 3, 8, 13
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 3}}
  %0 = scf.for %i = %c3 to %c17 step %c5 iter_args(%x = %t) -> tensor<8xf32> {
    // expected-remark @+1 {{flops = 8 (f32), bytes = 64}}
    %1 = arith.negf %x : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  // None at all.
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 0}}
  scf.for %i = %c17 to %c3 step %c5 {
  }
  // One, which is not printed.
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  scf.for %i = %c3 to %c5 step %c5 {
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  scf.for %i = %c3 to %n step %c5 {
  }
  return
}

// -----

// Bounds of other types, and an unsigned comparison.
func.func @bounds() {
  // expected-remark @+1 {{result 0: none}}
  %c0 = arith.constant 0 : i8
  // expected-remark @+1 {{result 0: none}}
  %c1 = arith.constant 1 : i8
  // expected-remark @+1 {{result 0: none}}
  %c200 = arith.constant 200 : i8
  // -56 when it has a sign.
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 0}}
  scf.for %i = %c0 to %c200 step %c1 : i8 {
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 200}}
  scf.for unsigned %i = %c0 to %c200 step %c1 : i8 {
  }
  return
}

// -----

func.func @parallel(%n: index) {
  // expected-remark @+1 {{result 0: none}}
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{result 0: none}}
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{result 0: none}}
  %c10 = arith.constant 10 : index
  // expected-remark @+1 {{result 0: none}}
  %c4 = arith.constant 4 : index
  // 10 * ceil(10 / 4)
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 30}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%c10, %c10) step (%c1, %c4) {
    scf.reduce
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%c10, %n) step (%c1, %c4) {
    scf.reduce
  }
  // The second is of its terminator.
  // expected-remark @+2 {{model: pure, recursive, flops = 0, bytes = 0, trips = 12}}
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  scf.forall (%i, %j) = (0, 2) to (4, 8) step (1, 2) {
  }
  return
}

// -----

// The terminator of an scf.parallel combines its results.
func.func @reduce(%f: f32) -> f32 {
  // expected-remark @+1 {{result 0: none}}
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{result 0: none}}
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{result 0: none}}
  %c8 = arith.constant 8 : index
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 8}}
  %0 = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%f) -> f32 {
    // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
    scf.reduce(%f : f32) {
    ^bb0(%a: f32, %b: f32):
      // expected-remark @+1 {{flops = 1 (f32), bytes = 0}}
      %1 = arith.addf %a, %b : f32
      scf.reduce.return %1 : f32
    }
  }
  return %0 : f32
}

// -----

func.func @others(%p: i1, %t: tensor<8xf32>, %n: index) {
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %0 = scf.if %p -> tensor<8xf32> {
    scf.yield %t : tensor<8xf32>
  } else {
    scf.yield %t : tensor<8xf32>
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  %1 = scf.while (%x = %t) : (tensor<8xf32>) -> tensor<8xf32> {
    scf.condition(%p) %x : tensor<8xf32>
  } do {
  ^bb0(%x: tensor<8xf32>):
    scf.yield %x : tensor<8xf32>
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %2 = scf.index_switch %n -> tensor<8xf32>
  case 1 {
    scf.yield %t : tensor<8xf32>
  }
  default {
    scf.yield %t : tensor<8xf32>
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %3 = scf.execute_region -> tensor<8xf32> {
    scf.yield %t : tensor<8xf32>
  }
  return
}

// -----

// Loops of the affine dialect, which index arithmetic comes from.
#map = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
func.func @affine(%n: index, %m: memref<8xf32>) {
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 4}}
  affine.for %i = 0 to 8 step 2 {
    // expected-remark @+1 {{model: pure, flops = 1 (index), bytes = 0}}
    %0 = affine.apply #map(%i)[%n]
    // expected-remark @+1 {{model: reads, flops = 0, bytes = 0, it reads memory that may change}}
    %1 = affine.load %m[%i] : memref<8xf32>
    // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it writes to memory}}
    affine.store %1, %m[%i] : memref<8xf32>
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  affine.for %i = 0 to %n {
  }
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 12}}
  affine.parallel (%i, %j) = (0, 0) to (4, 8) step (1, 3) {
  }
  return
}
