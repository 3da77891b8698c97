// RUN: remat-opt %s --remat-fit-arena="budget=100% fusion=none" | FileCheck %s
// RUN: remat-opt %s --remat-fit-arena="budget=1280B alignment=64B fusion=none" | FileCheck %s --check-prefix=BUDGET
// RUN: remat-opt %s --remat-fit-arena="results=caller fusion=none" | FileCheck %s --check-prefix=CALLER
// RUN: not remat-opt %s --remat-fit-arena="budget=64B fusion=none" 2>&1 | FileCheck %s --check-prefix=INFEASIBLE
// RUN: remat-opt %s --remat-cpu-pipeline="budget=1280B" | FileCheck %s --check-prefix=LLVM
// RUN: remat-opt %s --remat-cpu-pipeline="results=caller" | FileCheck %s --check-prefix=LLVMCALLER
// LLVMCALLER: llvm.func @step(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr {remat.result}, %{{.*}}: !llvm.ptr {remat.arena})

// The arena is within the budget, arguments included, and so is what is recomputed.
// CHECK-LABEL: func @step(
// CHECK-SAME:    remat.arena_bytes = [[#%u,ARENA:]]
// Put together, all of it is one operation.
// RUN: remat-opt %s --remat-fit-arena | FileCheck %s --check-prefix=FUSED
// FUSED-LABEL: func @step(
// FUSED-SAME:    %{{.*}}: memref<256xi8> {remat.arena})
// FUSED:         linalg.generic
// FUSED-NOT:     linalg.{{[^y]}}
// BUDGET-LABEL: func @step(
// BUDGET-SAME:    %{{.*}}: memref<1024xi8> {remat.arena})
// CALLER-LABEL: func @step(
// CALLER-SAME:    memref<64xf32> {remat.result}
// INFEASIBLE: error: function 'step' does not fit into the budget of 64 bytes
// LLVM-NOT: func.func
// LLVM: llvm.func @step(
func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.tanh ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.exp ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %d = linalg.tanh ins(%c : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %f = linalg.add ins(%d, %c : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
      -> tensor<64xf32>
  %g = linalg.add ins(%f, %b : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
      -> tensor<64xf32>
  %h = linalg.add ins(%g, %a : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
      -> tensor<64xf32>
  return %h : tensor<64xf32>
}
