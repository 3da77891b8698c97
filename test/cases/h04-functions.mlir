// Modules as they come: several functions, declarations, empty functions, private ones that are
// called or not, nested modules, recursion, functions of other dialects.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=100MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --remat-print-memory=fusion=none 2> %t.txt

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// FACTS: declared status: skipped
// FACTS: declared reason: it has no body
// CHECK: func.func private @declared(tensor<1x262144xf32>) -> tensor<1x262144xf32>
func.func private @declared(!t1) -> !t1

// FACTS: empty status: unchanged
// FACTS: empty packed: 0 B -> 0 B
// CHECK-LABEL: func.func @empty() {
// CHECK-NEXT:  return
func.func @empty() {
  return
}

// FACTS: hands_on status: unchanged
// FACTS: hands_on packed: 1 MiB -> 1 MiB
func.func @hands_on(%x: !t1) -> !t1 {
  return %x : !t1
}

// Two functions that need the same thing, each on its own.

// FACTS: first packed: 162 MiB -> 98 MiB
// CHECK-LABEL: func.func @first
// CHECK:       remat.clone_of
func.func @first(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS: second packed: 162 MiB -> 98 MiB
// CHECK-LABEL: func.func @second
// CHECK:       remat.clone_of
func.func @second(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A private function that somebody calls counts inside of the caller; one that nobody calls is
// planned.

// FACTS: called status: skipped
// FACTS: called reason: it is private and counts inside its callers
// FACTS: caller status: unchanged
// FACTS: uncalled status: met
// CHECK-LABEL: func.func private @called
// CHECK-NOT:   remat.clone_of
// CHECK-LABEL: func.func @caller
// CHECK-LABEL: func.func private @uncalled
// CHECK:       remat.clone_of
func.func private @called(%x: !t1) -> !t1 attributes {no_inline} {
  %y = math.exp %x : !t1
  return %y : !t1
}
func.func @caller(%x: !t1) -> !t1 {
  %y = call @called(%x) : (!t1) -> !t1
  return %y : !t1
}
func.func private @uncalled(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A function that calls itself, and a pair that call each other.

// FACTS: itself status: unchanged
// FACTS: odd status: unchanged
// FACTS: even status: unchanged
func.func @itself(%x: !t1) -> !t1 {
  %y = call @itself(%x) : (!t1) -> !t1
  return %y : !t1
}
func.func @odd(%x: !t1) -> !t1 {
  %y = call @even(%x) : (!t1) -> !t1
  return %y : !t1
}
func.func @even(%x: !t1) -> !t1 {
  %y = call @odd(%x) : (!t1) -> !t1
  return %y : !t1
}

// In a module in the module.

// FACTS: inside packed: 162 MiB -> 98 MiB
// CHECK:       module @nested
// CHECK:       func.func @inside
// CHECK:       remat.clone_of
module @nested {
  func.func @inside(%x: tensor<1x262144xf32>) -> tensor<1x262144xf32> {
    %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x262144xf32>) -> tensor<64x262144xf32>
    %l = "test.use"(%a) : (tensor<64x262144xf32>) -> tensor<1x262144xf32>
    %b = "test.big"(%l) : (tensor<1x262144xf32>) -> tensor<96x262144xf32>
    %m = "test.use"(%b) : (tensor<96x262144xf32>) -> tensor<1x262144xf32>
    %d = "test.bwd"(%a, %m) : (tensor<64x262144xf32>, tensor<1x262144xf32>) -> tensor<1x262144xf32>
    return %d : tensor<1x262144xf32>
  }
}

// What is no func.func.

// FACTS: foreign status: unchanged
llvm.func @foreign(%x: i64) -> i64 {
  %y = llvm.add %x, %x : i64
  llvm.return %y : i64
}
