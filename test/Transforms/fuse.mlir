// RUN: remat-opt %s --remat-fuse --split-input-file | FileCheck %s
// Doing it twice changes nothing.
// RUN: remat-opt %s --remat-fuse --split-input-file > %t.once
// RUN: remat-opt %s --remat-fuse --remat-fuse --split-input-file | diff %t.once -

// A chain is one kernel; named operations, scalars that are splats, and elementwise
// operations of arith and math take part.
// CHECK-LABEL: func @chain
// CHECK:         %[[OUT:.+]] = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>)
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT:      %[[A:.+]] = math.exp %[[X]]
// CHECK-NEXT:      %[[B:.+]] = arith.addf %[[A]], %{{cst.*}}
// CHECK-NEXT:      %[[C:.+]] = math.tanh %[[B]]
// CHECK-NEXT:      linalg.yield %[[C]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[OUT]]
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = arith.addf %a, %one : tensor<8xf32>
  %c = math.tanh %b : tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// Simple arithmetic is repeated for each reader; exp is not.
// CHECK-LABEL: func @repeated
// CHECK:         %[[EXP:.+]] = linalg.generic {{.*}} ins(%arg0
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      linalg.yield
// CHECK-COUNT-2: arith.addf
// CHECK:         return
func.func @repeated(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = math.exp %x : tensor<8xf32>
  %s = arith.addf %e, %e : tensor<8xf32>
  %a = math.sin %s : tensor<8xf32>
  %b = math.cos %s : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A vector that is broadcast is not computed for every element, except by data movement.
// CHECK-LABEL: func @broadcast
// CHECK:         %[[V:.+]] = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>)
// CHECK:           math.rsqrt
// CHECK:         linalg.generic {{.*}} ins(%[[V]], %arg1 : tensor<8xf32>, tensor<64x8xf32>)
// CHECK-NOT:     linalg.generic
func.func @broadcast(%v: tensor<8xf32>, %x: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %r = math.rsqrt %v : tensor<8xf32>
  %e = tensor.empty() : tensor<64x8xf32>
  %b = linalg.broadcast ins(%r : tensor<8xf32>) outs(%e : tensor<64x8xf32>) dimensions = [0]
  %p = arith.mulf %b, %x : tensor<64x8xf32>
  return %p : tensor<64x8xf32>
}

// -----

// Reductions take in what they read; what is computed from a reduction is not.
// CHECK-LABEL: func @reduction
// CHECK:         linalg.generic {{.*}}"reduction"]} ins(%arg0 : tensor<4x8xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic
// CHECK:           math.sqrt
func.func @reduction(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %q = arith.mulf %x, %x : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<4x8xf32>) outs(%f : tensor<4xf32>)
      dimensions = [1]
  %r = math.sqrt %s : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A product reads transposed operands, and begins with a splat constant that is never in
// memory. The slice of its result is read where it is.
// CHECK-DAG: #[[A:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func @product
// CHECK:         %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<8x6xf32>
// CHECK:         %[[P:.+]] = linalg.generic {indexing_maps = [#[[A]], {{.*}} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x6xf32>) outs(%[[ZERO]]
// CHECK:         %[[S:.+]] = tensor.extract_slice %[[P]]{{.*}} {remat.view}
// CHECK:         linalg.generic {{.*}} ins(%[[S]]
func.func @product(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%et : tensor<8x4xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %p = linalg.matmul ins(%t, %y : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>)
      -> tensor<8x6xf32>
  %s = tensor.extract_slice %p[0, 3] [8, 3] [1, 1] : tensor<8x6xf32> to tensor<8x3xf32>
  %r = math.tanh %s : tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// -----

// So does a convolution, here the gradient of a filter: what was padded after it was transposed
// is padded where it is. It stays a convolution, loops of one iteration included.
// CHECK-DAG: #[[X:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d6, d1 + d4, d2 + d5, d0)>
// CHECK-DAG: #[[Y:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d6, d4, d5, d3)>
// CHECK-LABEL: func @convolution
// CHECK:         %[[P:.+]] = tensor.pad %arg0 low[0, 1, 2, 0] high[0, 1, 0, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[X]], #[[Y]], {{.*}} ins(%[[P]], %arg1 : tensor<1x10x10x4xf32>, tensor<1x8x8x6xf32>)
// CHECK-NOT:     linalg.generic
func.func @convolution(%x: tensor<1x8x8x4xf32>, %y: tensor<1x8x8x6xf32>) -> tensor<4x3x3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4x3x3x6xf32>
  %ex = tensor.empty() : tensor<4x8x8x1xf32>
  %tx = linalg.transpose ins(%x : tensor<1x8x8x4xf32>) outs(%ex : tensor<4x8x8x1xf32>)
      permutation = [3, 1, 2, 0]
  %p = tensor.pad %tx low[0, 1, 2, 0] high[0, 1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<4x8x8x1xf32> to tensor<4x10x10x1xf32>
  %ey = tensor.empty() : tensor<8x8x1x6xf32>
  %ty = linalg.transpose ins(%y : tensor<1x8x8x6xf32>) outs(%ey : tensor<8x8x1x6xf32>)
      permutation = [1, 2, 0, 3]
  %g = linalg.conv_2d_nhwc_hwcf ins(%p, %ty : tensor<4x10x10x1xf32>, tensor<8x8x1x6xf32>)
      outs(%zeros : tensor<4x3x3x6xf32>) -> tensor<4x3x3x6xf32>
  return %g : tensor<4x3x3x6xf32>
}

// -----

// A result overwrites an operand that dies, and a donated argument only if it is returned.
// CHECK-LABEL: func @overwrites
// CHECK:         %[[P:.+]] = linalg.matmul
// CHECK:         %[[Q:.+]] = linalg.generic {{.*}} outs(%[[P]] : tensor<8x8xf32>)
// CHECK:         %[[S:.+]] = linalg.matmul ins(%[[Q]], %arg0
// CHECK:         linalg.generic {{.*}} ins(%[[S]] : tensor<8x8xf32>) outs(%arg1 : tensor<8x8xf32>)
func.func @overwrites(%x: tensor<8x8xf32>, %m: tensor<8x8xf32> {remat.donated}) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %p = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %q = math.tanh %p : tensor<8x8xf32>
  %s = linalg.matmul ins(%q, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %r = arith.addf %m, %s : tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// What the user says about an operation keeps it one.
// CHECK-LABEL: func @kept
// CHECK:         linalg.generic {{.*}} attrs = {{.*}}remat.policy = #remat.policy<must_save>
// CHECK:           arith.negf
// CHECK:         linalg.generic
// CHECK:           math.exp
func.func @kept(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = arith.negf %x {remat.policy = #remat.policy<must_save>} : tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// The mask is a byte for each element and read late: computing it there would keep the four
// bytes of its operand in memory over the highest peak.
// CHECK-LABEL: func @mask
// CHECK:         arith.cmpf
// CHECK-NEXT:    linalg.yield
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
// CHECK:         arith.select
func.func @mask(%x: tensor<8x8xf32>, %w: tensor<8x256xf32>, %v: tensor<256x8xf32>)
    -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x256xf32>
  %p = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %mask = arith.cmpf ogt, %p, %x : tensor<8x8xf32>
  %a = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x256xf32>)
      outs(%zeros : tensor<8x256xf32>) -> tensor<8x256xf32>
  %b = linalg.matmul ins(%a, %v : tensor<8x256xf32>, tensor<256x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = arith.select %mask, %b, %zero : tensor<8x8xi1>, tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// Bodies of loops get kernels of their own.
// CHECK-LABEL: func @loop
// CHECK:         scf.for
// CHECK:           linalg.generic
// CHECK:             math.exp
// CHECK-NEXT:        arith.negf
// CHECK-NOT:       linalg.generic
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %b = math.exp %a : tensor<8xf32>
    %c = arith.negf %b : tensor<8xf32>
    scf.yield %c : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// What nobody can put together stays as it is: dynamic shapes, several blocks, memrefs.
// CHECK-LABEL: func @dynamic
// CHECK-COUNT-2: linalg.generic
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = math.exp %x : tensor<?xf32>
  cf.br ^next(%a : tensor<?xf32>)
^next(%b: tensor<?xf32>):
  %c = arith.negf %b : tensor<?xf32>
  return %c : tensor<?xf32>
}

// -----

// Of several results, each overwrites an operand of its own.
// CHECK-LABEL: func @update
// CHECK:         linalg.generic {{.*}} ins(%arg2, %arg3 : tensor<8xf32>, tensor<8xf32>) outs(%arg0, %arg1 : tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT:    ^bb0(%[[G:.+]]: f32, %[[H:.+]]: f32, %[[W:.+]]: f32, %[[M:.+]]: f32):
// CHECK-NEXT:      %[[N:.+]] = arith.addf %[[M]], %[[G]]
// CHECK-NEXT:      %[[S:.+]] = arith.mulf %[[N]], %[[H]]
// CHECK-NEXT:      %[[V:.+]] = arith.subf %[[W]], %[[S]]
// CHECK-NEXT:      linalg.yield %[[V]], %[[N]]
func.func @update(%w: tensor<8xf32> {remat.donated}, %m: tensor<8xf32> {remat.donated},
                  %g: tensor<8xf32>, %h: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %n:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                          affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                          affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%g, %w, %m, %h : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%gi: f32, %wi: f32, %mi: f32, %hi: f32, %o0: f32, %o1: f32):
    %m1 = arith.addf %mi, %gi : f32
    %s = arith.mulf %m1, %hi : f32
    %w1 = arith.subf %wi, %s : f32
    linalg.yield %w1, %m1 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %n#0, %n#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A loop of one iteration that a window slides along stays: without it, the range of the window
// would be that of the image.
// CHECK-DAG: #[[IMAGE:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d4)>
// CHECK-LABEL: func @window
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], {{.*}} ins(%arg0, %arg1 : tensor<2x3x4xf32>, tensor<2x5xf32>)
func.func @window(%x: tensor<2x3x4xf32>, %w: tensor<2x5xf32>) -> tensor<2x1x5xf32> {
  %z = arith.constant dense<0.0> : tensor<2x1x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, o, f, k, c) -> (n, o * 2 + k, c)>,
                                        affine_map<(n, o, f, k, c) -> (k, f)>,
                                        affine_map<(n, o, f, k, c) -> (n, o, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x3x4xf32>, tensor<2x5xf32>) outs(%z : tensor<2x1x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x1x5xf32>
  return %y : tensor<2x1x5xf32>
}

// -----

// Transposes of transposes are read through at once.
// CHECK-LABEL: func @chain
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<8x3xf32>, tensor<4x8xf32>)
// CHECK-NOT:     linalg.generic
func.func @chain(%x: tensor<8x3xf32>, %y: tensor<4x8xf32>) -> tensor<3x4xf32> {
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %e = tensor.empty() : tensor<3x8xf32>
  %f = tensor.empty() : tensor<8x3xf32>
  %g = tensor.empty() : tensor<8x4xf32>
  %a = linalg.transpose ins(%x : tensor<8x3xf32>) outs(%e : tensor<3x8xf32>) permutation = [1, 0]
  %b = linalg.transpose ins(%a : tensor<3x8xf32>) outs(%f : tensor<8x3xf32>) permutation = [1, 0]
  %c = linalg.transpose ins(%b : tensor<8x3xf32>) outs(%e : tensor<3x8xf32>) permutation = [1, 0]
  %t = linalg.transpose ins(%y : tensor<4x8xf32>) outs(%g : tensor<8x4xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%c, %t : tensor<3x8xf32>, tensor<8x4xf32>) outs(%z : tensor<3x4xf32>)
      -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
