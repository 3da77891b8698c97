// The first sum depends on what was in its destination before: at another place it is another one.
func.func @step(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
      attrs = {remat.policy = #remat.policy<must_recompute>} {
  ^bb0(%in: f32, %old: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %unset = arith.constant 0.0 : f32
    %isSet = arith.cmpf ogt, %old, %zero : f32
    %shift = arith.select %isSet, %one, %unset : f32
    %sum = arith.addf %in, %shift : f32
    linalg.yield %sum : f32
  } -> tensor<64xf32>
  %k = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.exp ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %d = linalg.exp ins(%c : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %f = linalg.tanh ins(%d : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %h = linalg.add ins(%f, %a : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
      -> tensor<64xf32>
  return %h, %k : tensor<64xf32>, tensor<64xf32>
}
