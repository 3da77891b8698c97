// Matrix products in all orders, a batched one, one of f64, one of integers, one of f16.
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
func.func @main(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>, %at: tensor<7x5xf32>,
                %bt: tensor<3x7xf32>, %x: tensor<2x5x7xf32>, %y: tensor<2x7x3xf32>,
                %p: tensor<5x7xf64>, %q: tensor<7x3xf64>, %i: tensor<5x7xi32>, %j: tensor<7x3xi32>,
                %h: tensor<5x7xf16>, %l: tensor<7x3xf16>)
    -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<3x5xf32>, tensor<2x5x3xf32>, tensor<5x3xf64>,
        tensor<5x3xi32>, tensor<5x3xf32>) {
  %zero = arith.constant dense<0.0> : tensor<5x3xf32>
  %zero_t = arith.constant dense<0.0> : tensor<3x5xf32>
  %zero_b = arith.constant dense<0.0> : tensor<2x5x3xf32>
  %zero_d = arith.constant dense<0.0> : tensor<5x3xf64>
  %zero_i = arith.constant dense<0> : tensor<5x3xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zero : tensor<5x3xf32>)
      -> tensor<5x3xf32>
  // Accumulates.
  %1 = linalg.matmul indexing_maps = [#km, #nk, #mn]
      ins(%at, %bt : tensor<7x5xf32>, tensor<3x7xf32>) outs(%0 : tensor<5x3xf32>)
      -> tensor<5x3xf32>
  %2 = linalg.generic {indexing_maps = [#mk, #kn, #nm],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zero_t : tensor<3x5xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %m = arith.mulf %u, %v : f32
    %s = arith.addf %w, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  %3 = linalg.batch_matmul ins(%x, %y : tensor<2x5x7xf32>, tensor<2x7x3xf32>)
      outs(%zero_b : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %4 = linalg.matmul ins(%p, %q : tensor<5x7xf64>, tensor<7x3xf64>) outs(%zero_d : tensor<5x3xf64>)
      -> tensor<5x3xf64>
  %5 = linalg.matmul ins(%i, %j : tensor<5x7xi32>, tensor<7x3xi32>) outs(%zero_i : tensor<5x3xi32>)
      -> tensor<5x3xi32>
  %6 = linalg.matmul ins(%h, %l : tensor<5x7xf16>, tensor<7x3xf16>) outs(%zero : tensor<5x3xf32>)
      -> tensor<5x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<3x5xf32>,
      tensor<2x5x3xf32>, tensor<5x3xf64>, tensor<5x3xi32>, tensor<5x3xf32>
}
