// A training step of one layer: y = tanh(x w + b), loss = sum(y * y), and a step of gradient descent.
func.func @step(%w: tensor<64x512xf32>, %b: tensor<512xf32>, %x: tensor<256x64xf32>)
    -> (tensor<64x512xf32>, tensor<512xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<256x512xf32>
  %two = arith.constant dense<2.0> : tensor<256x512xf32>
  %rate_w = arith.constant dense<1.0e-3> : tensor<64x512xf32>
  %rate_b = arith.constant dense<1.0e-3> : tensor<512xf32>

  // Forward.
  %h_empty = tensor.empty() : tensor<256x512xf32>
  %h_start = linalg.fill ins(%zero : f32) outs(%h_empty : tensor<256x512xf32>) -> tensor<256x512xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x64xf32>, tensor<64x512xf32>)
      outs(%h_start : tensor<256x512xf32>) -> tensor<256x512xf32>
  %rows = linalg.broadcast ins(%b : tensor<512xf32>) outs(%h_empty : tensor<256x512xf32>)
      dimensions = [0]
  %s = arith.addf %h, %rows : tensor<256x512xf32>
  %y = math.tanh %s : tensor<256x512xf32>
  %squares = arith.mulf %y, %y : tensor<256x512xf32>
  %loss_empty = tensor.empty() : tensor<f32>
  %loss_start = linalg.fill ins(%zero : f32) outs(%loss_empty : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%squares : tensor<256x512xf32>)
      outs(%loss_start : tensor<f32>) dimensions = [0, 1]

  // Backward: ds = 2 y (1 - y y), dw = x^T ds, db = sum of the rows of ds.
  %slope = arith.subf %one, %squares : tensor<256x512xf32>
  %dy = arith.mulf %two, %y : tensor<256x512xf32>
  %ds = arith.mulf %dy, %slope : tensor<256x512xf32>
  %dw_empty = tensor.empty() : tensor<64x512xf32>
  %dw_start = linalg.fill ins(%zero : f32) outs(%dw_empty : tensor<64x512xf32>) -> tensor<64x512xf32>
  %dw = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                       affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %ds : tensor<256x64xf32>, tensor<256x512xf32>)
      outs(%dw_start : tensor<64x512xf32>) -> tensor<64x512xf32>
  %db_empty = tensor.empty() : tensor<512xf32>
  %db_start = linalg.fill ins(%zero : f32) outs(%db_empty : tensor<512xf32>) -> tensor<512xf32>
  %db = linalg.reduce {arith.addf} ins(%ds : tensor<256x512xf32>) outs(%db_start : tensor<512xf32>)
      dimensions = [0]

  // Update.
  %dw_scaled = arith.mulf %dw, %rate_w : tensor<64x512xf32>
  %db_scaled = arith.mulf %db, %rate_b : tensor<512xf32>
  %w_new = arith.subf %w, %dw_scaled : tensor<64x512xf32>
  %b_new = arith.subf %b, %db_scaled : tensor<512xf32>
  return %w_new, %b_new, %loss : tensor<64x512xf32>, tensor<512xf32>, tensor<f32>
}
