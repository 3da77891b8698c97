// RUN: remat-opt %s --remat-number-operations --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NUMBER
// RUN: remat-opt %s --remat-number-operations --remat-fit-arena --remat-time-operations | FileCheck %s
// RUN: remat-opt %s --remat-number-operations --remat-fit-arena --remat-time-operations --remat-library-calls-to-runtime --remat-outline-kernels | FileCheck %s --check-prefix=KERNELS

// What is inside of an operation has its number.
// NUMBER-LABEL: func @step(
// NUMBER:         tensor.empty() {{.*}} loc(fused<{remat.operation = 0 : i64}>
// NUMBER:         math.exp {{.*}} loc(fused<{remat.operation = 1 : i64}>
// NUMBER:         scf.for
// NUMBER:           linalg.add {{.*}} loc(fused<{remat.operation = 5 : i64}>
// NUMBER:         } loc(fused<{remat.operation = 5 : i64}>
// NUMBER:         call @called({{.*}} loc(fused<{remat.operation = 6 : i64}>
// NUMBER:         return {{.*}} loc(fused<{remat.operation = 10 : i64}>
// NUMBER-LABEL: func private @called(
// NUMBER-NOT:     fused

// Splat constants, empty tensors and views take no time; what becomes a copy and a loop is one
// operation.
// CHECK: func.func private @rematRecordTime(index, index)
// CHECK-LABEL: func @step(
// CHECK-SAME:    %[[TIMES:[a-z0-9]+]]: memref<6xi64> {remat.times})
// CHECK-SAME:    remat.timed_operations = array<i64: 1, 5, 6, 7, 8>
// CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[TIMES]]
// CHECK:         call @rematRecordTime(%[[ADDRESS]], %{{.*}})
// CHECK:         math.exp
// CHECK:         %[[NEXT:.*]] = arith.constant 1 : index
// CHECK-NEXT:    call @rematRecordTime(%[[ADDRESS]], %[[NEXT]])
// CHECK-NOT:     rematRecordTime
// CHECK:         scf.for
// CHECK:         rematRecordTime
// CHECK:         call @called
// CHECK:         %[[LAST:.*]] = arith.constant 5 : index
// CHECK-NEXT:    call @rematRecordTime(%[[ADDRESS]], %[[LAST]])
// CHECK-NEXT:    return
// CHECK-LABEL: func private @called(
// CHECK-NOT:     rematRecordTime

// KERNELS-LABEL: func @step(
// KERNELS-COUNT-6: call @rematRecordTime
// KERNELS-NOT:   call @rematRecordTime
func.func @step(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %a = math.exp %x : tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %l = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %a) -> tensor<8x8xf32> {
    %s = linalg.add ins(%sum, %a : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %s : tensor<8x8xf32>
  }
  %c = call @called(%l) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %c : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%l : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = arith.mulf %m, %a : tensor<8x8xf32>
  %v = tensor.collapse_shape %p [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  return %m, %v : tensor<8x8xf32>, tensor<64xf32>
}
func.func private @called(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = math.tanh %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
