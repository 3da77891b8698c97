func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xcomplex<f32>>) {
  ^bb0(%a: f32, %o: complex<f32>):
    %z = complex.create %a, %a : complex<f32>
    %y = complex.mul %z, %z : complex<f32>
    linalg.yield %y : complex<f32>
  } -> tensor<8xcomplex<f32>>
  %f = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%c : tensor<8xcomplex<f32>>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %y = complex.im %a : complex<f32>
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
