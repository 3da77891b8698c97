// A forward value that is returned, as a result of its own or because it is a gradient as it is, is
// there to the end: no clone of it, and the report says why.
//
// RUN: not remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=161MiB report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.err
// RUN: %python %S/Inputs/facts.py %t.json --peak | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %a 64, %l 1, %b 96.

// CHECK: error: function 'result' does not fit into the budget of 168820736 bytes: the smallest budget known to be feasible is 169869312 bytes
// CHECK: note: arguments take 1048576 bytes, results 68157440 bytes
// CHECK: note: 67108864 bytes: %{{.+}} of stablehlo.broadcast_in_dim, result

// FACTS:     result minimum: 162 MiB
// FACTS:     result results: 65 MiB
// FACTS-NOT: result {{recomputed|moved}}
// FACTS:     result at peak: 64 MiB, stablehlo.broadcast_in_dim, result
func.func @result(%x: !t1) -> (!t1, !t64) {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  return %m, %a : !t1, !t64
}

// The gradient of the sum of a x by x is a: it is used by the forward part, and returned.

// FACTS:     gradient minimum: 162 MiB
// FACTS-NOT: gradient {{recomputed|moved}}
// FACTS:     gradient at peak: 64 MiB, stablehlo.broadcast_in_dim, result
func.func @gradient(%x: !t1) -> (!t64, !t1) {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %a, %d : !t64, !t1
}

// A view of it is returned: the storage is the result's.

// FACTS:     view minimum: 162 MiB
// FACTS-NOT: view {{recomputed|moved}}
// FACTS:     view at peak: 64 MiB, stablehlo.broadcast_in_dim, result
func.func @view(%x: !t1) -> (!t1, tensor<16777216xf32>) {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %v = "stablehlo.reshape"(%a) : (!t64) -> tensor<16777216xf32>
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  return %m, %v : !t1, tensor<16777216xf32>
}
