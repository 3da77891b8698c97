// What must be recomputed is recomputed although everything would fit.
//
// RUN: remat-opt %s --remat-export-problem="output=%t.json function=step" -o %t.out.mlir
// RUN: grep must_recompute %t.json
// RUN: remat-plan solve %t.json --budget=100% --packed | FileCheck %s

// Most is live at the cosine: x, a, b and c. The exponential is read again by the product, which
// depends on the cosine; it moves 8 KiB: 2731 ps.
// CHECK: unchanged    16384 B
// CHECK: status       optimal
// CHECK: peak         16384 B
// CHECK: added cost   2731
func.func @step(%x: tensor<1024xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %a = math.exp %x {remat.policy = #remat.policy<must_recompute>} : tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %c = math.cos %b : tensor<1024xf32>
  %d = arith.mulf %a, %c : tensor<1024xf32>
  %r = tensor.extract %d[%c0] : tensor<1024xf32>
  return %r : f32
}
