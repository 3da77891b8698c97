// A limit of cost that cannot be kept: what must be recomputed costs more.

// RUN: not remat-opt %s --rematerialize="max-overhead=20%%" -o %t.none 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not ls %t.none
// ERROR: error: function 'f' may add 2457 picoseconds, but what must be recomputed adds 2731 in the cheapest plan that is known

// RUN: remat-opt %s --rematerialize="max-overhead=20%% on-infeasible=warn" 2>%t.warning | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING --input-file=%t.warning
// WARNING: warning: function 'f' may add 2457 picoseconds

// RUN: remat-opt %s --rematerialize="max-overhead=23%%" | FileCheck %s
// CHECK: math.exp {{.*}}remat.clone_of = 0

func.func @f(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = math.exp %x {remat.policy = #remat.policy<must_recompute>} : tensor<1024xf32>
  %b = math.exp %a : tensor<1024xf32>
  %c = math.exp %b : tensor<1024xf32>
  %d = arith.addf %a, %c : tensor<1024xf32>
  return %d : tensor<1024xf32>
}
