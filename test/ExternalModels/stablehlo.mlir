// RUN: remat-opt %s -test-remat-operation-models --allow-unregistered-dialect -verify-diagnostics -split-input-file

// The built-in table, on operations in generic form as JAX prints them.

func.func @constants() {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %1 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
  // Attributes of old files are discardable.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %2 = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  return
}

// -----

// 32 elements of 4 bytes.
func.func @elementwise(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %p: tensor<4x8xi1>) {
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 384}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 256}}
  %1 = "chlo.square"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 384}}
  %2 = "stablehlo.divide"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 256 (f32), bytes = 256}}
  %3 = "stablehlo.tanh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 512 (f32), bytes = 384}}
  %4 = "stablehlo.power"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 288}}
  %5 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 416}}
  %6 = "stablehlo.select"(%p, %a, %b) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 192}}
  %7 = "stablehlo.convert"(%a) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // expected-remark @+1 {{model: pure, flops = 256 (f32), bytes = 256}}
  %8 = "chlo.erf"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{result 0: none}}
  %c = "stablehlo.constant"() <{value = dense<2.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 256}}
  %9 = "stablehlo.multiply"(%a, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @views(%a: tensor<4x8xf32>, %t: tensor<2xf32>, %u: tuple<tensor<4xf32>, tensor<2xf32>>, %s: tensor<1xi32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %0 = "stablehlo.reshape"(%a) : (tensor<4x8xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, result 0: view of operand 0, result 1: view of operand 1, it is a barrier}}
  %1:2 = "stablehlo.optimization_barrier"(%a, %t) : (tensor<4x8xf32>, tensor<2xf32>) -> (tensor<4x8xf32>, tensor<2xf32>)
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %2 = "stablehlo.get_tuple_element"(%u) <{index = 1 : i32}> : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 272}}
  %3 = "stablehlo.tuple"(%a, %t) : (tensor<4x8xf32>, tensor<2xf32>) -> tuple<tensor<4x8xf32>, tensor<2xf32>>
  // Two rows are in one piece, two columns are not.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %4 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 3, 8>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 64}}
  %5 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x2xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 128}}
  %6 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4, 8>, start_indices = array<i64: 0, 0>, strides = array<i64: 2, 1>}> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, unread 0}}
  %7 = "stablehlo.get_dimension_size"(%a) <{dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<i32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %8 = "sdy.sharding_constraint"(%a) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @movement(%a: tensor<4x8xf32>, %r: tensor<8xf32>, %i: tensor<i32>, %u: tensor<1x8xf32>, %x: tensor<2x1xi32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 160}}
  %0 = "stablehlo.broadcast_in_dim"(%r) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 256}}
  %1 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 128}}
  %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<32xi32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 384}}
  %3 = "stablehlo.concatenate"(%a, %a) <{dimension = 0 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // The slice read and written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 64}}
  %4 = "stablehlo.dynamic_slice"(%a, %i, %i) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  // A copy with a changed row: 128 + 32 + 4 read, 128 written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 292}}
  %5 = "stablehlo.dynamic_update_slice"(%a, %u, %i, %i) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  // 8 bytes of indices, two rows read and written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 136}}
  %6 = "stablehlo.gather"(%a, %x) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @products(%a: tensor<2x4x8xbf16>, %b: tensor<2x8x3xbf16>, %x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) {
  // 24 outputs of 8 products and additions at the rate of bf16; 128 + 96 read, 96 written.
  // expected-remark @+1 {{model: pure, flops = 384 (bf16), bytes = 320}}
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8xbf16>, tensor<2x8x3xbf16>) -> tensor<2x4x3xf32>
  // 22 positions with an element in each direction (8 * 3 - 2), features 3 to 4, batch 2:
  // 2 * 2 * 4 * 3 * 22 * 22. 1536 + 432 read, 2048 written.
  // expected-remark @+1 {{model: pure, flops = 23232 (f32), bytes = 4016}}
  %1 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

// Bodies are the code of one element.
func.func @bodies(%a: tensor<4x8xf32>, %z: tensor<f32>, %i: tensor<2x1xi32>, %u: tensor<2x8xf32>, %w: tensor<2x4xf32>) {
  // 32 additions; 128 + 4 read, 32 written.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 32 (f32), bytes = 164}}
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  // 8 windows of 4 elements.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 32 (f32), bytes = 164}}
  %1 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
  // 8 elements of the source: 4 comparisons and an addition each.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 40 (f32), bytes = 292}}
  %2 = "stablehlo.select_and_scatter"(%a, %w, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  // 16 additions of updates; 128 + 8 + 64 read, 128 written.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 16 (f32), bytes = 328}}
  %3 = "stablehlo.scatter"(%a, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  // 32 * 5 comparisons.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 160 (f32), bytes = 256}}
  %4 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Random numbers from an explicit state may be drawn again, from a hidden one not.
func.func @random(%s: tensor<2xui64>, %l: tensor<f32>, %n: tensor<1xi64>) {
  // 32 * (2 + 8); 16 read, 16 + 32 written.
  // expected-remark @+1 {{model: pure, flops = 320 (ui64), bytes = 64}}
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  // expected-remark @+1 {{model: ordered, flops = 256 (f32), bytes = 44, it draws from hidden random state}}
  %1 = "stablehlo.rng"(%l, %l, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @communication(%a: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-remark @+1 {{model: ordered, recursive, per element, overridable, flops = 0, bytes = 32, it communicates with other devices}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: ordered, recursive, per element, overridable, flops = 0, bytes = 48, it communicates with other devices}}
  %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0}}
  %2 = "stablehlo.partition_id"() : () -> tensor<ui32>
  // 16 bytes written; a token takes none.
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 16, it communicates with the host or with other devices}}
  %3:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0}}
  %4 = "stablehlo.create_token"() : () -> !stablehlo.token
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0}}
  %5 = "stablehlo.after_all"(%4, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @calls(%a: tensor<4xf32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 32}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "f"}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 32}}
  %1 = "stablehlo.custom_call"(%a) <{call_target_name = "f", has_side_effect = false}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 32, it calls a function with side effects}}
  %2 = "stablehlo.custom_call"(%a) <{call_target_name = "f", has_side_effect = true}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %3 = "stablehlo.custom_call"(%a) <{call_target_name = "Sharding"}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: ordered, overridable, flops = 0, bytes = 32, it is a composite whose decomposition is not looked into}}
  %4 = "stablehlo.composite"(%a) <{decomposition = @f, name = "mine.f"}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A loop as lax.fori_loop makes it, and one whose number of rounds depends on the data.
func.func @control(%a: tensor<4xf32>, %n: tensor<i32>, %p: tensor<i1>) {
  // expected-remark @+1 {{result 0: none}}
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 12}}
  %0:2 = "stablehlo.while"(%zero, %a) ({
  ^bb0(%i: tensor<i32>, %x: tensor<4xf32>):
    // expected-remark @+1 {{result 0: none}}
    %l = "stablehlo.constant"() <{value = dense<12> : tensor<i32>}> : () -> tensor<i32>
    // expected-remark @+1 {{flops = 1 (i32), bytes = 5}}
    %c = "stablehlo.compare"(%i, %l) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<4xf32>):
    // expected-remark @+1 {{flops = 4 (f32), bytes = 32}}
    %y = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-remark @+1 {{result 0: none}}
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    // expected-remark @+1 {{flops = 1 (i32), bytes = 8}}
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %y) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  %1 = "stablehlo.while"(%n) ({
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %2 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @types(%d: tensor<?xf32, #stablehlo.bounds<8>>, %z: tensor<0x4xf32>, %c: tensor<4xcomplex<f32>>,
                 %i: tensor<6xi4>, %q: tensor<4x!quant.uniform<i8:f32, 1.0>>, %e: tensor<4xf8E4M3FN>) {
  // expected-remark @+1 {{model: pure, cost unknown}}
  %0 = "stablehlo.abs"(%d) : (tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<?xf32, #stablehlo.bounds<8>>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0}}
  %1 = "stablehlo.abs"(%z) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  // expected-remark @+1 {{model: pure, flops = 4 (f32), bytes = 48}}
  %2 = "stablehlo.real"(%c) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // expected-remark @+1 {{model: pure, flops = 6 (i4), bytes = 12}}
  %3 = "stablehlo.not"(%i) : (tensor<6xi4>) -> tensor<6xi4>
  // expected-remark @+1 {{model: pure, flops = 8 (f32), bytes = 20}}
  %4 = "stablehlo.uniform_dequantize"(%q) : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4xf32>
  // expected-remark @+1 {{model: pure, flops = 4 (f32), bytes = 20}}
  %5 = "stablehlo.convert"(%e) : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  // expected-remark @+1 {{no model}}
  %6 = "stablehlo.no_such_operation"(%e) : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return
}
