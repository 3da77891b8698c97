// Effects hidden in a region or behind a call count. A collective is executed again only where the
// operation itself carries the user's permission.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak --uncounted body | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t160 = tensor<160x262144xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>

// At test.big: argument 1, %r 64, %l 1, %b 160. (%a could be recomputed, but is dead there.)

// FACTS:     all_reduce minimum: 226 MiB{{$}}
// FACTS-NOT: all_reduce recomputed
// FACTS:     all_reduce at peak: 64 MiB, stablehlo.all_reduce, not recomputable: {{.*}}communicates with other devices

// CHECK-LABEL: func.func @all_reduce
// CHECK:       "stablehlo.all_reduce"
// CHECK-NOT:   "stablehlo.all_reduce"
// CHECK:       return
func.func @all_reduce(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (!t64) -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// With permission. At test.big: argument 1, %l 1, %b 160; while it is repeated: argument 1, %m 1,
// %a and %r again 128.

// FACTS:     permitted packed: 226 MiB -> 162 MiB
// FACTS:     permitted recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS:     permitted recomputed: 1 x stablehlo.all_reduce, 64 MiB
// FACTS-NOT: permitted recomputed

// CHECK-LABEL: func.func @permitted
// CHECK:       "stablehlo.all_reduce"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       "stablehlo.all_reduce"
// CHECK:       "test.bwd"
func.func @permitted(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) {remat.recomputable = true} : (!t64) -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// In a branch. Arguments 1 MiB and 1 B, %r 64, %l 1, %b 160. (While the branch runs: %a, %r and the
// reduction inside, 193.)

// FACTS:     branch minimum: 226 MiB + 64 B
// FACTS-NOT: branch recomputed
// FACTS:     branch at peak: 64 MiB, scf.if, not recomputable: {{.*}}contains 'stablehlo.all_reduce', which communicates with other devices

// CHECK-LABEL: func.func @branch
// CHECK:       scf.if
// CHECK-NOT:   scf.if
// CHECK:       return
func.func @branch(%x: !t1, %c: i1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %r = scf.if %c -> !t64 {
    %s = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%t) : (tensor<f32>) -> ()
    }) : (!t64) -> !t64
    scf.yield %s : !t64
  } else {
    scf.yield %a : !t64
  }
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// In the condition of a loop: a StableHLO while. Argument 1, %r 64, %l 1, %b 160.

// FACTS:     loop minimum: 226 MiB{{$}}
// FACTS-NOT: loop recomputed

// CHECK-LABEL: func.func @loop
// CHECK:       "stablehlo.while"
// CHECK-NOT:   "stablehlo.while"
// CHECK:       return
func.func @loop(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %r = "stablehlo.while"(%a) ({
  ^bb0(%p: !t64):
    %go = "stablehlo.custom_call"() <{call_target_name = "ask", has_side_effect = true}> : () -> tensor<i1>
    "stablehlo.return"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%p: !t64):
    "stablehlo.return"(%p) : (!t64) -> ()
  }) : (!t64) -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Behind two calls. Argument 1, %r 64, %l 1, %b 160.

// FACTS:     inner status: skipped
// FACTS:     outer status: skipped
// FACTS:     call minimum: 226 MiB{{$}}
// FACTS-NOT: call recomputed
// FACTS:     call at peak: 64 MiB, func.call, not recomputable: {{.*}}calls 'outer', which contains 'func.call', which calls 'inner', which contains 'test.print', which is not described by any model

// CHECK-LABEL: func.func @call
// CHECK:       call @outer
// CHECK-NOT:   call @outer
// CHECK:       return
func.func private @inner(%x: !t1) attributes {no_inline} {
  "test.print"(%x) : (!t1) -> ()
  return
}
func.func private @outer(%x: !t1) -> !t64 attributes {no_inline} {
  func.call @inner(%x) : (!t1) -> ()
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  return %a : !t64
}
func.func @call(%x: !t1) -> !t1 {
  %r = func.call @outer(%x) : (!t1) -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// In the body of a structured operation. Arguments 1 MiB and 4 B, %r 64, %l 1, %b 160.

// FACTS:     body minimum: 226 MiB + 64 B
// FACTS-NOT: body recomputed
// FACTS:     body at peak: 64 MiB, linalg.generic, not recomputable: {{.*}}contains 'memref.store', which writes to memory

// CHECK-LABEL: func.func @body
// CHECK:       memref.store
// CHECK-NOT:   memref.store
// CHECK:       return
func.func @body(%x: !t1, %count: memref<f32>) -> !t1 {
  %e = tensor.empty() : !t64
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : !t64) {
  ^bb0(%out: f32):
    %one = arith.constant 1.0 : f32
    memref.store %one, %count[] : memref<f32>
    linalg.yield %one : f32
  } -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
