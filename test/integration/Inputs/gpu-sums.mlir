// Sums of very many terms, which kernels of a GPU add in two steps.

func.func @step(%x: tensor<4194304xf32>, %y: tensor<8192x192xf32>, %z: tensor<192xf32>, %w: tensor<4194304xi32>)
    -> (tensor<f32>, tensor<192xf32>, tensor<192xf32>, tensor<i32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1> : tensor<i32>
  %infinity = arith.constant dense<0xFF800000> : tensor<192xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4194304xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %b, %square : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %1:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                          affine_map<(i, j) -> (j)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<8192x192xf32>) outs(%z, %infinity : tensor<192xf32>, tensor<192xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i32
    %float = arith.sitofp %number : i32 to f32
    %sum = arith.addf %b, %a : f32
    %product = arith.mulf %a, %float : f32
    %largest = arith.maximumf %c, %product : f32
    linalg.yield %sum, %largest : f32, f32
  } -> (tensor<192xf32>, tensor<192xf32>)
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%w : tensor<4194304xi32>) outs(%one : tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %b, %a : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %0, %1#0, %1#1, %2 : tensor<f32>, tensor<192xf32>, tensor<192xf32>, tensor<i32>
}
