// A convolution and a product of bf16 that are computed a second time, behind the large values.
func.func @step(%x: tensor<2x10x10x20xf32>, %w: tensor<3x3x20x24xf32>, %h: tensor<40x72xbf16>,
                %i: tensor<72x24xbf16>, %big: tensor<65536xf32>)
    -> (tensor<2x8x8x24xf32>, tensor<40x24xf32>, tensor<65536xf32>, tensor<2x8x8x24xf32>,
        tensor<40x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x8x8x24xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x8x8x24xf32>) -> tensor<2x8x8x24xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>,
                                 remat.policy = #remat.policy<must_recompute>}
      ins(%x, %w : tensor<2x10x10x20xf32>, tensor<3x3x20x24xf32>) outs(%z0 : tensor<2x8x8x24xf32>)
      -> tensor<2x8x8x24xf32>
  %e1 = tensor.empty() : tensor<40x24xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40x24xf32>) -> tensor<40x24xf32>
  %m = linalg.matmul {remat.policy = #remat.policy<must_recompute>}
      ins(%h, %i : tensor<40x72xbf16>, tensor<72x24xbf16>) outs(%z1 : tensor<40x24xf32>)
      -> tensor<40x24xf32>
  %e2 = tensor.empty() : tensor<2x8x8x24xf32>
  %c0 = linalg.exp ins(%c : tensor<2x8x8x24xf32>) outs(%e2 : tensor<2x8x8x24xf32>)
      -> tensor<2x8x8x24xf32>
  %e3 = tensor.empty() : tensor<40x24xf32>
  %m0 = linalg.exp ins(%m : tensor<40x24xf32>) outs(%e3 : tensor<40x24xf32>) -> tensor<40x24xf32>
  %e4 = tensor.empty() : tensor<65536xf32>
  // Needs one element of each.
  %i0 = arith.constant 0 : index
  %s0 = tensor.extract %c[%i0, %i0, %i0, %i0] : tensor<2x8x8x24xf32>
  %s1 = tensor.extract %m[%i0, %i0] : tensor<40x24xf32>
  %s2 = arith.addf %s0, %s1 : f32
  %b0 = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                        iterator_types = ["parallel"]}
      ins(%big : tensor<65536xf32>) outs(%e4 : tensor<65536xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %s2 : f32
    linalg.yield %sum : f32
  } -> tensor<65536xf32>
  %e5 = tensor.empty() : tensor<65536xf32>
  %b1 = linalg.tanh ins(%b0 : tensor<65536xf32>) outs(%e5 : tensor<65536xf32>)
      -> tensor<65536xf32>
  %e6 = tensor.empty() : tensor<2x8x8x24xf32>
  %c1 = linalg.tanh ins(%c : tensor<2x8x8x24xf32>) outs(%e6 : tensor<2x8x8x24xf32>)
      -> tensor<2x8x8x24xf32>
  %e7 = tensor.empty() : tensor<40x24xf32>
  %m1 = linalg.tanh ins(%m : tensor<40x24xf32>) outs(%e7 : tensor<40x24xf32>) -> tensor<40x24xf32>
  return %c0, %m0, %b1, %c1, %m1 : tensor<2x8x8x24xf32>, tensor<40x24xf32>, tensor<65536xf32>,
      tensor<2x8x8x24xf32>, tensor<40x24xf32>
}
