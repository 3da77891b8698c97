// A splat constant and a destination are made by their readers, and take no memory; but what a
// caller gets, and what is given to a callee, is in memory.
//
// RUN: remat-opt %s --remat-print-memory -o %t.mlir 2>&1 | FileCheck %s
// RUN: %recount %s --function returned | FileCheck %s --check-prefix=RETURNED
// RUN: %recount %s --function passed | FileCheck %s --check-prefix=PASSED
// RUN: not remat-opt %s --remat-verify=budget=4095B -o %t.mlir

// CHECK-LABEL: memory of function 'returned'
// CHECK:       live peak {{ *}}4096 B
// CHECK:       results {{ *}}4096 B
// RETURNED:    {{^}}4096{{$}}
func.func @returned() -> tensor<1024xf32> {
  %z = arith.constant dense<0.0> : tensor<1024xf32>
  return %z : tensor<1024xf32>
}

// The argument, the result, and the two that are made for the call, one as a view.
// CHECK-LABEL: memory of function 'passed'
// CHECK:       live peak {{ *}}16384 B
// PASSED:      {{^}}16384{{$}}
func.func @passed(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %v = tensor.collapse_shape %z [[0, 1]] : tensor<32x32xf32> into tensor<1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  %r = call @external(%x, %v, %e) : (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}
func.func private @external(tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
