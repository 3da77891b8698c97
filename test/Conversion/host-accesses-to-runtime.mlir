// RUN: remat-opt %s -remat-host-accesses-to-runtime -split-input-file -verify-diagnostics | FileCheck %s

// Numbers on the device are read and written by the runtime library, constants by the host.

memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>

// CHECK-LABEL: func.func @loads(
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf32, strided<[16, 2], offset: 3>>
// CHECK:         %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:         %[[ADDRESS:.*]] = arith.addi %[[BASE]], %{{.*}} : index
// CHECK-NEXT:    %[[BITS:.*]] = call @rematDeviceLoad(%[[ADDRESS]], %c4{{.*}}) : (index, index) -> i64
// CHECK-NEXT:    %[[LOW:.*]] = arith.trunci %[[BITS]] : i64 to i32
// CHECK-NEXT:    %[[FLOAT:.*]] = arith.bitcast %[[LOW]] : i32 to f32
// CHECK:         call @rematDeviceLoad(%{{.*}}, %c1{{.*}})
// CHECK-NEXT:    arith.trunci %{{.*}} : i64 to i1
// CHECK:         call @rematDeviceLoad(%{{.*}}, %c8{{.*}})
// CHECK-NEXT:    arith.index_cast %{{.*}} : i64 to index
// CHECK:         call @rematDeviceLoad(%{{.*}}, %c8{{.*}})
// CHECK-NEXT:    arith.bitcast %{{.*}} : i64 to f64
// CHECK:         memref.load %{{.*}} : memref<4xf32>
// CHECK:         return %[[FLOAT]]
func.func @loads(%x: memref<4x8xf32, strided<[16, 2], offset: 3>>, %b: memref<i1>, %n: memref<index>,
                 %d: memref<f64>, %i: index) -> (f32, i1, index, f64, f32) {
  %0 = memref.load %x[%i, %i] : memref<4x8xf32, strided<[16, 2], offset: 3>>
  %1 = memref.load %b[] : memref<i1>
  %2 = memref.load %n[] : memref<index>
  %3 = memref.load %d[] : memref<f64>
  %table = memref.get_global @table : memref<4xf32>
  %4 = memref.load %table[%i] : memref<4xf32>
  return %0, %1, %2, %3, %4 : f32, i1, index, f64, f32
}

// CHECK-LABEL: func.func @stores(
// CHECK:         %[[BITS:.*]] = arith.bitcast %{{.*}} : bf16 to i16
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extui %[[BITS]] : i16 to i64
// CHECK-NEXT:    call @rematDeviceStore(%{{.*}}, %c2{{.*}}, %[[WIDE]]) : (index, index, i64) -> ()
// CHECK:         call @rematDeviceStore(%{{.*}}, %c8{{.*}}, %{{.*}})
// CHECK-NOT:     memref.store
func.func @stores(%x: memref<8xbf16>, %value: bf16, %n: memref<i64>, %number: i64, %i: index) {
  memref.store %value, %x[%i] : memref<8xbf16>
  memref.store %number, %n[] : memref<i64>
  return
}

// -----

func.func @complex(%x: memref<complex<f32>>) -> complex<f32> {
  // expected-error @+1 {{'memref.load' of 'complex<f32>' is left to the host, which reads and writes numbers of 1, 8, 16, 32 or 64 bits on a GPU}}
  %0 = memref.load %x[] : memref<complex<f32>>
  return %0 : complex<f32>
}
