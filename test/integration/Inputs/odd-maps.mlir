// Diagonals, sums of indices, and loops that run backwards over an operand.
func.func @step(%x: tensor<70x70xf32>, %y: tensor<141xf32>) -> (tensor<70xf32>, tensor<70x70xf32>, tensor<71xf32>, tensor<70x70xf32>) {
  %e = tensor.empty() : tensor<70xf32>
  %diag = linalg.generic {indexing_maps = [affine_map<(d0)->(d0,d0)>, affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%x : tensor<70x70xf32>) outs(%e : tensor<70xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<70xf32>
  %e2 = tensor.empty() : tensor<70x70xf32>
  %toep = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0+d1)>, affine_map<(d0,d1)->(d1,d0)>], iterator_types=["parallel","parallel"]} ins(%y : tensor<141xf32>) outs(%e2 : tensor<70x70xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<70x70xf32>
  %e3 = tensor.empty() : tensor<71xf32>
  %rev = linalg.generic {indexing_maps = [affine_map<(d0)->(-d0 + 140)>, affine_map<(d0)->(2*d0)>, affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%y, %y : tensor<141xf32>, tensor<141xf32>) outs(%e3 : tensor<71xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<71xf32>
  %rr = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0, 69 - d1)>, affine_map<(d0,d1)->(d1,d0)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%x, %x : tensor<70x70xf32>, tensor<70x70xf32>) outs(%e2 : tensor<70x70xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<70x70xf32>
  return %diag, %toep, %rev, %rr : tensor<70xf32>, tensor<70x70xf32>, tensor<71xf32>, tensor<70x70xf32>
}
