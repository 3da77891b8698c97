// What cannot be counted, or is counted less than it can be, is said.
//
// RUN: remat-opt %s --rematerialize=budget=1GB -o %t.mlir 2>&1 | FileCheck %s
// RUN: remat-opt %s --remat-verify=budget=1GB -o %t.mlir 2>&1 | FileCheck %s
// RUN: remat-opt %s --remat-print-memory -o %t.mlir 2>&1 | FileCheck %s

// Inside of a loop.
// CHECK: [[#@LINE+8]]:{{[0-9]+}}: warning: the size of 'tensor<?xf32>' is not known; 1 such values count as 0 bytes and are not recomputed
// CHECK: note: in function 'inside'
func.func @inside(%x: tensor<4xf32>, %n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %v = tensor.extract %f[%i] : tensor<?xf32>
    scf.yield %v : f32
  }
  return %r : f32
}

// In a callee.
// CHECK: warning: the size of 'tensor<?xf32>' is not known
// CHECK: note: in function 'caller'
func.func @caller(%n: index) -> f32 {
  %r = call @callee(%n) : (index) -> f32
  return %r : f32
}
func.func private @callee(%n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %v = tensor.extract %f[%n] : tensor<?xf32>
  return %v : f32
}

// CHECK: [[#@LINE+2]]:{{[0-9]+}}: warning: in function 'recursive', a call of a function that calls itself counts one level only
func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
