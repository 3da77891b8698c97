// The three passes count the same with `fusion=kernels` as on what remat-fuse leaves.
//
// RUN: remat-opt %s -remat-print-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: remat-opt %s -remat-print-memory=fusion=kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: remat-opt %s -remat-fuse -remat-print-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=KERNELS
// NONE:    packed peak 24704 B
// KERNELS: packed peak 20608 B
//
// RUN: not remat-opt %s -remat-verify=budget=20608B -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXCEEDED
// EXCEEDED: exceeds the budget of 20608 bytes: its packed peak is 24704 bytes
// RUN: remat-opt %s -remat-verify="budget=20608B fusion=kernels" -o /dev/null
// RUN: not remat-opt %s -remat-verify="budget=20607B fusion=kernels" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: its packed peak is 20608 bytes
//
// What is within its budget stays as it is.
//
// RUN: remat-opt %s -o %t.unchanged
// RUN: remat-opt %s -rematerialize="budget=100% fusion=kernels" | diff %t.unchanged -
// RUN: not remat-opt %s -rematerialize="budget=1KB fusion=kernels" 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: does not fit into the budget of 1000 bytes: the smallest budget known to be feasible is [[#%u,MIN:]] bytes
//
// Otherwise the kernels come out, some of them twice.
//
// RUN: remat-opt %s -rematerialize="budget=16512B fusion=kernels" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: remat-opt %t.mlir -remat-verify=budget=16512B -o /dev/null
// RUN: remat-opt %t.mlir -remat-fuse -cse -canonicalize -remat-verify=budget=16512B -o /dev/null
// CHECK-LABEL: func @step
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      linalg.yield
// CHECK:         remat.barrier
// CHECK:         linalg.generic
// CHECK:           arith.mulf
// CHECK-NEXT:      math.exp

func.func @step(%x: tensor<1024xf32>, %w: tensor<32x32xf32>, %v: tensor<32x1xf32>)
    -> tensor<32x1xf32> {
  %two = arith.constant dense<2.0> : tensor<1024xf32>
  %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
  %zero = arith.constant dense<0.0> : tensor<32x1xf32>
  %d = arith.mulf %x, %two : tensor<1024xf32>
  %a = math.exp %d : tensor<1024xf32>
  %m = tensor.expand_shape %a [[0, 1]] output_shape [32, 32]
      : tensor<1024xf32> into tensor<32x32xf32>
  %p = linalg.matmul ins(%m, %w : tensor<32x32xf32>, tensor<32x32xf32>)
      outs(%zeros : tensor<32x32xf32>) -> tensor<32x32xf32>
  %q = linalg.matmul ins(%p, %w : tensor<32x32xf32>, tensor<32x32xf32>)
      outs(%zeros : tensor<32x32xf32>) -> tensor<32x32xf32>
  %e = math.exp %q : tensor<32x32xf32>
  %t = arith.addf %e, %p : tensor<32x32xf32>
  %r = linalg.matmul ins(%t, %v : tensor<32x32xf32>, tensor<32x1xf32>)
      outs(%zero : tensor<32x1xf32>) -> tensor<32x1xf32>
  %s = linalg.matmul ins(%m, %r : tensor<32x32xf32>, tensor<32x1xf32>)
      outs(%zero : tensor<32x1xf32>) -> tensor<32x1xf32>
  return %s : tensor<32x1xf32>
}
