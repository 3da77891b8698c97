// RUN: remat-opt %s --mlir-disable-threading --remarks-filter="remat.*" --remark-policy=all --rematerialize="budget=300KB min-bytes=1KB" 2>&1 | FileCheck %s

// CHECK-DAG: [Analysis] Peak | Category:remat | Function=clone | Remark="packed peak 327680 bytes before, 262144 bytes after"
// CHECK-DAG: [Passed] Rematerialized | Category:remat | Function=clone | Remark="math.exp is computed again 1 time"
// CHECK-DAG: [Missed] Kept | Category:remat | Function=clone | Remark="%arg0 of argument keeps 65536 bytes at the peak: argument"
func.func @clone(%x: tensor<16384xf32>) -> tensor<16384xf32> {
  %a = math.exp %x : tensor<16384xf32>
  %s = math.tanh %a : tensor<16384xf32>
  %u = math.sin %s : tensor<16384xf32>
  %v = arith.addf %u, %s : tensor<16384xf32>
  %g = math.cos %v : tensor<16384xf32>
  %r = arith.mulf %g, %a : tensor<16384xf32>
  return %r : tensor<16384xf32>
}
