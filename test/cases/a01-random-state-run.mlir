// A mask drawn from a key is drawn again for the gradient, bit for bit the same.
//
// RUN: remat-opt %s -o %t.before.mlir
// RUN: remat-opt %s -o %t.after.mlir --rematerialize="budget=66KiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.after.mlir | FileCheck %s --check-prefix=FACTS
// RUN: %python %S/Inputs/execute.py %t.before.mlir --mlir-lib %mlir_lib > %t.before.txt
// RUN: %python %S/Inputs/execute.py %t.after.mlir --mlir-lib %mlir_lib > %t.after.txt
// RUN: FileCheck %s --input-file=%t.before.txt
// RUN: diff %t.before.txt %t.after.txt

// T is 16 KiB. At %g: %x, %m, %t, %spread, %g and 4 B each for %key and the result %e. With the mask
// drawn again behind %g, what is live is %x, %t, %spread, %g there, %x, %g, %bits, %m while it is
// drawn, %x, %g, %m, %dx at the end: 64 KiB, and the two scalars.

// FACTS: step status: met
// FACTS: step packed: 82048 B -> 65664 B
// FACTS: step live: 81928 B -> 65544 B
// FACTS: step recomputed: 1 x linalg.generic, 16384 B
// FACTS: step recomputed: 1 x arith.sitofp, 16384 B

// CHECK: data =
// CHECK: data =

!t = tensor<64x64xf32>
!i = tensor<64x64xi32>
#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @step(%x: !t, %key: i32) -> (!t, f32) {
  %empty = tensor.empty() : !i
  %bits = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%empty : !i) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %c64 = arith.constant 64 : i32
    %golden = arith.constant -1640531527 : i32
    %c13 = arith.constant 13 : i32
    %c17 = arith.constant 17 : i32
    %row = arith.muli %i32, %c64 : i32
    %count = arith.addi %row, %j32 : i32
    %a = arith.muli %count, %golden : i32
    %b = arith.addi %a, %key : i32
    %shifted = arith.shrui %b, %c17 : i32
    %c = arith.xori %b, %shifted : i32
    %d = arith.muli %c, %golden : i32
    %e = arith.shrui %d, %c13 : i32
    %f = arith.andi %e, %c64 : i32
    linalg.yield %f : i32
  } -> !i
  %m = arith.sitofp %bits : !i to !t
  %y = arith.mulf %x, %m : !t
  %t = math.exp %y : !t
  %c5 = arith.constant 5 : index
  %e = tensor.extract %t[%c5, %c5] : !t
  %spread = tensor.splat %e : !t
  %g = arith.mulf %spread, %t : !t
  %dx = arith.mulf %g, %m : !t
  return %dx, %e : !t, f32
}
