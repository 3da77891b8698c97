// The example of docs/memory-model.md, whose text is compared with this file and
// with what it prints. The numbers in the right margin are worked out by hand:
// A = 10,240 bytes of arguments, U = 16,384 bytes per 128x32 tensor.
//
// RUN: cd %S && remat-opt memory-model-example.mlir -remat-print-memory=output=%t.txt -o /dev/null
// RUN: %python %S/Inputs/check-docs.py %remat_src/docs/memory-model.md %s %t.txt
// RUN: FileCheck %s --input-file=%t.txt

// CHECK: memory of function 'step' (28 operations, alignment 64 B)
// CHECK: packed peak 75840 B
// CHECK-NEXT: live peak 75780 B
// CHECK-NEXT: arguments 10240 B
// CHECK-NEXT: results 2052 B
// CHECK-NEXT: constants 0 B
// CHECK-NEXT: working set 59392 B
// CHECK: Activations take 49.2 KB of the packed peak of 75.8 KB (64.8 %), so recomputation can help; no plan needs less than 59.4 KB, for the arguments and 'arith.mulf' (operation 15).
// CHECK: L end of the forward pass at operation 9 (result 1 is the loss)
// CHECK: live at the peak, 'arith.mulf' (operation 11)

// BEGIN
func.func @step(%w: tensor<16x32xf32>, %x: tensor<128x16xf32>)
    -> (tensor<16x32xf32>, tensor<f32>) {
  // Forward: three layers without parameters behind one with.
  %zero = arith.constant 0.0 : f32                                     //  0  A
  %e0 = tensor.empty() : tensor<128x32xf32>                            //  1  A
  %y0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<128x32xf32>)
      -> tensor<128x32xf32>                                            //  2  A +  U
  %y = linalg.matmul
      ins(%x, %w : tensor<128x16xf32>, tensor<16x32xf32>)
      outs(%y0 : tensor<128x32xf32>) -> tensor<128x32xf32>             //  3  A +  U
  %a = math.tanh %y : tensor<128x32xf32>                               //  4  A + 2U
  %b = math.tanh %a : tensor<128x32xf32>                               //  5  A + 2U
  %c = math.tanh %b : tensor<128x32xf32>                               //  6  A + 3U
  %e1 = tensor.empty() : tensor<f32>                                   //  7  A + 3U
  %l0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<f32>)
      -> tensor<f32>                                                   //  8  A + 3U + 4
  %loss = linalg.reduce { arith.addf }
      ins(%c : tensor<128x32xf32>) outs(%l0 : tensor<f32>)
      dimensions = [0, 1]                                              //  9  A + 3U + 4
  // Backward.
  %one = arith.constant dense<1.0> : tensor<128x32xf32>                // 10  A + 3U + 4
  %cc = arith.mulf %c, %c : tensor<128x32xf32>                         // 11  A + 4U + 4
  %db = arith.subf %one, %cc : tensor<128x32xf32>                      // 12  A + 4U + 4
  %bb = arith.mulf %b, %b : tensor<128x32xf32>                         // 13  A + 4U + 4
  %ob = arith.subf %one, %bb : tensor<128x32xf32>                      // 14  A + 4U + 4
  %da = arith.mulf %db, %ob : tensor<128x32xf32>                       // 15  A + 4U + 4
  %aa = arith.mulf %a, %a : tensor<128x32xf32>                         // 16  A + 3U + 4
  %oa = arith.subf %one, %aa : tensor<128x32xf32>                      // 17  A + 3U + 4
  %dy = arith.mulf %da, %oa : tensor<128x32xf32>                       // 18  A + 3U + 4
  %e2 = tensor.empty() : tensor<16x128xf32>
  %xt = linalg.transpose ins(%x : tensor<128x16xf32>)
      outs(%e2 : tensor<16x128xf32>) permutation = [1, 0]              // 20  A +  U + 8196
  %e3 = tensor.empty() : tensor<16x32xf32>
  %g0 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<16x32xf32>)
      -> tensor<16x32xf32>                                             // 22  A +  U + 10244
  %g = linalg.matmul
      ins(%xt, %dy : tensor<16x128xf32>, tensor<128x32xf32>)
      outs(%g0 : tensor<16x32xf32>) -> tensor<16x32xf32>               // 23  A +  U + 10244
  // Update.
  %lr = arith.constant dense<1.0e-3> : tensor<16x32xf32>               // 24  A + 2052
  %s = arith.mulf %lr, %g : tensor<16x32xf32>                          // 25  A + 4100
  %new = arith.subf %w, %s : tensor<16x32xf32>                         // 26  A + 4100
  return %new, %loss : tensor<16x32xf32>, tensor<f32>                  // 27  A + 2052
}
