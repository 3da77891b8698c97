// Values of unusual types are dropped and recomputed like others, with the right bytes; those of
// unknown size are not.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json" 2> %t.err
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --uncounted dynamic --uncounted tuple \
// RUN:   | FileCheck %s

!t1 = tensor<1x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %y, %l 1, %b 96. One byte for each i4: 64 MiB.
// CHECK: i4 packed: 162 MiB -> 98 MiB
// CHECK: i4 recomputed: 1 x stablehlo.custom_call, 64 MiB
func.func @i4(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> tensor<256x262144xi4>
  %l = "test.use"(%y) : (tensor<256x262144xi4>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<256x262144xi4>, !t1) -> !t1
  return %d : !t1
}

// CHECK: i1 packed: 114 MiB -> 98 MiB
func.func @i1(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> tensor<64x262144xi1>
  %l = "test.use"(%y) : (tensor<64x262144xi1>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<64x262144xi1>, !t1) -> !t1
  return %d : !t1
}

// CHECK: complex packed: 114 MiB -> 98 MiB
func.func @complex(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> tensor<4x262144xcomplex<f64>>
  %l = "test.use"(%y) : (tensor<4x262144xcomplex<f64>>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<4x262144xcomplex<f64>>, !t1) -> !t1
  return %d : !t1
}

// vector<3xf32> takes 16 bytes: 4 * 262144 * 16 = 16 MiB.
// CHECK: vectors packed: 114 MiB -> 98 MiB
func.func @vectors(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> tensor<4x262144xvector<3xf32>>
  %l = "test.use"(%y) : (tensor<4x262144xvector<3xf32>>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<4x262144xvector<3xf32>>, !t1) -> !t1
  return %d : !t1
}

// 8 MiB and 8 MiB.
// CHECK: tuple packed: 114 MiB -> 98 MiB
func.func @tuple(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> tuple<tensor<8x262144xf32>, tensor<32x262144xi1>>
  %l = "test.use"(%y) : (tuple<tensor<8x262144xf32>, tensor<32x262144xi1>>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tuple<tensor<8x262144xf32>, tensor<32x262144xi1>>, !t1) -> !t1
  return %d : !t1
}

// A result without elements beside a large one does no harm.
// CHECK: zero packed: 114 MiB -> 98 MiB
func.func @zero(%x: !t1) -> !t1 {
  %y:2 = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> (tensor<0xf32>, tensor<16x262144xf32>)
  %l = "test.use"(%y#0, %y#1) : (tensor<0xf32>, tensor<16x262144xf32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y#0, %y#1, %m) : (tensor<0xf32>, tensor<16x262144xf32>, !t1) -> !t1
  return %d : !t1
}

// Known and unknown results of one operation: it is no candidate.
// CHECK:     dynamic packed: 114 MiB -> 114 MiB
// CHECK-NOT: dynamic recomputed
func.func @dynamic(%x: !t1) -> !t1 {
  %y:2 = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> (tensor<?xf32>, tensor<16x262144xf32>)
  %l = "test.use"(%y#0, %y#1) : (tensor<?xf32>, tensor<16x262144xf32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y#1, %m) : (tensor<16x262144xf32>, !t1) -> !t1
  return %d : !t1
}
