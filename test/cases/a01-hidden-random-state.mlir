// Random numbers with hidden state are never drawn again, whatever the budget; from an explicit
// state they may be, and then from the same state.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=110MiB on-infeasible=warn report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak --uncounted hidden \
// RUN:   | FileCheck %s --check-prefix=FACTS
// RUN: FileCheck %s --input-file=%t.err --check-prefix=WARN
//
// One byte too few for @rng alone, where nothing may be done:
// RUN: not remat-opt %s --allow-unregistered-dialect -o /dev/null \
// RUN:   --rematerialize="fusion=none budget=169869375B" 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: function 'rng' does not fit into the budget of 169869375 bytes: the smallest budget known to be feasible is 169869376 bytes
// REFUSED: note: 67108864 bytes: {{.*}}stablehlo.rng, not recomputable: {{.*}}draws from hidden random state

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>
!u64 = tensor<64x262144xui32>
!i64 = tensor<64x262144xi32>
#id = affine_map<(d0, d1) -> (d0, d1)>

// At test.big: argument 1, the shape 16 B, the random numbers 64, %l 1, %b 96.

// FACTS:     rng status: infeasible
// FACTS:     rng packed: 162 MiB + 64 B -> 162 MiB + 64 B
// FACTS:     rng live: 162 MiB + 16 B -> 162 MiB + 16 B
// FACTS:     rng minimum: 162 MiB + 64 B
// FACTS-NOT: rng recomputed
// FACTS:     rng at peak: 64 MiB, stablehlo.rng, not recomputable: {{.*}}draws from hidden random state

// WARN: warning: function 'rng' does not fit

// CHECK-LABEL: func.func @rng
// CHECK:     "stablehlo.rng"
// CHECK-NOT: "stablehlo.rng"
// CHECK:     return
func.func @rng(%x: !t1) -> !t1 {
  %lo = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %hi = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %shape = "stablehlo.constant"() <{value = dense<[64, 262144]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %r = "stablehlo.rng"(%lo, %hi, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The same without the constant: argument 1, %r 64, %l 1, %b 96.

// FACTS:     effect minimum: 162 MiB{{$}}
// FACTS-NOT: effect recomputed
// FACTS:     effect at peak: 64 MiB, stablehlo.custom_call, not recomputable: {{.*}}side effects

// CHECK-LABEL: func.func @effect
// CHECK:     "stablehlo.custom_call"
// CHECK-NOT: "stablehlo.custom_call"
// CHECK:     return
func.func @effect(%x: !t1) -> !t1 {
  %r = "stablehlo.custom_call"(%x) <{call_target_name = "rand", has_side_effect = true}> : (!t1) -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A function nobody knows, and one that keeps its state in a global. While the latter runs: the
// argument 1, its result 64, inside of it 64 and, in words of 8 bytes, the loaded and the stored
// number and the index: below the peak.

// FACTS:     external minimum: 162 MiB{{$}}
// FACTS-NOT: external recomputed
// FACTS:     external at peak: 64 MiB, func.call, not recomputable: {{.*}}calls a function without a body

// CHECK-LABEL: func.func @external
// CHECK:     call @draw_outside
// CHECK-NOT: call
// CHECK:     return
func.func private @draw_outside() -> !t64
func.func @external(%x: !t1) -> !t1 {
  %r = func.call @draw_outside() : () -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The global is program data: 8 bytes, 64 with alignment, throughout.

// FACTS:     draw status: skipped
// FACTS:     hidden minimum: 162 MiB + 64 B
// FACTS-NOT: hidden recomputed
// FACTS:     hidden at peak: 64 MiB, func.call, not recomputable: {{.*}}calls 'draw', which {{.*}}memory

// CHECK-LABEL: func.func @hidden
// CHECK:     call @draw
// CHECK-NOT: call
// CHECK:     return
memref.global "private" @seed : memref<i64> = dense<1>
func.func private @draw() -> !t64 attributes {no_inline} {
  %seed = memref.get_global @seed : memref<i64>
  %old = memref.load %seed[] : memref<i64>
  %one = arith.constant 1 : i64
  %new = arith.addi %old, %one : i64
  memref.store %new, %seed[] : memref<i64>
  %f = arith.sitofp %old : i64 to f32
  %r = tensor.splat %f : !t64
  return %r : !t64
}
func.func @hidden(%x: !t1) -> !t1 {
  %r = func.call @draw() : () -> !t64
  %l = "test.use"(%r) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Explicit state. At test.big: arguments 1 and 16 B, the new state 16 B (a result), %l 1, %b 96.
// The clone starts from the argument; the returned state is that of the original.

// FACTS: generator status: met
// FACTS: generator packed: 162 MiB + 128 B -> 98 MiB + 128 B
// FACTS: generator live: 162 MiB + 32 B -> 98 MiB + 32 B
// FACTS: generator minimum: 98 MiB + 128 B
// FACTS: generator recomputed: 1 x stablehlo.rng_bit_generator, 64 MiB + 16 B

// CHECK-LABEL: func.func @generator
// CHECK-SAME:  %[[X:.+]]: tensor<1x262144xf32>, %[[STATE:.+]]: tensor<2xui64>
// CHECK:       %[[R:.+]]:2 = "stablehlo.rng_bit_generator"(%[[STATE]])
// CHECK:       %[[L:.+]] = "test.use"(%[[R]]#1)
// CHECK:       "test.big"(%[[L]])
// CHECK:       %[[M:.+]] = "test.use"
// CHECK:       %[[HELD:.+]]:2 = "stablehlo.optimization_barrier"(%[[STATE]], %[[M]])
// CHECK:       %[[AGAIN:.+]]:2 = "stablehlo.rng_bit_generator"(%[[HELD]]#0)
// CHECK-SAME:    rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>
// CHECK:       %[[D:.+]] = "test.bwd"(%[[AGAIN]]#1, %[[M]])
// CHECK:       return %[[D]], %[[R]]#0
func.func @generator(%x: !t1, %state: tensor<2xui64>) -> (!t1, tensor<2xui64>) {
  %s, %r = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, !u64)
  %l = "test.use"(%r) : (!u64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!u64, !t1) -> !t1
  return %d, %s : !t1, tensor<2xui64>
}

// The state in the middle of a chain of states: the clone must take %s1, not the first state, nor
// the last; drawing from the first state again would save 16 bytes, less than min-bytes (2^-20 of
// the peak, 162). At test.big: arguments 1 and 16 B, %s1 (for the clone) and %s2 16 B each, %l 1,
// %b 96.

// FACTS: second status: met
// FACTS: second packed: 162 MiB + 128 B -> 98 MiB + 192 B
// FACTS: second recomputed: 1 x stablehlo.rng_bit_generator, 64 MiB + 16 B

// CHECK-LABEL: func.func @second
// CHECK-SAME:  %[[STATE:[a-z0-9]+]]: tensor<2xui64>)
// CHECK:       %[[S1:.+]]:2 = "stablehlo.rng_bit_generator"(%[[STATE]])
// CHECK:       %[[S2:.+]]:2 = "stablehlo.rng_bit_generator"(%[[S1]]#0)
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[HELD:.+]]:2 = "stablehlo.optimization_barrier"(%[[S1]]#0, %[[M]])
// CHECK:       "stablehlo.rng_bit_generator"(%[[HELD]]#0)
// CHECK-NOT:   "stablehlo.rng_bit_generator"
// CHECK:       return %{{.+}}, %[[S2]]#0
func.func @second(%x: !t1, %state: tensor<2xui64>) -> (!t1, tensor<2xui64>) {
  %s1, %r1 = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  %s2, %r = "stablehlo.rng_bit_generator"(%s1) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, !u64)
  %l = "test.use"(%r) : (!u64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!u64, !t1) -> !t1
  return %d, %s2 : !t1, tensor<2xui64>
}

// Threefry written out: a function of key and index. At test.big: arguments 1 and 4 B, %l 1, %b 96.

// FACTS: threefry status: met
// FACTS: threefry packed: 162 MiB + 64 B -> 98 MiB + 64 B
// FACTS: threefry live: 162 MiB + 4 B -> 98 MiB + 4 B
// FACTS: threefry recomputed: 1 x linalg.generic, 64 MiB

// CHECK-LABEL: func.func @threefry
// CHECK-SAME:  %[[KEY:[a-z0-9]+]]: i32)
// CHECK:       linalg.generic
// CHECK:       arith.xori %{{.+}}, %[[KEY]]
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       remat.barrier {{.*}}%[[KEY]]{{.*}} after %[[M]]
// CHECK:       %[[AGAIN:.+]] = linalg.generic
// CHECK:       arith.xori
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @threefry(%x: !t1, %key: i32) -> !t1 {
  %e = tensor.empty() : !i64
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : !i64) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %13 = arith.constant 13 : i32
    %19 = arith.constant 19 : i32
    %s = arith.addi %i32, %j32 : i32
    %a = arith.shli %s, %13 : i32
    %b0 = arith.shrui %s, %19 : i32
    %c = arith.ori %a, %b0 : i32
    %d = arith.xori %c, %key : i32
    linalg.yield %d : i32
  } -> !i64
  %l = "test.use"(%r) : (!i64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%r, %m) : (!i64, !t1) -> !t1
  return %d : !t1
}
