// Of several branches the larger one counts, not the sum; a loop's body counts once, whatever its
// trip count.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="budget=1TiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s

!t1 = tensor<1x262144xf32>
!t32 = tensor<32x262144xf32>
!t64 = tensor<64x262144xf32>

// At scf.if: arguments 1 MiB and 1 B, the result 1, and in the larger branch %i 64 and %j 1.
// CHECK: branches live: 67 MiB + 1 B ->
func.func @branches(%x: !t1, %c: i1) -> !t1 {
  %d = scf.if %c -> !t1 {
    %i = "test.layer"(%x) : (!t1) -> !t64
    %j = "test.use"(%i) : (!t64) -> !t1
    scf.yield %j : !t1
  } else {
    %i = "test.layer"(%x) : (!t1) -> !t32
    %j = "test.use"(%i) : (!t32) -> !t1
    scf.yield %j : !t1
  }
  return %d : !t1
}

// Three branches of StableHLO: argument 1 and 4 B, the result 1, inside 64 and 1.
// CHECK: case live: 67 MiB + 4 B ->
func.func @case(%x: !t1, %i: tensor<i32>) -> !t1 {
  %d = "stablehlo.case"(%i) ({
    %a = "test.layer"(%x) : (!t1) -> !t32
    %b = "test.use"(%a) : (!t32) -> !t1
    "stablehlo.return"(%b) : (!t1) -> ()
  }, {
    %a = "test.layer"(%x) : (!t1) -> !t64
    %b = "test.use"(%a) : (!t64) -> !t1
    "stablehlo.return"(%b) : (!t1) -> ()
  }, {
    "stablehlo.return"(%x) : (!t1) -> ()
  }) : (tensor<i32>) -> !t1
  return %d : !t1
}

// A branch in a branch: argument 1 MiB and 1 B, the result 1, inside the other result 1, inside of
// that 64 and 1.
// CHECK: nested live: 68 MiB + 1 B ->
func.func @nested(%x: !t1, %c: i1) -> !t1 {
  %d = scf.if %c -> !t1 {
    %e = scf.if %c -> !t1 {
      %i = "test.layer"(%x) : (!t1) -> !t64
      %j = "test.use"(%i) : (!t64) -> !t1
      scf.yield %j : !t1
    } else {
      scf.yield %x : !t1
    }
    scf.yield %e : !t1
  } else {
    scf.yield %x : !t1
  }
  return %d : !t1
}

// A hundred iterations: argument 1, the result 1, the body 64 and 1. The bounds are constants and
// take nothing.
// CHECK: loop live: 67 MiB ->
func.func @loop(%x: !t1) -> !t1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %d = scf.for %i = %c0 to %c100 step %c1 iter_args(%a = %x) -> !t1 {
    %b = "test.layer"(%a) : (!t1) -> !t64
    %c = "test.use"(%b) : (!t64) -> !t1
    scf.yield %c : !t1
  }
  return %d : !t1
}
