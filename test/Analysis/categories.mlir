// The roles of arguments, inferred and given. The inference of every value is tested
// in test/unit/Analysis/CategoriesTest.cpp, real steps in
// test/integration/profile-shared-data.test.
//
// RUN: remat-opt %s -allow-unregistered-dialect -remat-print-memory=format=json -o /dev/null 2>&1 \
// RUN:   | FileCheck %s
// RUN: remat-opt %s -allow-unregistered-dialect -o /dev/null \
// RUN:   -remat-print-memory="format=json function=step loss=1 roles=input,parameter,optimizer_state,input" \
// RUN:   2>&1 | FileCheck %s --check-prefix=GIVEN

// CHECK:      "argument_categories": [
// CHECK-NEXT:   "inputs",
// CHECK-NEXT:   "parameters",
// CHECK-NEXT:   "optimizer_state",
// CHECK-NEXT:   "optimizer_state"
// CHECK-NEXT: ],
// CHECK:      "loss": {
// CHECK:        "name": "t.loss"
// CHECK:        "result": 3

// With another loss (the norm of the parameters), the activation is a temporary.

// GIVEN:      "argument_categories": [
// GIVEN-NEXT:   "inputs",
// GIVEN-NEXT:   "parameters",
// GIVEN-NEXT:   "optimizer_state",
// GIVEN-NEXT:   "inputs"
// GIVEN-NEXT: ],
// GIVEN:      "activations": 0,
// GIVEN:      "loss": {
// GIVEN:        "name": "t.norm"
// GIVEN:        "result": 1
func.func @step(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %m: tensor<16x4xf32>, %n: i32)
    -> (i32, f32, tensor<16x4xf32>, f32, tensor<16x4xf32>) {
  %norm = "t.norm"(%w) : (tensor<16x4xf32>) -> f32
  %a = "t.dot"(%x, %w) : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %loss = "t.loss"(%a) : (tensor<8x4xf32>) -> f32
  %g = "t.dot"(%x, %a) : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %m1 = "t.add"(%m, %g) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %w1 = "t.sub"(%w, %m1) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %n1 = "t.next"(%n) : (i32) -> i32
  return %n1, %norm, %m1, %loss, %w1 : i32, f32, tensor<16x4xf32>, f32, tensor<16x4xf32>
}

// Without a loss, arguments are inputs.

// CHECK:      "argument_categories": [
// CHECK-NEXT:   "inputs",
// CHECK-NEXT:   "inputs"
// CHECK-NEXT: ],
// CHECK:      "loss": null
func.func @inference(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = "t.dot"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
