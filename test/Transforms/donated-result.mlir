// RUN: remat-opt %s -rematerialize="budget=8704B" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: remat-opt %t.mlir -remat-verify=budget=8704B -o /dev/null

// A result in the place of an argument is computed once, also if what reads it is computed
// again.
// CHECK-LABEL: func @step(
// CHECK-SAME:    %[[P:.+]]: tensor<64xf32> {remat.donated}
// CHECK:         %[[Q:.+]] = linalg.generic {{.*}} outs(%[[P]] : tensor<64xf32>)
// CHECK:         remat.barrier %[[Q]] after
// CHECK-NOT:     outs(%[[P]]

#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>

func.func @step(%p: tensor<64xf32> {remat.donated}, %v: tensor<16xf32>)
    -> (tensor<64xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16x64xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %q = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%p : tensor<64xf32>) {
  ^bb0(%out: f32):
    %0 = arith.negf %out : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %a = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<16x64xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<16x64xf32>) outs(%zero : tensor<16xf32>)
      dimensions = [1]
  %b = linalg.generic {indexing_maps = [#first, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<16xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<16x64xf32>
  %c = math.tanh %b : tensor<16x64xf32>
  %t = linalg.reduce { arith.addf } ins(%c : tensor<16x64xf32>) outs(%zero : tensor<16xf32>)
      dimensions = [1]
  %d = linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %t : tensor<16x64xf32>, tensor<16xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %0 = arith.mulf %in, %in2 : f32
    linalg.yield %0 : f32
  } -> tensor<16x64xf32>
  %u = linalg.reduce { arith.addf } ins(%d : tensor<16x64xf32>) outs(%zero : tensor<16xf32>)
      dimensions = [1]
  return %q, %u : tensor<64xf32>, tensor<16xf32>
}
