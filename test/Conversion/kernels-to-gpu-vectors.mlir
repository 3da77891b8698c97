// RUN: remat-opt %s -split-input-file -remat-outline-kernels=loops=true -remat-kernels-to-gpu | FileCheck %s

// A thread has four neighbours of f32: 16 bytes at once. What all of them read is loaded once, and what is
// not from a multiple of four on, one by one.
// CHECK-LABEL: func.func @elements
// CHECK:         arith.constant 2 : index
// CHECK:         gpu.launch_func
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK-SAME:    (%[[X:.+]]: memref<32x64xf32> {llvm.align = 256 : i64, llvm.noalias}, %[[ROW:.+]]: memref<32xf32> {{.*}}, %[[ODD:.+]]: memref<32x64xf32, strided<[65, 1], offset: 1>> {{.*}}, %[[Y:.+]]: memref<32x64xf32>
// CHECK:         %[[STEP:.+]] = arith.remui
// CHECK:         %[[COLUMN:.+]] = arith.muli %[[STEP]], %{{.+}}
// CHECK:         vector.load %[[X]][%{{.+}}, %[[COLUMN]]] {alignment = 16 : i64} : memref<32x64xf32>, vector<4xf32>
// CHECK:         memref.load %[[ROW]]
// CHECK-NOT:     memref.load %[[ROW]]
// CHECK-COUNT-4: memref.load %[[ODD]]
// CHECK-COUNT-4: math.exp
// CHECK:         %[[RESULT:.+]] = vector.from_elements
// CHECK:         vector.store %[[RESULT]], %[[Y]][%{{.+}}, %[[COLUMN]]] {alignment = 16 : i64}
// CHECK-NOT:     memref.store
func.func @elements(%x: memref<32x64xf32>, %row: memref<32xf32>,
                    %odd: memref<32x64xf32, strided<[65, 1], offset: 1>>, %y: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                   affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %row, %odd : memref<32x64xf32>, memref<32xf32>,
          memref<32x64xf32, strided<[65, 1], offset: 1>>)
      outs(%y : memref<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// Eight of bf16. A part that begins at a multiple of eight elements is as good as a whole.
// CHECK-LABEL: gpu.func @exp_kernel
// CHECK:         vector.load {{.+}} {alignment = 16 : i64} : memref<64xbf16, strided<[1], offset: 8>>, vector<8xbf16>
// CHECK-COUNT-8: math.exp
// CHECK:         vector.store
func.func @bf16(%x: memref<64xbf16, strided<[1], offset: 8>>, %y: memref<64xbf16>) {
  linalg.exp ins(%x : memref<64xbf16, strided<[1], offset: 8>>) outs(%y : memref<64xbf16>)
  return
}

// -----

// The widest element counts; elements of a bit are no vectors.
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK-SAME:    %[[X:[^:]+]]: memref<64xbf16>
// CHECK-SAME:    %[[MASK:[^:]+]]: memref<64xi1>
// CHECK:         vector.load %[[X]]{{.+}} {alignment = 8 : i64} : memref<64xbf16>, vector<4xbf16>
// CHECK-COUNT-4: memref.load %[[MASK]]
// CHECK-COUNT-4: arith.select
// CHECK:         vector.store {{.+}} {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
func.func @mixed(%x: memref<64xbf16>, %mask: memref<64xi1>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                   affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x, %mask : memref<64xbf16>, memref<64xi1>) outs(%y : memref<64xf32>) {
  ^bb0(%a: bf16, %m: i1, %out: f32):
    %0 = arith.extf %a : bf16 to f32
    %zero = arith.constant 0.0 : f32
    %1 = arith.select %m, %0, %zero : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Two where the number is no multiple of four. Indices are those of each neighbour.
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK:         vector.load %{{.+}}[%[[PLACE:.+]]] {alignment = 8 : i64} : memref<6xi32>, vector<2xi32>
// CHECK:         arith.index_cast %[[PLACE]] : index to i32
// CHECK:         %[[NEXT:.+]] = arith.addi %[[PLACE]], %{{.+}}
// CHECK:         arith.index_cast %[[NEXT]] : index to i32
func.func @even(%x: memref<6xi32>, %y: memref<6xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<6xi32>) outs(%y : memref<6xi32>) {
  ^bb0(%a: i32, %out: i32):
    %i = linalg.index 0 : index
    %0 = arith.index_cast %i : index to i32
    %1 = arith.addi %a, %0 : i32
    linalg.yield %1 : i32
  }
  return
}

// -----

// One where it is odd, where results are far apart, and where there is nothing to load at once.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT:     vector.
func.func @single(%x: memref<7xf32>, %y: memref<7xf32>, %a: memref<64xf32>, %b: memref<64xi1>,
                  %c: memref<64xi1>, %far: memref<64xf32, strided<[8]>>) {
  linalg.exp ins(%x : memref<7xf32>) outs(%y : memref<7xf32>)
  linalg.exp ins(%a : memref<64xf32>) outs(%far : memref<64xf32, strided<[8]>>)
  linalg.copy ins(%b : memref<64xi1>) outs(%c : memref<64xi1>)
  return
}

// -----

// Neighbours in reverse order are loaded one by one.
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK-COUNT-4: memref.load
// CHECK:         vector.store
func.func @reversed(%a: memref<64xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (63 - i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

// Views of an arena begin where their shift says, in all calls of a kernel.
// CHECK-LABEL: gpu.func @exp_kernel
// CHECK-SAME:    (%[[X:.+]]: memref<64xf32> {llvm.align = 8 : i64, llvm.noalias}, %[[Y:.+]]: memref<64xf32> {llvm.align = 256 : i64, llvm.noalias})
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK:         vector.store {{.+}}, %[[Y]]
func.func @arena(%arena: memref<4096xi8>, %y: memref<64xf32>) {
  %c256 = arith.constant 256 : index
  %c520 = arith.constant 520 : index
  %x = memref.view %arena[%c256][] : memref<4096xi8> to memref<64xf32>
  %z = memref.view %arena[%c520][] : memref<4096xi8> to memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  linalg.exp ins(%z : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// Each of 32 threads adds four neighbouring terms at a time, one after the other.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK:         scf.for %[[STEP:.+]] = %{{.+}} to %c64{{.*}} step %c32{{.*}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (f32) {
// CHECK:           %[[TERMS:.+]] = vector.load {{.+}} : memref<100x256xf32>, vector<4xf32>
// CHECK:           %[[A:.+]] = arith.addf %[[SUM]], %{{.+}}
// CHECK:           %[[B:.+]] = arith.addf %[[A]], %{{.+}}
// CHECK:           %[[C:.+]] = arith.addf %[[B]], %{{.+}}
// CHECK:           %[[D:.+]] = arith.addf %[[C]], %{{.+}}
// CHECK:           scf.yield %[[D]]
func.func @rows(%x: memref<100x256xf32>, %y: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<100x256xf32>) outs(%y : memref<100xf32>)
      dimensions = [1]
  return
}

// -----

// Which terms a thread adds does not depend on where the rows begin.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK:         scf.for %{{.+}} = %{{.+}} to %c64{{.*}} step %c32
// CHECK-COUNT-4:   memref.load
// CHECK-COUNT-4:   arith.addf
// CHECK:           scf.yield
func.func @odd_rows(%x: memref<100x256xf32, strided<[257, 1], offset: 3>>, %y: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<100x256xf32, strided<[257, 1], offset: 3>>)
      outs(%y : memref<100xf32>) dimensions = [1]
  return
}

// -----

// Arguments of private functions are aligned as the buffers of all functions are planned.
// CHECK-LABEL: gpu.func @exp_kernel
// CHECK-SAME:    (%{{.+}}: memref<64xf32> {llvm.align = 8 : i64, llvm.noalias}, %{{.+}}: memref<64xf32> {llvm.align = 8 : i64, llvm.noalias})
// CHECK-LABEL: gpu.func @tanh_kernel
// CHECK-SAME:    (%{{.+}}: memref<64xf32> {llvm.noalias}, %{{.+}}: memref<64xf32> {llvm.noalias})
func.func private @planned(%x: memref<64xf32>, %y: memref<64xf32>) attributes {remat.arena_alignment = 8 : i64} {
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  linalg.exp ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  return
}
func.func private @unknown(%x: memref<64xf32>, %y: memref<64xf32>) {
  linalg.tanh ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  linalg.tanh ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  return
}

// -----

// All threads have terms: of 64, each of 32 takes two.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK:         vector.load {{.+}} : memref<100x64xf32>, vector<2xf32>
func.func @short_rows(%x: memref<100x64xf32>, %y: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<100x64xf32>) outs(%y : memref<100xf32>)
      dimensions = [1]
  return
}

// -----

// Many columns of few terms: a thread adds the terms of four neighbours, each sum in its order.
// CHECK-LABEL: gpu.func @reduce_kernel
// CHECK:         %[[START:.+]] = vector.load {{.+}} : memref<65536xf32>, vector<4xf32>
// CHECK:         %[[SUMS:.+]]:4 = scf.for
// CHECK:           vector.load {{.+}} : memref<8x65536xf32>, vector<4xf32>
// CHECK-COUNT-4:   arith.addf
// CHECK:         %[[RESULT:.+]] = vector.from_elements %[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2, %[[SUMS]]#3
// CHECK:         vector.store %[[RESULT]]
func.func @columns(%x: memref<8x65536xf32>, %y: memref<65536xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<8x65536xf32>) outs(%y : memref<65536xf32>)
      dimensions = [0]
  return
}

// Three terms are no vector: their rows do not begin at multiples of its bytes.
// CHECK:         gpu.func @{{.*}}(%{{.*}}: memref<128x3xf16>{{.*}}, %{{.*}}: memref<128xf16>
// CHECK-NOT:     vector.load
// CHECK:         gpu.return
func.func @three(%x: memref<128x3xf16>, %y: memref<128xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x3xf16>) outs(%y : memref<128xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.addf %out, %in : f16
    linalg.yield %0 : f16
  }
  return
}
