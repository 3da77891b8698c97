// One weight for each element: loss = sum((w x - y)^2), w' = w - (w x - y) x / 5.
func.func @step(%w: tensor<8xf32>, %x: tensor<8xf32>, %y: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<f32>) {
  %p = arith.mulf %w, %x : tensor<8xf32>
  %d = arith.subf %p, %y : tensor<8xf32>
  %s = arith.mulf %d, %d : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%s : tensor<8xf32>) outs(%zero : tensor<f32>)
      dimensions = [0]
  %rate = arith.constant dense<0.2> : tensor<8xf32>
  %g = arith.mulf %d, %x : tensor<8xf32>
  %u = arith.mulf %g, %rate : tensor<8xf32>
  %new = arith.subf %w, %u : tensor<8xf32>
  return %new, %loss : tensor<8xf32>, tensor<f32>
}
