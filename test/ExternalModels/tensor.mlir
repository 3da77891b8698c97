// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

func.func @views(%a: tensor<4x6xf32>, %n: index, %shape: tensor<1xi32>, %d: tensor<?x6xf32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %0 = tensor.empty() : tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %1 = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %2 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %3 = tensor.cast %a : tensor<4x6xf32> to tensor<?x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %4 = tensor.bitcast %a : tensor<4x6xf32> to tensor<4x6xi32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %5 = tensor.reshape %a(%shape) : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<24xf32>
  // Only the type is looked at.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, unread 0}}
  %6 = tensor.dim %d, %n : tensor<?x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, unread 0}}
  %7 = tensor.rank %d : tensor<?x6xf32>
  return
}

// -----

// A slice in one piece is a view; others are copied.
func.func @slices(%a: tensor<4x8x16xf32>, %n: index) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %0 = tensor.extract_slice %a[1, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<2x8x16xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %1 = tensor.extract_slice %a[%n, 3, 0] [1, 2, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<2x16xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %2 = tensor.extract_slice %a[%n, 0, 0] [%n, 8, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<?x8x16xf32>
  // 4 * 2 * 16 elements read and written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 1024}}
  %3 = tensor.extract_slice %a[0, 0, 0] [4, 2, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<4x2x16xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 2048}}
  %4 = tensor.extract_slice %a[0, 0, 0] [2, 8, 16] [2, 1, 1] : tensor<4x8x16xf32> to tensor<2x8x16xf32>
  // expected-remark @+1 {{model: pure, cost unknown}}
  %5 = tensor.extract_slice %a[0, 0, 0] [2, %n, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<2x?x16xf32>
  return
}

// -----

// Destination passing: the destination is updated in place.
func.func @inserts(%a: tensor<2x6xf32>, %b: tensor<4x6xf32>, %f: f32, %n: index, %i: tensor<2x1xindex>) {
  // 12 elements read and written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 96, result 0: reuse of operand 1}}
  %0 = tensor.insert_slice %a into %b[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 4, result 0: reuse of operand 1}}
  %1 = tensor.insert %f into %b[%n, %n] : tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 4}}
  %2 = tensor.extract %b[%n, %n] : tensor<4x6xf32>
  // Source and indices (16 bytes) read, 12 elements written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 112, result 0: reuse of operand 1}}
  %3 = tensor.scatter %a into %b[%i] scatter_dims([0]) unique : (tensor<2x6xf32>, tensor<4x6xf32>, tensor<2x1xindex>) -> tensor<4x6xf32>
  return
}

// -----

func.func @movement(%a: tensor<4x6xf32>, %f: f32, %i: tensor<2x1xindex>) {
  // 96 + 96 read, 192 written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 288}}
  %0 = tensor.concat dim(0) %a, %a : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  // 96 read, 6 * 6 * 4 written.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 0, bytes = 240}}
  %1 = tensor.pad %a low[1, 0] high[1, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } : tensor<4x6xf32> to tensor<6x6xf32>
  // 16 bytes of indices, 12 elements read and written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 112}}
  %2 = tensor.gather %a[%i] gather_dims([0]) : (tensor<4x6xf32>, tensor<2x1xindex>) -> tensor<2x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 96}}
  %3 = tensor.splat %f : tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 8}}
  %4 = tensor.from_elements %f, %f : tensor<2xf32>
  // 24 elements of one addition each.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 24 (f32), bytes = 96}}
  %5 = tensor.generate {
  ^bb0(%x: index, %y: index):
    %g = arith.addf %f, %f : f32
    tensor.yield %g : f32
  } : tensor<4x6xf32>
  return
}

// -----

// What a body does to memory counts: the model says so by "recursive".
func.func @effects(%m: memref<4xf32>) {
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 0, bytes = 16}}
  %0 = tensor.generate {
  ^bb0(%x: index):
    %g = memref.load %m[%x] : memref<4xf32>
    tensor.yield %g : f32
  } : tensor<4xf32>
  return
}

// -----

// One insertion for each thread, into the destination of the loop.
func.func @parallel_insert(%a: tensor<6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 4, result 0: reuse of operand 0}}
  %0 = scf.forall (%i) in (4) shared_outs(%o = %b) -> tensor<4x6xf32> {
    // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
    scf.forall.in_parallel {
      // expected-remark @+1 {{model: pure, flops = 0, bytes = 48}}
      tensor.parallel_insert_slice %a into %o[%i, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<4x6xf32>
    }
  }
  return %0 : tensor<4x6xf32>
}
