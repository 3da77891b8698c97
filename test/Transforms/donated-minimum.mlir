// The smallest plan of all recomputes %a from %p behind the result that is written over it:
// it needs %p as it was, and the result elsewhere. The budget that is known to be feasible
// is that of a plan that can be had.
// RUN: not remat-opt %s -rematerialize=budget=1B 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not remat-opt %s -rematerialize=budget=8831B 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: remat-opt %s -rematerialize="budget=8832B report=-" -o %t.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT
// RUN: remat-opt %t.mlir -remat-verify=budget=8832B -o /dev/null
// RUN: FileCheck %s --input-file=%t.mlir

// LEAST: error: function 'step' does not fit into the budget of {{.*}} the smallest budget known to be feasible is 8832 bytes
// REPORT: packed peak{{ +}}12608 B {{.*}} 8832 B
// REPORT: smallest known packed peak 8.83 KB

// CHECK-LABEL: func @step(
// CHECK-SAME:    %[[P:.+]]: tensor<64xf32> {remat.donated}
// CHECK:         linalg.generic {{.*}} outs(%[[P]] : tensor<64xf32>)
// CHECK:         remat.barrier %[[P]] after

#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>

func.func @step(%p: tensor<64xf32> {remat.donated}, %v: tensor<16xf32>)
    -> (tensor<64xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16x64xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %a = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<16x64xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<16x64xf32>) outs(%zero : tensor<16xf32>)
      dimensions = [1]
  %q = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%p : tensor<64xf32>) {
  ^bb0(%out: f32):
    %0 = arith.negf %out : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %b = linalg.generic {indexing_maps = [#first, #row, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s, %q : tensor<16xf32>, tensor<64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %0 = arith.mulf %in, %in2 : f32
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
