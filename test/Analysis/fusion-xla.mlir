// What XLA keeps in memory (docs/memory-model.md, "What XLA keeps"), with numbers worked out by
// hand. V is a vector of 1024 f32, 4096 bytes, S a scalar, 4 bytes. Arguments and the buffers of
// results are there from the start.
//
// RUN: remat-opt %s --allow-unregistered-dialect --remat-print-memory=fusion=xla -o /dev/null 2>&1 \
// RUN:   | FileCheck %s
// RUN: remat-opt %s --allow-unregistered-dialect --remat-print-memory -o /dev/null 2>&1 | FileCheck %s
// RUN: remat-opt %s --allow-unregistered-dialect --remat-print-memory=fusion=none -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

// Neither the sum nor the exponential is written: two arguments and the result, 2V + S. With
// fusion=none both are there while the exponential is computed: 4V.
// CHECK-LABEL: memory of function 'virtual'
// CHECK: live peak 8196 B
// NONE-LABEL: memory of function 'virtual'
// NONE: live peak 16384 B
func.func @virtual(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> tensor<f32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.add"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %e = "stablehlo.exponential"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// The hyperbolic tangent has two readers, and is computed once: V + V + 2S.
// CHECK-LABEL: memory of function 'costly'
// CHECK: live peak 8200 B
// NONE-LABEL: memory of function 'costly'
// NONE: live peak 12292 B
func.func @costly(%x: tensor<1024xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.tanh"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.negate"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s : tensor<f32>, tensor<f32>
}

// With one reader it is not written.
// CHECK-LABEL: memory of function 'costly_once'
// CHECK: live peak 4100 B
// NONE-LABEL: memory of function 'costly_once'
func.func @costly_once(%x: tensor<1024xf32>) -> tensor<f32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.tanh"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// A sum of two, read twice: writing it once and reading it twice moves 5V with reading its sources,
// computing it twice reads 4V. It is not written: 2V + 2S.
// CHECK-LABEL: memory of function 'two_sources'
// CHECK: live peak 8200 B
// NONE-LABEL: memory of function 'two_sources'
func.func @two_sources(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.add"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.negate"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s : tensor<f32>, tensor<f32>
}

// A sum of three: reading the sources twice moves 6V, writing the sum and reading it twice with one
// reading of the sources 6V, too. It is written: 3V + V + 2S.
// CHECK-LABEL: memory of function 'three_sources'
// CHECK: live peak 16392 B
// NONE-LABEL: memory of function 'three_sources'
func.func @three_sources(%x: tensor<1024xf32>, %w: tensor<1024xf32>, %y: tensor<1024xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.add"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %c = "stablehlo.add"(%a, %y) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%c, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.negate"(%c) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s : tensor<f32>, tensor<f32>
}

// Reshapes of what is not written are not written either; a product reads matrices in memory. The
// argument, the matrix and the result of the product: V + V + V.
// CHECK-LABEL: memory of function 'through_reshapes'
// CHECK: live peak 12288 B
// NONE-LABEL: memory of function 'through_reshapes'
func.func @through_reshapes(%x: tensor<1024xf32>) -> tensor<32x32xf32> {
  %a = "stablehlo.exponential"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %m = "stablehlo.reshape"(%a) : (tensor<1024xf32>) -> tensor<32x32xf32>
  %b = "stablehlo.negate"(%m) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = "stablehlo.dot_general"(%b, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = []}> : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %p : tensor<32x32xf32>
}

// The result has a buffer of its own.
// CHECK-LABEL: memory of function 'not_donated'
// CHECK: live peak 12288 B
// NONE-LABEL: memory of function 'not_donated'
func.func @not_donated(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = "stablehlo.subtract"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %a : tensor<1024xf32>
}

// The result is in the memory of the argument that is donated for it.
// CHECK-LABEL: memory of function 'donated'
// CHECK: live peak 8192 B
// NONE-LABEL: memory of function 'donated'
func.func @donated(%x: tensor<1024xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = "stablehlo.subtract"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %a : tensor<1024xf32>
}

// The same, without saying for which result; there is one donor for two results.
// CHECK-LABEL: memory of function 'donor'
// CHECK: live peak 12288 B
// NONE-LABEL: memory of function 'donor'
func.func @donor(%x: tensor<1024xf32> {jax.buffer_donor = true}, %w: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %a = "stablehlo.subtract"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %b = "stablehlo.add"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %a, %b : tensor<1024xf32>, tensor<1024xf32>
}

// Each result has a buffer, also of the same value: V + 2V; and an argument that is returned is copied.
// CHECK-LABEL: memory of function 'returned_twice'
// CHECK: live peak 16384 B
// NONE-LABEL: memory of function 'returned_twice'
func.func @returned_twice(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %a = "stablehlo.negate"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  return %a, %a, %x : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}

// The tangent is written over what the call has computed: V + V, and the results 2S.
// CHECK-LABEL: memory of function 'in_place'
// CHECK: live peak 8200 B
// NONE-LABEL: memory of function 'in_place'
func.func @in_place(%x: tensor<1024xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %c = "stablehlo.custom_call"(%x) <{call_target_name = "work", has_side_effect = false}> : (tensor<1024xf32>) -> tensor<1024xf32>
  %a = "stablehlo.tanh"(%c) : (tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.negate"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s : tensor<f32>, tensor<f32>
}

// Not if that is read later: V + 2V + 3S.
// CHECK-LABEL: memory of function 'read_later'
// CHECK: live peak 12300 B
// NONE-LABEL: memory of function 'read_later'
func.func @read_later(%x: tensor<1024xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %c = "stablehlo.custom_call"(%x) <{call_target_name = "work", has_side_effect = false}> : (tensor<1024xf32>) -> tensor<1024xf32>
  %a = "stablehlo.tanh"(%c) : (tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.negate"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %u = "stablehlo.custom_call"(%c, %s) <{call_target_name = "late", has_side_effect = false}> : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s, %u : tensor<f32>, tensor<f32>, tensor<f32>
}

// XLA executes first what takes nothing: the last sum is made before the tangent is written in the place
// of its operand, V + V + 3S.
// CHECK-LABEL: memory of function 'scheduled'
// CHECK: live peak 8204 B
// NONE-LABEL: memory of function 'scheduled'
func.func @scheduled(%x: tensor<1024xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %c = "stablehlo.custom_call"(%x) <{call_target_name = "work", has_side_effect = false}> : (tensor<1024xf32>) -> tensor<1024xf32>
  %a = "stablehlo.tanh"(%c) : (tensor<1024xf32>) -> tensor<1024xf32>
  %r = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.negate"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.reduce"(%b, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %u = "stablehlo.reduce"(%c, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s, %u : tensor<f32>, tensor<f32>, tensor<f32>
}

// A product with three dimensions is one of matrices, which no value of another shape is written over:
// the arguments V + V/4, the product V, the tangent V, the result V.
// CHECK-LABEL: memory of function 'over_product'
// CHECK: live peak 17408 B
// NONE-LABEL: memory of function 'over_product'
func.func @over_product(%x: tensor<4x16x16xf32>, %w: tensor<16x16xf32>) -> tensor<4x16x16xf32> {
  %a = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = []}> : (tensor<4x16x16xf32>, tensor<16x16xf32>) -> tensor<4x16x16xf32>
  %b = "stablehlo.tanh"(%a) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %c = "stablehlo.custom_call"(%b) <{call_target_name = "work", has_side_effect = false}> : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  return %c : tensor<4x16x16xf32>
}

// What a barrier holds must exist: 2V, the sum V and the result V.
// CHECK-LABEL: memory of function 'barrier'
// CHECK: live peak 16384 B
// NONE-LABEL: memory of function 'barrier'
func.func @barrier(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = "stablehlo.add"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %b = "stablehlo.optimization_barrier"(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
  %c = "stablehlo.negate"(%b) : (tensor<1024xf32>) -> tensor<1024xf32>
  return %c : tensor<1024xf32>
}

// What is scattered into zeros and added is scattered into the other summand. That is written, over
// what the call has computed; the scatter is in its place: V + V, indices and updates 2S, the
// result V.
// CHECK-LABEL: memory of function 'scattered'
// CHECK: live peak 12296 B
// NONE-LABEL: memory of function 'scattered'
func.func @scattered(%x: tensor<1024xf32>, %i: tensor<1x1xi32>, %u: tensor<1xf32>) -> tensor<1024xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %c = "stablehlo.custom_call"(%x) <{call_target_name = "work", has_side_effect = false}> : (tensor<1024xf32>) -> tensor<1024xf32>
  %a = "stablehlo.tanh"(%c) : (tensor<1024xf32>) -> tensor<1024xf32>
  %z = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1024xf32>
  %s = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<1024xf32>
  %d = "stablehlo.add"(%a, %s) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %e = "stablehlo.custom_call"(%d) <{call_target_name = "work", has_side_effect = false}> : (tensor<1024xf32>) -> tensor<1024xf32>
  return %e : tensor<1024xf32>
}

// The stack of eight is filled in place, the weights pass through, and what is carried is written over
// what it was: arguments 2V, the result 8V, the initial stack 8V; the carried vector starts as an
// argument and is copied, V; counter S and the byte of the comparison.
// CHECK-LABEL: memory of function 'loop'
// CHECK: live peak 77829 B
// NONE-LABEL: memory of function 'loop'
func.func @loop(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> tensor<8x1024xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %i0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %n = "stablehlo.constant"() <{value = dense<8> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %s0 = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x1024xf32>
  %r:4 = "stablehlo.while"(%i0, %x, %w, %s0) ({
  ^bb0(%i: tensor<i32>, %h: tensor<1024xf32>, %u: tensor<1024xf32>, %s: tensor<8x1024xf32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %h: tensor<1024xf32>, %u: tensor<1024xf32>, %s: tensor<8x1024xf32>):
    %h2 = "stablehlo.multiply"(%h, %u) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %row = "stablehlo.reshape"(%h2) : (tensor<1024xf32>) -> tensor<1x1024xf32>
    %s2 = "stablehlo.dynamic_update_slice"(%s, %row, %i, %i0) : (tensor<8x1024xf32>, tensor<1x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<8x1024xf32>
    %i2 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%i2, %h2, %u, %s2) : (tensor<i32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x1024xf32>) -> ()
  }) : (tensor<i32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x1024xf32>) -> (tensor<i32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x1024xf32>)
  %o = "stablehlo.negate"(%r#3) : (tensor<8x1024xf32>) -> tensor<8x1024xf32>
  return %o : tensor<8x1024xf32>
}

// Collectives read and write memory, and write nothing over what they read. Beside the argument V and
// the result S: while the sum is computed %a and %s, 2V; while it is gathered %s and %g, 3V; while that
// is scattered %g and %h, 2.5V.
// CHECK-LABEL: memory of function 'collectives'
// CHECK: live peak 16388 B
// NONE-LABEL: memory of function 'collectives'
func.func @collectives(%x: tensor<1024xf32>) -> tensor<f32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %a = "stablehlo.negate"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<1024xf32>) -> tensor<1024xf32>
  %g = "stablehlo.all_gather"(%s) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1024xf32>) -> tensor<2048xf32>
  %h = "stablehlo.reduce_scatter"(%g) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<2048xf32>) -> tensor<512xf32>
  %r = "stablehlo.reduce"(%h, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %t = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<512xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
