// RUN: remat-opt %s --rematerialize="budget=300KB min-bytes=1KB" | FileCheck %s
// RUN: remat-opt %s --rematerialize="budget=300KB min-bytes=1KB" | remat-opt --remat-verify=budget=300KB -o /dev/null
// Twice is once, and enough budget changes nothing.
// RUN: remat-opt %s --rematerialize="budget=300KB min-bytes=1KB" -o %t.once
// RUN: remat-opt %t.once --rematerialize="budget=300KB min-bytes=1KB" | diff %t.once -
// RUN: remat-opt %s -o %t.none
// RUN: remat-opt %s --rematerialize=budget=327680B | diff %t.none -

// One clone directly before its use, behind one barrier that waits for the
// value computed last. At %v five values of 64 KiB are live, then four.
// CHECK-LABEL: func @clone
// CHECK-SAME: (%[[X:.*]]: tensor<16384xf32>)
func.func @clone(%x: tensor<16384xf32>) -> tensor<16384xf32> {
  // CHECK: %[[A:.*]] = math.exp %[[X]]
  %a = math.exp %x : tensor<16384xf32>
  // CHECK: %[[S:.*]] = math.tanh %[[A]]
  %s = math.tanh %a : tensor<16384xf32>
  %u = math.sin %s : tensor<16384xf32>
  %v = arith.addf %u, %s : tensor<16384xf32>
  // CHECK: %[[G:.*]] = math.cos
  %g = math.cos %v : tensor<16384xf32>
  // CHECK: %[[B:.*]] = remat.barrier %[[X]] after %[[G]] : tensor<16384xf32> after tensor<16384xf32>
  // CHECK: %[[C:.*]] = math.exp %[[B]] {remat.clone_of = 0 : i64}
  // CHECK: %[[R:.*]] = arith.mulf %[[G]], %[[C]]
  %r = arith.mulf %g, %a : tensor<16384xf32>
  // CHECK: return %[[R]]
  return %r : tensor<16384xf32>
}
