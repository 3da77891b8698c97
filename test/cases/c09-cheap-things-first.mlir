// Iotas, broadcasts, masks and one-hots are recomputed before any matrix product.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=153100288B report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=150MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=170MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=CHEAP
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=185MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=CHEAP
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=ALL

!row = tensor<2048xf32>
!t1 = tensor<1x262144xf32>
!t16 = tensor<2048x2048xf32>
!i4 = tensor<2048x2048xi1>
!t96 = tensor<96x262144xf32>

// At test.big: arguments 1, 16, 16 and 8192 B; iota 16, broadcast 16, mask 4, one-hot 16, product
// 16, %l 1, %b 96: 198 MiB + 8192 B. Without all but the product 146 MiB + 8192 B, without the
// product as well 130.

// FACTS:     step packed: 198 MiB + 8192 B -> 146 MiB + 8192 B
// FACTS-NOT: dot_general
// FACTS:     step recomputed: 1 x stablehlo.iota, 16 MiB
// FACTS-NOT: dot_general

// CHEAP:     step status: met
// CHEAP-NOT: dot_general

// ALL:       step minimum: 130 MiB + 8192 B
// ALL:       step recomputed: 1 x stablehlo.dot_general, 16 MiB

// CHECK:     "test.big"
// CHECK-NOT: "stablehlo.dot_general"
func.func @step(%x: !t1, %u: !t16, %v: !t16, %row: !row) -> !t1 {
  %iota = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> !t16
  %wide = "stablehlo.broadcast_in_dim"(%row) <{broadcast_dimensions = array<i64: 1>}> : (!row) -> !t16
  %mask = "stablehlo.compare"(%iota, %wide) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (!t16, !t16) -> !i4
  %onehot = "stablehlo.convert"(%mask) : (!i4) -> !t16
  %product = "stablehlo.dot_general"(%u, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (!t16, !t16) -> !t16
  %l = "test.use"(%iota, %wide, %mask, %onehot, %product) : (!t16, !t16, !i4, !t16, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%product, %m) : (!t16, !t1) -> !t1
  %d2 = "test.bwd"(%onehot, %d1) : (!t16, !t1) -> !t1
  %d3 = "test.bwd"(%mask, %d2) : (!i4, !t1) -> !t1
  %d4 = "test.bwd"(%wide, %d3) : (!t16, !t1) -> !t1
  %d5 = "test.bwd"(%iota, %d4) : (!t16, !t1) -> !t1
  return %d5 : !t1
}
