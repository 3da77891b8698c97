// An operation that carries a symbol name or an identity of its own is not cloned: there would be
// two of them. That goes for the user's permission, too, as far as it repeats a channel.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t160 = tensor<160x262144xf32>

// At test.big: argument 1, %y 64, %l 1, %b 160.

// FACTS:     symbol minimum: 226 MiB
// FACTS-NOT: symbol recomputed

// CHECK-LABEL: func.func @symbol
// CHECK-COUNT-1: sym_name
// CHECK-NOT:   sym_name
// CHECK:       return
func.func @symbol(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> {sym_name = "layer_3"} : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS:     channel minimum: 226 MiB
// FACTS-NOT: channel recomputed

// CHECK-LABEL: func.func @channel
// CHECK-COUNT-1: "stablehlo.all_reduce"
// CHECK-NOT:   "stablehlo.all_reduce"
// CHECK:       return
func.func @channel(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %y = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) {remat.recomputable = true} : (!t64) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
