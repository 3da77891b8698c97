// Chains that pass their destination on (empty, fill, generic) are cloned whole: the clone writes
// into a destination of its own, not into one that has been written in part.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=FACTS

!row = tensor<262144xf32>
!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t160 = tensor<160x262144xf32>
#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// At test.big: argument 1, %y 64 (in %z's storage), %l 1, %b 160; without %y 162.

// FACTS:     chain packed: 226 MiB -> 162 MiB
// FACTS:     chain minimum: 162 MiB
// FACTS:     chain recomputed: 1 x linalg.fill, 64 MiB
// FACTS:     chain recomputed: 1 x linalg.generic, 64 MiB
// FACTS-NOT: chain recomputed

// CHECK-LABEL: func.func @chain
// CHECK-SAME:  %[[X:.+]]: tensor<262144xf32>
// CHECK:       %[[Z:.+]] = linalg.fill
// CHECK:       linalg.generic {{.*}}ins(%[[X]]{{.*}}outs(%[[Z]]
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       tensor.empty
// CHECK:       remat.barrier {{.*}}%[[X]]{{.*}} after %[[M]]
// CHECK:       %[[NEW:.+]] = linalg.fill
// CHECK:       %[[AGAIN:.+]] = linalg.generic {{.*}}outs(%[[NEW]]
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @chain(%x: !row) -> !row {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t64
  %z = linalg.fill ins(%zero : f32) outs(%e : !t64) -> !t64
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !row) outs(%z : !t64) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> !t64
  %l = "test.use"(%y) : (!t64) -> !row
  %b = "test.big"(%l) : (!row) -> !t160
  %m = "test.use"(%b) : (!t160) -> !row
  %d = "test.bwd"(%y, %m) : (!t64, !row) -> !row
  return %d : !row
}

// A fill that two operations take as their destination (what CSE makes of two equal ones). The
// second one writes into it. At test.big: arguments 2, %y1 64, %y2 64, %l 1, %b 160; without %y1
// and %y2 163. At the first use: arguments 2, %y1, %y2, %l: 131. The fill that the clone of %y1 does
// not overwrite is there for the other one: at its use arguments 2, %d1, %z and %y1, 131.

// FACTS:     shared packed: 291 MiB -> 163 MiB
// FACTS:     shared minimum: 163 MiB

// CHECK-LABEL: func.func @shared
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       %[[Z1:.+]] = linalg.fill
// CHECK:       %[[Y1:.+]] = linalg.generic {{.*}}outs(%[[Z1]]
// CHECK:       %[[D:.+]] = "test.bwd"(%[[Y1]], %[[M]])
// CHECK:       %[[IN:.+]]:2 = remat.barrier {{.*}}, %[[Z1]] after %[[D]]
// CHECK:       %[[Y2:.+]] = linalg.generic {{.*}}outs(%[[IN]]#1
// CHECK:       "test.bwd"(%[[Y2]], %[[D]])
func.func @shared(%x: !row, %w: !row) -> !row {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t64
  %z = linalg.fill ins(%zero : f32) outs(%e : !t64) -> !t64
  %y1 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !row) outs(%z : !t64) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> !t64
  %y2 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%w : !row) outs(%z : !t64) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> !t64
  %l = "test.use"(%y1, %y2) : (!t64, !t64) -> !row
  %b = "test.big"(%l) : (!row) -> !t160
  %m = "test.use"(%b) : (!t160) -> !row
  %d1 = "test.bwd"(%y1, %m) : (!t64, !row) -> !row
  %d2 = "test.bwd"(%y2, %d1) : (!t64, !row) -> !row
  return %d2 : !row
}

// Written piece by piece. At test.big: arguments 2, %y2 64, %l 1, %b 160; without %y2 163.

// FACTS:     pieces packed: 227 MiB -> 163 MiB
// FACTS:     pieces recomputed: 1 x linalg.fill, 64 MiB
// FACTS:     pieces recomputed: 1 x tensor.insert_slice, 64 MiB
// FACTS:     pieces recomputed: 1 x tensor.insert_slice, 64 MiB
// FACTS-NOT: pieces recomputed

// CHECK-LABEL: func.func @pieces
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       %[[Y0:.+]] = linalg.fill
// CHECK:       %[[Y1:.+]] = tensor.insert_slice %{{.+}} into %[[Y0]][0, 0]
// CHECK:       %[[Y2:.+]] = tensor.insert_slice %{{.+}} into %[[Y1]][1, 0]
// CHECK:       "test.bwd"(%[[Y2]], %[[M]])
func.func @pieces(%x: !t1, %w: !t1) -> !t1 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t64
  %y0 = linalg.fill ins(%zero : f32) outs(%e : !t64) -> !t64
  %y1 = tensor.insert_slice %x into %y0[0, 0] [1, 262144] [1, 1] : !t1 into !t64
  %y2 = tensor.insert_slice %w into %y1[1, 0] [1, 262144] [1, 1] : !t1 into !t64
  %l = "test.use"(%y2) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y2, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The middle of a chain is used later, too: %y1 is not overwritten, %y2 has a storage of its own.
// At test.big: arguments 2, %y1 64, %y2 64, %l 1, %b 160; the smallest plan computes %y1 again for
// its late use and %y2 for its own: 163.

// FACTS:     middle packed: 291 MiB -> 163 MiB

// CHECK-LABEL: func.func @middle
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       %[[Y0:.+]] = linalg.fill
// CHECK:       %[[Y1:.+]] = tensor.insert_slice %{{.+}} into %[[Y0]][0, 0]
// CHECK:       %[[D:.+]] = "test.bwd"(%[[Y1]], %[[M]])
// CHECK:       tensor.insert_slice %{{.+}} into %{{.+}}[1, 0]
// CHECK:       "test.bwd"(%{{.+}}, %[[D]])
func.func @middle(%x: !t1, %w: !t1) -> !t1 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t64
  %y0 = linalg.fill ins(%zero : f32) outs(%e : !t64) -> !t64
  %y1 = tensor.insert_slice %x into %y0[0, 0] [1, 262144] [1, 1] : !t1 into !t64
  %y2 = tensor.insert_slice %w into %y1[1, 0] [1, 262144] [1, 1] : !t1 into !t64
  %l = "test.use"(%y2) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d1 = "test.bwd"(%y1, %m) : (!t64, !t1) -> !t1
  %d2 = "test.bwd"(%y2, %d1) : (!t64, !t1) -> !t1
  return %d2 : !t1
}
