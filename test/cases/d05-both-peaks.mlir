// The live and the packed peak are both reported, and which of them the budget is about: the packed
// one.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=102760512B report=-" 2> %t.table
// RUN: FileCheck %s --input-file=%t.table
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=102760512B report=%t.json"
// RUN: FileCheck %s --input-file=%t.json --check-prefix=JSON
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=102760511B" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PACKED

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// Live are 98 MiB and one byte of the argument %c, packed 98 MiB and 64 B. The budget of 98 MiB and
// 63 B holds the former, but not the latter.

// CHECK: function 'step': met, budget 102760512 B
// CHECK: packed peak {{ *}}169869376 B {{.*}}102760512 B
// CHECK: live peak {{ *}}169869313 B {{.*}}102760449 B

// PACKED: does not fit into the budget of 102760511 bytes: the smallest budget known to be feasible is 102760512 bytes
// PACKED: note: the packed peak of 102760512 bytes

// JSON: "baseline_packed_bytes": 169869376
// JSON: "baseline_peak_bytes": 169869313
// JSON: "budget_bytes": 102760512
// JSON: "packed_bytes": 102760512
// JSON: "peak_bytes": 102760449
func.func @step(%x: !t1, %c: i1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a, %c) : (!t64, i1) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
