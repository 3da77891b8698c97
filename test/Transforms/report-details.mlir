// Memory over time and places of buffers, before and after, with numbers worked out by hand.
//
// RUN: remat-opt %s --rematerialize="budget=16512B report=%t.json report-details=true" -o /dev/null
// RUN: %python %S/Inputs/details.py print %t.json | FileCheck %s
// RUN: %python %S/Inputs/details.py check %t.json
// RUN: remat-opt %s --rematerialize="budget=16512B report=%t.short.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=SHORT --input-file=%t.short.json
// SHORT-NOT: "arena"
// SHORT-NOT: "timeline"
//
// Steps: 3 %a, 4 the zero of %loss, 5 %loss in its place, 6 %u, 7 %v, 8 the zero of %sum, 9 %sum in its
// place, 10 %g, 11 the end. %g is the new value of %x.
// CHECK:      before: 12 steps, peak at 7
// CHECK-NEXT: steps        0    3    4    5    6    7    8   10   11
// CHECK-NEXT: activations  0 4096 4096 4100 4100 4100 4100 4100    4
// CHECK-NEXT: inputs       4096 4096 4096 4096 4096 4096 4096 4096 4096
// CHECK-NEXT: parameters   4096 4096 4096 4096 4096 4096 4096 8192 8192
// CHECK-NEXT: temporaries  0    0    4    0 4096 8192 4100    4    0
// CHECK-NEXT: boundary 8192 B, arena 12352 B
// CHECK-NEXT: [0, 12) 4096 B parameters argument %arg0
// CHECK-NEXT: [0, 12) 4096 B inputs argument %arg1
// CHECK-NEXT: [3, 11) 4096 B activations math.exp %2 at {{[0-9]+}}
// CHECK-NEXT: [6, 8) 4096 B temporaries linalg.broadcast %broadcasted at {{[0-9]+}}
// CHECK-NEXT: [7, 10) 4096 B temporaries arith.mulf %4 at {{[0-9]+}}
// CHECK-NEXT: [10, 12) 4096 B parameters linalg.generic %6 at {{[0-9]+}}
//
// %a ends at step 6, is there again from 10 on, and everything behind is a step later.
// CHECK-NEXT: after: 13 steps, peak at 11
// CHECK-NEXT: steps        0    3    4    5    6    7    8   10   11   12
// CHECK-NEXT: activations  0 4096 4096 4100    4    4    4 4100 4100    4
// CHECK-NEXT: inputs       4096 4096 4096 4096 4096 4096 4096 4096 4096 4096
// CHECK-NEXT: parameters   4096 4096 4096 4096 4096 4096 4096 4096 8192 8192
// CHECK-NEXT: temporaries  0    0    4    0 4096 8192 4100    4    4    0
// CHECK-NEXT: boundary 8192 B, arena 8320 B
// CHECK-NEXT: [0, 13) 4096 B parameters argument %arg0: argument
// CHECK-NEXT: [0, 13) 4096 B inputs argument %arg1: argument
// CHECK-NEXT: [3, 6) 4096 B activations math.exp %2 at {{[0-9]+$}}
// CHECK-NEXT: [6, 8) 4096 B temporaries linalg.broadcast %broadcasted at {{[0-9]+$}}
// CHECK-NEXT: [7, 10) 4096 B temporaries arith.mulf %4 at {{[0-9]+$}}
// CHECK-NEXT: [10, 12) 4096 B activations math.exp %2 at {{[0-9]+}}, recomputed: needed by this operation
// CHECK-NEXT: [11, 13) 4096 B parameters linalg.generic %6 at {{[0-9]+}}: needed by this operation

func.func @step(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %scalar = tensor.empty() : tensor<f32>
  %vector = tensor.empty() : tensor<1024xf32>
  %a = math.exp %x : tensor<1024xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%a : tensor<1024xf32>) outs(%l0 : tensor<f32>)
      dimensions = [0]
  %u = linalg.broadcast ins(%loss : tensor<f32>) outs(%vector : tensor<1024xf32>) dimensions = [0]
  %v = arith.mulf %u, %y : tensor<1024xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%s0 : tensor<f32>)
      dimensions = [0]
  %g = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a, %sum : tensor<1024xf32>, tensor<f32>) outs(%vector : tensor<1024xf32>) {
  ^bb0(%ai: f32, %si: f32, %out: f32):
    %r = arith.mulf %ai, %si : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  return %g, %loss : tensor<1024xf32>, tensor<f32>
}

