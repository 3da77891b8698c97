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

