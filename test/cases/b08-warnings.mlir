// Inputs that CSE would change: where merging equal operations leads above the budget, a warning
// says so and gives the peak, whether the pass changes the function or not.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize=budget=98MiB 2> %t.err
// RUN: FileCheck %s --input-file=%t.err --implicit-check-not=warning:
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize=budget=178MiB 2> %t.err
// RUN: count 0 < %t.err

!row = tensor<262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// Recomputed by hand, without a barrier: 98 MiB, after CSE 162: argument 1, %a 64, %l 1, %b 96.

// CHECK: warning: function 'by_hand' would exceed its budget of 102760448 bytes after common subexpression elimination, with a packed peak of 169869312 bytes
func.func @by_hand(%x: !row) -> !row {
  %e = tensor.empty() : !t64
  %a = linalg.broadcast ins(%x : !row) outs(%e : !t64) dimensions = [0]
  %l = "test.use"(%a) : (!t64) -> !row
  %b = "test.big"(%l) : (!row) -> !t96
  %m = "test.use"(%b) : (!t96) -> !row
  %e2 = tensor.empty() : !t64
  %again = linalg.broadcast ins(%x : !row) outs(%e2 : !t64) dimensions = [0]
  %d = "test.bwd"(%again, %m) : (!t64, !row) -> !row
  return %d : !row
}

// Half of it by hand: the pass drops %s, and CSE would still merge the two broadcasts. Without CSE:
// argument 1, %l 1, %b 96; with it 64 more (or 80 where %s stays, 178 MiB).

// CHECK: warning: function 'both' would exceed its budget of 102760448 bytes after common subexpression elimination, with a packed peak of 169869312 bytes
func.func @both(%x: !row) -> !row {
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : !t64
  %a = linalg.broadcast ins(%x : !row) outs(%e : !t64) dimensions = [0]
  %s = tensor.splat %half : tensor<16x262144xf32>
  %l = "test.use"(%a, %s) : (!t64, tensor<16x262144xf32>) -> !row
  %b = "test.big"(%l) : (!row) -> !t96
  %m = "test.use"(%b) : (!t96) -> !row
  %e2 = tensor.empty() : !t64
  %again = linalg.broadcast ins(%x : !row) outs(%e2 : !t64) dimensions = [0]
  %d = "test.bwd"(%again, %m, %s) : (!t64, !row, tensor<16x262144xf32>) -> !row
  return %d : !row
}

// Equal operations that are not live at the peak are no matter.
func.func @harmless(%x: !row) -> !row {
  %e = tensor.empty() : !t64
  %a = linalg.broadcast ins(%x : !row) outs(%e : !t64) dimensions = [0]
  %k = "test.use"(%a) : (!t64) -> !row
  %e2 = tensor.empty() : !t64
  %again = linalg.broadcast ins(%x : !row) outs(%e2 : !t64) dimensions = [0]
  %l = "test.use"(%again, %k) : (!t64, !row) -> !row
  %b = "test.big"(%l) : (!row) -> !t96
  %m = "test.use"(%b) : (!t96) -> !row
  return %m : !row
}
