// A refusal lists everything that is live at the peak, with bytes, the place where it comes from
// and why it cannot go; the bytes add up to the packed peak. The IR stays as it is, every function
// is planned, the report is written, and the printed minimum works and does not depend on the
// budget.
//
// RUN: not remat-opt %s --allow-unregistered-dialect -o %t.none \
// RUN:   --rematerialize="fusion=none budget=100MiB report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.err
// RUN: not ls %t.none
// RUN: %python %S/Inputs/refusals.py %t.err | FileCheck %s --check-prefix=SUMS
// RUN: %python %S/Inputs/facts.py %t.json --peak | FileCheck %s --check-prefix=FACTS
//
// The minimum, the largest of all:
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=266338432B" -o %t.mlir
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=266338431B" -o %t.none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LESS
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=200MiB" -o %t.none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MINIMUM
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=1B" -o %t.none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MINIMUM
// LESS:     error: function 'reasons' does not fit into the budget of 266338431 bytes: the smallest budget known to be feasible is 266338432 bytes
// LESS-NOT: error:
// MINIMUM:  error: function 'reasons' {{.*}}: the smallest budget known to be feasible is 266338432 bytes

!t1 = tensor<1x262144xf32>
!t4 = tensor<4x262144xf32>
!t8 = tensor<8x262144xf32>
!t16 = tensor<16x262144xf32>
!t32 = tensor<32x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// Live at scf.if: arguments 1 MiB and 1 B; the constant 12 B; the result 16; %o, which nobody
// knows, 32; %s, which would keep 64, 8; %v, which must be saved, 4; the operand %l 1; the result
// of the branch 96 and the inside of it 96. %f is not among them, it can go. 254 MiB + 13 B;
// padding 63 and 52.

// FACTS:      reasons status: infeasible
// FACTS:      reasons packed: 318 MiB + 128 B -> 254 MiB + 128 B
// FACTS:      reasons live: 318 MiB + 13 B -> 254 MiB + 13 B
// FACTS:      reasons minimum: 254 MiB + 128 B
// FACTS:      reasons arguments: 1 MiB + 1 B
// FACTS:      reasons results: 17 MiB
// FACTS:      reasons constants: 12 B

// SUMS:       reasons: 266338432 bytes, as the rows say

// CHECK:      d01-refused.mlir:[[#@LINE+25]]:{{[0-9]+}}: error: function 'reasons' does not fit into the budget of 104857600 bytes: the smallest budget known to be feasible is 266338432 bytes
// CHECK:      note: arguments take 1048577 bytes, results 17825792 bytes
// CHECK:      d01-refused.mlir:[[#@LINE+23]]:{{[0-9]+}}: note: the packed peak of 266338432 bytes is at 'scf.if' (operation 8), where these are live:
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+22]]:{{[0-9]+}}: note: 100663296 bytes: %{{.+}} scf.if, needed by this operation
// CHECK-DAG:  note: 100663296 bytes: workspace, needed by this operation
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+14]]:{{[0-9]+}}: note: 33554432 bytes: %{{.+}} test.layer, not recomputable: {{.*}}is not described by any model; read next by 'test.bwd'
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+12]]:{{[0-9]+}}: note: 16777216 bytes: %{{.+}} test.result, result
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+14]]:{{[0-9]+}}: note: 8388608 bytes: %{{.+}} stablehlo.custom_call, recomputing it would keep operands of 67108864 bytes alive; read next by 'test.bwd'
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+14]]:{{[0-9]+}}: note: 4194304 bytes: %{{.+}} stablehlo.broadcast_in_dim, {{.*}}must be saved; read next by 'test.bwd'
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+15]]:{{[0-9]+}}: note: 1048576 bytes: %{{.+}} test.use, needed by this operation
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+6]]:{{[0-9]+}}: note: 1048576 bytes: %{{.+}}argument
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+6]]:{{[0-9]+}}: note: 12 bytes: {{.*}}program constant
// CHECK-DAG:  d01-refused.mlir:[[#@LINE+4]]:{{[0-9]+}}: note: 1 bytes: %{{.+}}argument
// CHECK-DAG:  note: 115 bytes: alignment


func.func @reasons(%x: !t1, %c: i1) -> (!t1, !t16) {
  %k = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = "test.result"(%x, %k) : (!t1, tensor<3xi32>) -> !t16
  %o = "test.layer"(%x) : (!t1) -> !t32
  %p = "test.layer"(%x) : (!t1) -> !t64
  %s = "stablehlo.custom_call"(%p) <{call_target_name = "f"}> : (!t64) -> !t8
  %v = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> {remat.policy = #remat.policy<must_save>} : (!t1) -> !t4
  %f = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%f) : (!t64) -> !t1
  %b = scf.if %c -> !t96 {
    %i = "stablehlo.broadcast_in_dim"(%l) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t96
    scf.yield %i : !t96
  } else {
    %j = "test.layer"(%l) : (!t1) -> !t96
    scf.yield %j : !t96
  }
  %m = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%o, %m) : (!t32, !t1) -> !t1
  %d2 = "test.bwd"(%s, %d1) : (!t8, !t1) -> !t1
  %d3 = "test.bwd"(%v, %d2) : (!t4, !t1) -> !t1
  %d4 = "test.bwd"(%f, %d3) : (!t64, !t1) -> !t1
  return %d4, %r : !t1, !t16
}

// Met, and all the same unchanged, since others are refused.

// FACTS: fits status: met
// FACTS: fits packed: 162 MiB -> 98 MiB
func.func @fits(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Arguments 128 MiB and a result of 64: nothing that the function computes matters.

// FACTS: arguments status: infeasible
// FACTS: arguments minimum: 192 MiB
// SUMS:  arguments: 201326592 bytes, as the rows say
// CHECK: error: function 'arguments' does not fit into the budget of 104857600 bytes: {{.*}}arguments and results alone exceed the budget
// CHECK: note: arguments take 134217728 bytes, results 67108864 bytes
func.func @arguments(%p: !t64, %q: !t64) -> !t64 {
  %r = math.exp %p : !t64
  return %r : !t64
}

// Twenty values of 8 MiB: the message lists the largest rows and sums up the rest, which is all in
// the report. At the last operation: argument 1, twenty times 8, %d 1: 162 MiB.

// FACTS: many status: infeasible
// FACTS: many minimum: 162 MiB
// FACTS-COUNT-20: many at peak: 8 MiB, test.layer, needed by this operation
// SUMS:  many: 169869312 bytes, as the rows say
// CHECK: error: function 'many' does not fit
// CHECK: note: {{[0-9]+}} bytes: {{[0-9]+}} smaller rows (all of them are in the report)
// CHECK-NOT: error:
func.func @many(%x: !t1) -> !t1 {
  %v0:10 = "test.layer"(%x) : (!t1) -> (!t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8)
  %v1:10 = "test.layer"(%x) : (!t1) -> (!t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8)
  %d = "test.bwd"(%v0#0, %v0#1, %v0#2, %v0#3, %v0#4, %v0#5, %v0#6, %v0#7, %v0#8, %v0#9, %v1#0, %v1#1, %v1#2, %v1#3, %v1#4, %v1#5, %v1#6, %v1#7, %v1#8, %v1#9) : (!t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8, !t8) -> !t1
  return %d : !t1
}
