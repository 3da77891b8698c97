// RUN: remat-opt %s -split-input-file -remat-outline-kernels="loops=true fills=true" -remat-kernels-to-gpu | FileCheck %s

// Elements: one thread for each, neighbours for neighbours.
// CHECK-LABEL: func.func @elements
// CHECK:         %[[BLOCKS:.+]] = arith.constant 4 : index
// CHECK:         %[[THREADS:.+]] = arith.constant 256 : index
// CHECK:         gpu.launch_func @kernels::@exp_kernel blocks in (%[[BLOCKS]], %{{.+}}, %{{.+}}) threads in (%[[THREADS]],
// CHECK-SAME:      args(%arg0 : memref<3x301xf32>, %arg1 : memref<3x301xf32>)
// A recomputed value comes from the same kernel.
// CHECK:         gpu.launch_func @kernels::@exp_kernel
// CHECK-SAME:      args(%arg0 : memref<3x301xf32>, %arg2 : memref<3x301xf32>)
// CHECK-LABEL: gpu.module @kernels
// CHECK:         gpu.func @exp_kernel(%arg0: memref<3x301xf32> {llvm.align = 256 : i64, llvm.noalias}, %arg1: memref<3x301xf32> {llvm.align = 256 : i64, llvm.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK:           %[[X:.+]] = memref.collapse_shape %arg0
// CHECK:           %[[Y:.+]] = memref.collapse_shape %arg1
// CHECK-DAG:       %[[THREAD:.+]] = gpu.thread_id x
// CHECK-DAG:       %[[BLOCK:.+]] = gpu.block_id x
// CHECK:           %[[FIRST:.+]] = arith.muli %[[BLOCK]]
// CHECK:           %[[POINT:.+]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK:           %[[VALID:.+]] = arith.cmpi ult, %[[POINT]]
// CHECK:           scf.if %[[VALID]] {
// CHECK:             %[[V:.+]] = memref.load %[[X]][%[[POINT]]]
// CHECK:             %[[E:.+]] = math.exp %[[V]]
// CHECK:             memref.store %[[E]], %[[Y]][%[[POINT]]]
// CHECK-NOT:       linalg
func.func @elements(%x: memref<3x301xf32>, %y: memref<3x301xf32>, %z: memref<3x301xf32>) {
  linalg.exp ins(%x : memref<3x301xf32>) outs(%y : memref<3x301xf32>)
  linalg.exp ins(%x : memref<3x301xf32>) outs(%z : memref<3x301xf32>)
  return
}

// -----

// Terms that are neighbours go to neighbouring threads, 32 of them for each of 8 results.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK-SAME:    workgroup(%[[SHARED:.+]] : memref<32x8xf32, #gpu.address_space<workgroup>>) kernel
// CHECK:         %[[SUM:.+]] = scf.if %{{.+}} -> (f32) {
// CHECK:           scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%{{.+}} = %{{.+}}) -> (f32) {
// CHECK:         memref.store %[[SUM]], %[[SHARED]]
// CHECK-COUNT-5: gpu.barrier
// CHECK-NOT:     gpu.barrier
func.func @rows(%x: memref<100x64xf32>, %y: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<100x64xf32>) outs(%y : memref<100xf32>)
      dimensions = [1]
  return
}

// -----

// Results that are neighbours: 32 of them in a block, whose terms are shared by 8 threads.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK-SAME:    workgroup(%{{.+}} : memref<8x32xf32, #gpu.address_space<workgroup>>) kernel
// CHECK-COUNT-3: gpu.barrier
// CHECK-NOT:     gpu.barrier
func.func @columns(%x: memref<64x100xf32>, %y: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<64x100xf32>) outs(%y : memref<100xf32>)
      dimensions = [0]
  return
}

// -----

// Where no number leaves sums as they are, one thread adds all terms, in order.
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK-NOT:     gpu.barrier
func.func @ordered(%x: memref<8x64xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x64xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What has no elements needs no kernel.
// CHECK-LABEL: func.func @empty
// CHECK-NOT:     gpu.launch_func
func.func @empty(%x: memref<0x64xf32>, %y: memref<0x64xf32>) {
  linalg.exp ins(%x : memref<0x64xf32>) outs(%y : memref<0x64xf32>)
  return
}

// -----

// A loop that reads where it writes is executed by one block, whose threads wait for each other
// around all that is written.
// CHECK-LABEL: func.func @scatter
// CHECK:         gpu.launch_func @kernels::@for_kernel
// CHECK-LABEL: gpu.func @for_kernel
// CHECK:         %[[THREAD:.+]] = gpu.thread_id x
// CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD]]
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           gpu.barrier
// CHECK:           scf.for %{{.+}} = %[[THREAD]]
// CHECK:             arith.addf
// CHECK:           gpu.barrier
// CHECK:           gpu.barrier
// CHECK:           scf.if %[[FIRST]] {
// CHECK-NEXT:        memref.store
// CHECK:           gpu.barrier
func.func @scatter(%rows: memref<8xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>,
                   %last: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %rows[%i] : memref<8xi32>
    %row = arith.index_cast %0 : i32 to index
    %from = memref.subview %x[%i, 0] [1, 16] [1, 1]
        : memref<8x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    %to = memref.subview %y[%row, 0] [1, 16] [1, 1]
        : memref<4x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    linalg.add ins(%from, %to : memref<16xf32, strided<[1], offset: ?>>,
                   memref<16xf32, strided<[1], offset: ?>>)
        outs(%to : memref<16xf32, strided<[1], offset: ?>>)
    memref.store %0, %last[] : memref<i32>
  }
  return
}

// -----

// Kernels have constants of their own.
// CHECK-LABEL: gpu.module @kernels
// CHECK:         memref.global "private" constant @weights : memref<4xf32> = {{.+}} {alignment = 16 : i64}
// CHECK:         gpu.func @add_kernel(%{{.*}}: memref<4xf32>{{.*}}, %{{.*}}: memref<4xf32>{{.*}}) kernel
// CHECK:           memref.get_global @weights
memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @constants(%x: memref<4xf32>, %y: memref<4xf32>) {
  %w = memref.get_global @weights : memref<4xf32>
  linalg.add ins(%x, %w : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// What fills the results of a reduction is where the sums begin.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK-SAME:    (%[[Y:[^:]+]]: memref<100xf32> {{.*}}, %{{[^:]+}}: memref<100x64xf32> {{.*}})
// CHECK:         %[[ONE:.+]] = arith.constant 1.0
// CHECK-NOT:     memref.load %[[Y]]
// CHECK:         %[[RESULT:.+]] = arith.addf %[[ONE]], %{{.+}}
// CHECK:         memref.store %[[RESULT]], %[[Y]]
func.func @start(%x: memref<100x64xf32>, %y: memref<100xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%y : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<100x64xf32>) outs(%y : memref<100xf32>)
      dimensions = [1]
  return
}
