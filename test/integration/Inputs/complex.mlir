// Complex numbers inside of a step.
func.func @step(%x: tensor<70xf32>, %y: tensor<70xf32>) -> (tensor<70xf32>) {
  %e = tensor.empty() : tensor<70xf32>
  %ec = tensor.empty() : tensor<70xcomplex<f32>>
  %c = linalg.generic {indexing_maps=[affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%x, %y : tensor<70xf32>, tensor<70xf32>) outs(%ec : tensor<70xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %o: complex<f32>):
    %q = complex.create %a, %b : complex<f32>
    linalg.yield %q : complex<f32>
  } -> tensor<70xcomplex<f32>>
  %r = linalg.generic {indexing_maps=[affine_map<(d0)->(d0)>,affine_map<(d0)->(69 - d0)>,affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%c, %c : tensor<70xcomplex<f32>>, tensor<70xcomplex<f32>>) outs(%e : tensor<70xf32>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %o: f32):
    %q = complex.mul %a, %b : complex<f32>
    %z = complex.abs %q : complex<f32>
    linalg.yield %z : f32
  } -> tensor<70xf32>
  return %r : tensor<70xf32>
}
