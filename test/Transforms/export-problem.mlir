// What the planner sees of a function, as a file that remat-plan reads: the same peaks and costs.
//
// RUN: remat-opt %s --remat-export-problem="output=%t.json function=step" -o %t.out.mlir
// RUN: remat-opt %s -o %t.plain.mlir
// RUN: diff %t.plain.mlir %t.out.mlir
// RUN: remat-plan solve %t.json --budget=80% --packed | FileCheck %s --check-prefix=PLAN
// RUN: sed '/^func.func @other/,$d' %s > %t.one.mlir
// RUN: remat-opt %t.one.mlir --rematerialize="budget=80%% report=-" -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=PASS
//
// RUN: not remat-opt %s --remat-export-problem -o %t.none 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: expected one function with a budget of its own, but got 2: name one with 'function='
// RUN: not remat-opt %s --remat-export-problem=function=none -o %t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: no function with a body is named 'none'

// At the cosine: x, a, b and c. In another order, no more than three of them.
// PLAN: unchanged    16384 B
// PLAN: status       {{optimal|feasible}}
// PLAN: peak         12352 B
// PLAN: added cost   0
// PASS: packed peak {{ *}}16384 B
// PASS: + 0 ps
func.func @step(%x: tensor<1024xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %a = math.exp %x : tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %c = math.cos %b : tensor<1024xf32>
  %s = tensor.extract %c[%c0] : tensor<1024xf32>
  %t = tensor.extract %a[%c0] : tensor<1024xf32>
  %r = arith.addf %s, %t : f32
  return %r : f32
}

func.func @other(%x: f32) -> f32 {
  return %x : f32
}
