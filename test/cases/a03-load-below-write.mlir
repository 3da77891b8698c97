// What was read from a buffer is not computed again, nor moved, below a write that may change the
// buffer, whether the write goes through a view or not.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!m64 = memref<64x262144xf32>
!t96 = tensor<96x262144xf32>

// Nothing writes the buffer between the two uses (all calls are without effects): the exponential
// may be computed again. At %b: arguments 1 and 64, %l 1, %b 96. (The tensor is the buffer, not a
// copy.)

// FACTS: unwritten packed: 226 MiB -> 162 MiB
// FACTS: unwritten recomputed: 1 x math.exp, 64 MiB

// CHECK-LABEL: func.func @unwritten
// CHECK:       %[[T:.+]] = bufferization.to_tensor
// CHECK-NOT:   bufferization.to_tensor
// CHECK:       %[[HELD:.+]] = remat.barrier %[[T]] after
// CHECK-NEXT:  math.exp %[[HELD]]
// CHECK:       return
func.func @unwritten(%x: !t1, %buffer: !m64) -> !t1 {
  %t = bufferization.to_tensor %buffer restrict : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "stablehlo.custom_call"(%y) <{call_target_name = "use"}> : (!t64) -> !t1
  %b = "stablehlo.custom_call"(%l) <{call_target_name = "big"}> : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use"}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%y, %m) <{call_target_name = "bwd"}> : (!t64, !t1) -> !t1
  return %d : !t1
}

// Overwritten in between: the clone would read what was written. Arguments 1 and 64, %y 64, %l 1,
// %b 96.

// FACTS:     overwritten minimum: 226 MiB
// FACTS-NOT: overwritten recomputed

// CHECK-LABEL: func.func @overwritten
// CHECK:       math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @overwritten(%x: !t1, %buffer: !m64) -> !t1 {
  %t = bufferization.to_tensor %buffer restrict : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%buffer : !m64)
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The same through a view of the buffer, and to a single element.

// FACTS:     view minimum: 226 MiB
// FACTS-NOT: view recomputed

// CHECK-LABEL: func.func @view
// CHECK:       math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @view(%x: !t1, %buffer: !m64) -> !t1 {
  %row = memref.subview %buffer[3, 0] [1, 262144] [1, 1] : !m64 to memref<262144xf32, strided<[1], offset: 786432>>
  %t = bufferization.to_tensor %buffer restrict : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  memref.store %zero, %row[%c0] : memref<262144xf32, strided<[1], offset: 786432>>
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The tensor may be a view, too: the reshape of %t is the buffer.

// FACTS:     reshaped minimum: 226 MiB
// FACTS-NOT: reshaped recomputed

// CHECK-LABEL: func.func @reshaped
// CHECK:       math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @reshaped(%x: !t1, %buffer: !m64) -> !t1 {
  %t = bufferization.to_tensor %buffer restrict : !m64 to !t64
  %v = tensor.collapse_shape %t [[0, 1]] : !t64 into tensor<16777216xf32>
  %y = math.exp %v : tensor<16777216xf32>
  %l = "test.use"(%y) : (tensor<16777216xf32>) -> !t1
  "test.write"(%buffer) : (!m64) -> ()
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<16777216xf32>, !t1) -> !t1
  return %d : !t1
}

// Only the backward part uses the exponential, and the buffer has been overwritten before: moving
// it there would change it. Arguments 1 and 64, %y 64, %l 1, %b 96.

// FACTS:     not_moved minimum: 226 MiB
// FACTS-NOT: not_moved {{recomputed|moved}}

// CHECK-LABEL: func.func @not_moved
// CHECK:       math.exp
// CHECK:       linalg.fill
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @not_moved(%x: !t1, %buffer: !m64) -> !t1 {
  %t = bufferization.to_tensor %buffer restrict : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "test.use"(%x) : (!t1) -> !t1
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%buffer : !m64)
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Nor does the operation that reads memory itself: a gather from a buffer inside of a body.
// Arguments 1 and 4 B, %y 64, %l 1, %b 96.

// FACTS:     body minimum: 162 MiB + 64 B
// FACTS-NOT: body recomputed

// CHECK-LABEL: func.func @body
// CHECK:       memref.load
// CHECK-NOT:   memref.load
// CHECK:       return
func.func @body(%x: !t1, %scale: memref<f32>) -> !t1 {
  %y = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = memref.load %scale[] : memref<f32>
    tensor.yield %s : f32
  } : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  "test.write"(%scale) : (memref<f32>) -> ()
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A running maximum (1 MiB) that is read, used and updated. The clone would have to use the old
// one, which is gone. Arguments 1 and 1, %y 64, %l 1, %b 96.

// FACTS:     running minimum: 163 MiB
// FACTS-NOT: running recomputed

// CHECK-LABEL: func.func @running
// CHECK:       "stablehlo.broadcast_in_dim"
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @running(%x: !t1, %maximum: memref<1x262144xf32>) -> !t1 {
  %old = bufferization.to_tensor %maximum restrict : memref<1x262144xf32> to !t1
  %y = "stablehlo.broadcast_in_dim"(%old) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %new = arith.maximumf %old, %l : !t1
  bufferization.materialize_in_destination %new in writable %maximum : (!t1, memref<1x262144xf32>) -> ()
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The other way round: a tensor whose buffer is written; computing %y again would keep it, 8 MiB,
// and read what was written. At test.big: argument 1, %y 64, %l 1, %b 96.

// FACTS:     written_behind minimum: 162 MiB
// FACTS-NOT: written_behind recomputed

// CHECK-LABEL: func.func @written_behind
// CHECK:       "stablehlo.broadcast_in_dim"
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @written_behind(%x: !t1) -> !t1 {
  %t = "test.make"(%x) : (!t1) -> tensor<8x262144xf32>
  %y = "stablehlo.broadcast_in_dim"(%t) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x262144xf32>) -> tensor<8x8x262144xf32>
  %l = "test.use"(%y) : (tensor<8x8x262144xf32>) -> !t1
  %buffer = bufferization.to_buffer %t : tensor<8x262144xf32> to memref<8x262144xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%buffer : memref<8x262144xf32>)
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<8x8x262144xf32>, !t1) -> !t1
  return %d : !t1
}
