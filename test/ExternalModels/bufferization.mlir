// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

// Crossing between tensors and buffers copies nothing and keeps its place.
func.func @borders(%m: memref<4xf32>, %t: tensor<4xf32>) {
  // expected-remark @+1 {{model: reads, flops = 0, bytes = 0, result 0: view of operand 0, it reads memory that may change}}
  %0 = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  // expected-remark @+1 {{model: reads, flops = 0, bytes = 0, result 0: view of operand 0, it gives access to the buffer of a tensor}}
  %1 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
  return
}

// -----

func.func @allocations(%t: tensor<4xf32>, %m: memref<4xf32>, %p: i1) {
  // Like tensor.empty.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %0 = bufferization.alloc_tensor() : tensor<4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 32}}
  %1 = bufferization.alloc_tensor() copy(%t) : tensor<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 32, it allocates memory}}
  %2 = bufferization.clone %m : memref<4xf32> to memref<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it frees memory}}
  bufferization.dealloc (%m : memref<4xf32>) if (%p)
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it frees memory}}
  bufferization.dealloc_tensor %1 : tensor<4xf32>
  return
}

// -----

func.func @materialize(%a: tensor<4xf32>, %b: tensor<4xf32>, %m: memref<4xf32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 32, result 0: reuse of operand 1, unread 1}}
  %0 = bufferization.materialize_in_destination %a in %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 32, unread 1, it writes to memory}}
  bufferization.materialize_in_destination %a in writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
