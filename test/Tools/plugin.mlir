// A stock mlir-opt loads the dialect and the passes from the plugin.
//
// REQUIRES: plugins
//
// DEFINE: %{mlir-opt} = mlir-opt %s --load-dialect-plugin=%remat_lib/libRematPlugin.so \
// DEFINE:     --load-pass-plugin=%remat_lib/libRematPlugin.so
//
// RUN: %{mlir-opt} | FileCheck %s --check-prefix=DIALECT
//
// At the product, %x, %w, the exponential, both operands and the loss are live: five
// times 4096 bytes and 64. Without the exponential the last operation needs most: %x,
// %w, the exponential, the gradient, and twice 64.
//
// RUN: %{mlir-opt} --pass-pipeline='builtin.module(rematerialize{budget=16512B})' \
// RUN:   | FileCheck %s --check-prefix=MET
// RUN: %{mlir-opt} --pass-pipeline='builtin.module(rematerialize{budget=16512B},canonicalize,cse,loop-invariant-code-motion,cse,remat-verify{budget=16512B})' \
// RUN:   | FileCheck %s --check-prefix=MET
// RUN: not %{mlir-opt} --pass-pipeline='builtin.module(rematerialize{budget=16511B})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
//
// REFUSED: error: function 'step' does not fit into the budget of 16511 bytes: the smallest budget known to be feasible is 16512 bytes

#vector = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// DIALECT-LABEL: func @step
// MET-LABEL: func @step(
// MET-SAME: %[[X:.*]]: tensor<1024xf32>, %[[W:.*]]: tensor<1024xf32>
func.func @step(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024xf32>
  %start = tensor.empty() : tensor<f32>
  // MET: linalg.exp ins(%[[X]]
  %a = linalg.exp ins(%x : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) -> tensor<1024xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%start : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%a : tensor<1024xf32>) outs(%l0 : tensor<f32>)
      dimensions = [0]
  %u = linalg.generic {indexing_maps = [#vector, #scalar, #vector], iterator_types = ["parallel"]}
      ins(%w, %loss : tensor<1024xf32>, tensor<f32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%wi: f32, %li: f32, %out: f32):
    %r = arith.addf %wi, %li : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  // DIALECT: linalg.mul {remat.policy = #remat.policy<must_save>}
  // MET: linalg.mul
  %v = linalg.mul {remat.policy = #remat.policy<must_save>}
      ins(%u, %w : tensor<1024xf32>, tensor<1024xf32>)
      outs(%empty : tensor<1024xf32>) -> tensor<1024xf32>
  // MET: %[[SUM:.*]] = linalg.reduce
  %s0 = linalg.fill ins(%zero : f32) outs(%start : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%s0 : tensor<f32>)
      dimensions = [0]
  // MET: %[[HELD:.*]] = remat.barrier %[[X]] after %[[SUM]] : tensor<1024xf32> after tensor<f32>
  // MET: %[[AGAIN:.*]] = linalg.exp {{.*}}ins(%[[HELD]] : tensor<1024xf32>)
  // MET: linalg.generic {{.*}} ins(%[[AGAIN]], %[[SUM]] : tensor<1024xf32>, tensor<f32>)
  %g = linalg.generic {indexing_maps = [#vector, #scalar, #vector], iterator_types = ["parallel"]}
      ins(%a, %sum : tensor<1024xf32>, tensor<f32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%ai: f32, %si: f32, %out: f32):
    %r = arith.mulf %ai, %si : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  return %g, %loss : tensor<1024xf32>, tensor<f32>
}

// DIALECT-LABEL: func @barrier
func.func @barrier(%x: tensor<8xf32>) -> tensor<8xf32> {
  // DIALECT: remat.barrier %{{.*}} after %{{.*}} : tensor<8xf32> after tensor<8xf32>
  %0 = remat.barrier %x after %x : tensor<8xf32> after tensor<8xf32>
  return %0 : tensor<8xf32>
}
