// A product with weights that are a constant. All numbers are exact.
func.func @step(%x: tensor<2x3xi8>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
  %0 = arith.sitofp %x : tensor<2x3xi8> to tensor<2x3xf32>
  %zero = arith.constant dense<0.0> : tensor<2x3xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%zero : tensor<2x3xf32>)
      -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
