// RUN: remat-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @drops_unused_inputs
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<8xf32>, %[[T:.*]]: tensor<2xf32>)
func.func @drops_unused_inputs(%a: tensor<4xf32>, %b: tensor<8xf32>, %t: tensor<2xf32>)
    -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = remat.barrier %[[B]] after %[[T]] : tensor<8xf32> after tensor<2xf32>
  // CHECK: return %[[R]]
  %r:2 = remat.barrier %a, %b after %t, %t
       : tensor<4xf32>, tensor<8xf32> after tensor<2xf32>, tensor<2xf32>
  return %r#1 : tensor<8xf32>
}

// CHECK-LABEL: func @keeps_what_is_used
func.func @keeps_what_is_used(%a: tensor<4xf32>, %t: tensor<2xf32>) -> tensor<4xf32> {
  // CHECK: remat.barrier {{.*}} {note = 1 : i64}
  %r = remat.barrier %a after %t {note = 1 : i64} : tensor<4xf32> after tensor<2xf32>
  return %r : tensor<4xf32>
}
