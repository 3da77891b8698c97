// RUN: remat-opt %s -split-input-file -remat-outline-kernels=loops=true -remat-kernels-to-gpu | FileCheck %s

// Rows of a gradient: each of 50 blocks owns every 50th row, looks for the iterations that change those, 32 at
// a time, and executes them in their order. The temporary is in shared memory.
// CHECK-LABEL: func.func @embedding
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 50 : index
// CHECK-DAG:     %[[THREADS:.+]] = arith.constant 64 : index
// CHECK:         gpu.launch_func @kernels::@for_kernel blocks in (%[[BLOCKS]], {{.+}}) threads in (%[[THREADS]],
// CHECK-LABEL: gpu.func @for_kernel
// CHECK-SAME:    workgroup(%[[SUM:.+]] : memref<40xf32, #gpu.address_space<workgroup>>)
// CHECK:         %[[BLOCK:.+]] = gpu.block_id x
// CHECK:         scf.for %[[GROUP:.+]] =
// CHECK:           %[[EXISTS:.+]] = arith.cmpi ult, %{{.+}}, %c70
// CHECK:           %[[KNOWN:.+]] = arith.select %[[EXISTS]]
// CHECK:           memref.load %{{.+}}[%[[KNOWN]]] : memref<70xi32>
// CHECK:           %[[OWNER:.+]] = arith.remui %{{.+}}, %c50
// CHECK:           %[[OWNS:.+]] = arith.cmpi eq, %[[OWNER]], %[[BLOCK]]
// CHECK:           %[[OWN:.+]] = arith.andi %[[EXISTS]], %[[OWNS]]
// CHECK:           %[[MASK:.+]] = nvvm.vote.sync ballot %{{.+}}, %[[OWN]] -> i32
// CHECK:           scf.while (%{{.+}} = %[[MASK]])
// CHECK:             math.cttz
// CHECK:             %[[ITERATION:.+]] = arith.addi %[[GROUP]]
// CHECK:             %[[LOADED:.+]] = memref.load %{{.+}}[%[[ITERATION]]] : memref<70xi32>
// CHECK:             %[[ROW:.+]] = arith.index_cast %[[LOADED]]
// CHECK:             memref.subview %{{.+}}[%[[ROW]], 0] [1, 40] [1, 1]
// CHECK:             gpu.barrier
// CHECK:             memref.store %{{.+}}, %[[SUM]]
// CHECK:             gpu.barrier
func.func @embedding(%rows: memref<70xi32>, %x: memref<70x40xf32>, %y: memref<50x40xf32>, %arena: memref<1024xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c70 step %c1 {
    %0 = memref.load %rows[%i] : memref<70xi32>
    %row = arith.index_cast %0 : i32 to index
    %from = memref.subview %x[%i, 0] [1, 40] [1, 1] : memref<70x40xf32> to memref<40xf32, strided<[1], offset: ?>>
    %to = memref.subview %y[%row, 0] [1, 40] [1, 1] : memref<50x40xf32> to memref<40xf32, strided<[1], offset: ?>>
    %sum = memref.view %arena[%c256][] : memref<1024xi8> to memref<40xf32>
    linalg.add ins(%from, %to : memref<40xf32, strided<[1], offset: ?>>, memref<40xf32, strided<[1], offset: ?>>)
        outs(%sum : memref<40xf32>)
    linalg.copy ins(%sum : memref<40xf32>) outs(%to : memref<40xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

// Elements, in every second iteration: of one warp in each block, for there is no more to do.
// CHECK-LABEL: func.func @elements
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 20 : index
// CHECK-DAG:     %[[THREADS:.+]] = arith.constant 32 : index
// CHECK:         gpu.launch_func @kernels::@for_kernel blocks in (%[[BLOCKS]], {{.+}}) threads in (%[[THREADS]],
// CHECK-LABEL: gpu.func @for_kernel
// CHECK:         scf.for %{{.+}} = %c3{{.*}} to %c43{{.*}} step %c64
// CHECK:           nvvm.vote.sync
func.func @elements(%rows: memref<64xindex>, %x: memref<64xf32>, %y: memref<8x16xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c43 = arith.constant 43 : index
  scf.for %i = %c3 to %c43 step %c2 {
    %row = memref.load %rows[%i] : memref<64xindex>
    %0 = memref.load %x[%i] : memref<64xf32>
    %1 = memref.load %y[%c2, %row] : memref<8x16xf32>
    %2 = arith.maximumf %0, %1 : f32
    memref.store %2, %y[%c2, %row] : memref<8x16xf32>
  }
  return
}

// -----

// One block where more than a row is read, two tables are written, which row it is depends on what is written,
// a temporary has what an earlier iteration left, or memory may be that of another argument.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT:     nvvm.vote.sync
func.func @one_block(%rows: memref<64xindex>, %x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>,
                     %w: memref<64xindex>, %arena: memref<1024xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = memref.view %arena[%c0][] : memref<1024xi8> to memref<f32>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %rows[%i] : memref<64xindex>
    %0 = memref.load %y[%c0] : memref<64xf32>
    memref.store %0, %y[%row] : memref<64xf32>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %rows[%i] : memref<64xindex>
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %y[%row] : memref<64xf32>
    memref.store %0, %z[%row] : memref<64xf32>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %w[%i] : memref<64xindex>
    memref.store %i, %w[%row] : memref<64xindex>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %rows[%i] : memref<64xindex>
    %0 = memref.load %x[%i] : memref<64xf32>
    %1 = memref.load %sum[] : memref<f32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %sum[] : memref<f32>
    memref.store %2, %y[%row] : memref<64xf32>
  }
  %half = memref.subview %y[0] [32] [1] : memref<64xf32> to memref<32xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %rows[%i] : memref<64xindex>
    %0 = memref.load %y[%i] : memref<64xf32>
    memref.store %0, %half[%row] : memref<32xf32>
  }
  return
}

// -----

// A temporary is written as a whole before it is read.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT:     nvvm.vote.sync
func.func @read_first(%rows: memref<64xindex>, %x: memref<64xf32>, %y: memref<64xf32>, %arena: memref<1024xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %row = memref.load %rows[%i] : memref<64xindex>
    %0 = memref.load %x[%i] : memref<64xf32>
    %sum = memref.view %arena[%c0][] : memref<1024xi8> to memref<f32>
    %1 = memref.load %sum[] : memref<f32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %sum[] : memref<f32>
    memref.store %2, %y[%row] : memref<64xf32>
  }
  return
}
