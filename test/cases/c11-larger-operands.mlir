// A small value computed from large ones that are gone: computing it again would keep them. It is
// never cloned, and where nothing else helps, the refusal has the true minimum and the reason.
//
// RUN: not remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=98MiB report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.err
// RUN: %python %S/Inputs/facts.py %t.json --peak | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t8 = tensor<8x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %y 1, %l 1, %b 96: 99 MiB. With %y dropped it would be 98, and 16 for %p
// and %q.

// CHECK: error: function 'step' does not fit into the budget of 102760448 bytes: the smallest budget known to be feasible is 103809024 bytes
// CHECK: note: 1048576 bytes: %{{.+}} of stablehlo.custom_call, recomputing it would keep operands of 16777216 bytes alive

// FACTS:     step packed: 99 MiB -> 99 MiB
// FACTS:     step minimum: 99 MiB
// FACTS-NOT: step {{recomputed|moved}}
func.func @step(%x: !t1) -> !t1 {
  %p = "test.layer"(%x) : (!t1) -> !t8
  %q = "test.layer"(%x) : (!t1) -> !t8
  %y = "stablehlo.custom_call"(%p, %q) <{call_target_name = "f"}> : (!t8, !t8) -> !t1
  %l = "test.use"(%y) : (!t1) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t1, !t1) -> !t1
  return %d : !t1
}
