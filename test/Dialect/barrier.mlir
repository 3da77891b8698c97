// RUN: remat-opt %s | remat-opt | FileCheck %s
// RUN: remat-opt %s --mlir-print-op-generic | remat-opt | FileCheck %s
// RUN: remat-opt %s -canonicalize -cse -loop-invariant-code-motion -sccp -cse -test-remat-resort | FileCheck %s --check-prefix=STAYS

// CHECK-LABEL: func @round_trip
// STAYS-LABEL: func @round_trip
func.func @round_trip(%a: tensor<4xf32>, %b: index, %t: tensor<2xf32>) -> (tensor<4xf32>, index) {
  // CHECK: remat.barrier %{{.*}}, %{{.*}} after %{{.*}} : tensor<4xf32>, index after tensor<2xf32>
  // STAYS: remat.barrier %{{.*}}, %{{.*}} after %{{.*}} : tensor<4xf32>, index after tensor<2xf32>
  %r:2 = remat.barrier %a, %b after %t : tensor<4xf32>, index after tensor<2xf32>
  return %r#0, %r#1 : tensor<4xf32>, index
}

// Two equal barriers, and what they hold back, are never merged.
// STAYS-LABEL: func @never_merged
func.func @never_merged(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // STAYS: %[[ONE:.*]] = math.exp %{{.*}} : tensor<4xf32>
  %one = math.exp %a : tensor<4xf32>
  // STAYS: %[[B:.*]] = remat.barrier %{{.*}} after %[[ONE]]
  %b = remat.barrier %a after %one : tensor<4xf32> after tensor<4xf32>
  // STAYS: %[[C:.*]] = remat.barrier %{{.*}} after %[[ONE]]
  %c = remat.barrier %a after %one : tensor<4xf32> after tensor<4xf32>
  // STAYS-DAG: math.exp %[[B]]
  // STAYS-DAG: math.exp %[[C]]
  %two = math.exp %b : tensor<4xf32>
  %three = math.exp %c : tensor<4xf32>
  return %one, %two, %three : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A barrier in a loop stays there.
// STAYS-LABEL: func @not_hoisted
func.func @not_hoisted(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // STAYS: scf.for
  // STAYS-NEXT: remat.barrier
  // STAYS-NEXT: math.exp
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %b = remat.barrier %a after %a : tensor<4xf32> after tensor<4xf32>
    %e = math.exp %b : tensor<4xf32>
    %s = arith.addf %x, %e : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// STAYS-LABEL: func @erased_when_unused
// STAYS-NOT: remat.barrier
// STAYS: return
func.func @erased_when_unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = remat.barrier %a after %a : tensor<4xf32> after tensor<4xf32>
  %e = math.exp %b : tensor<4xf32>
  return %a : tensor<4xf32>
}
