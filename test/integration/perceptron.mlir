// One training step of a perceptron with two layers without biases, 1024 - 4096 - 1024:
// ReLU, mean squared error, AdamW, batch 8. docs/tutorial.md explains it line by line.
//
// In the last update 13 matrices of 16 MiB, x and y are live, and 5 scalars of 64 bytes.
//
// RUN: remat-opt %s -o %t.unchanged
// RUN: remat-opt %s -rematerialize=budget=218169664B | diff %t.unchanged -
// RUN: not remat-opt %s -rematerialize=budget=218169663B 2>&1 | FileCheck %s
// CHECK: smallest budget known to be feasible is 218169664 bytes

#matrix = affine_map<(i, j) -> (i, j)>
#scalar = affine_map<(i, j) -> ()>
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#transposed_rows = affine_map<(m, n, k) -> (k, m)>
#transposed_columns = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>

func.func @step(%w1: tensor<1024x4096xf32>, %w2: tensor<4096x1024xf32>,
                %m1: tensor<1024x4096xf32>, %m2: tensor<4096x1024xf32>,
                %v1: tensor<1024x4096xf32>, %v2: tensor<4096x1024xf32>, %steps: tensor<f32>,
                %x: tensor<8x1024xf32>, %y: tensor<8x1024xf32>)
    -> (tensor<1024x4096xf32>, tensor<4096x1024xf32>, tensor<1024x4096xf32>,
        tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<4096x1024xf32>, tensor<f32>,
        tensor<f32>) {
  // Forward.
  %0 = arith.constant 0.0 : f32
  %z_empty = tensor.empty() : tensor<8x4096xf32>
  %z_start = linalg.fill ins(%0 : f32) outs(%z_empty : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %z = linalg.matmul ins(%x, %w1 : tensor<8x1024xf32>, tensor<1024x4096xf32>)
      outs(%z_start : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x4096xf32>
  %h = arith.maximumf %z, %zeros : tensor<8x4096xf32>
  %p_empty = tensor.empty() : tensor<8x1024xf32>
  %p_start = linalg.fill ins(%0 : f32) outs(%p_empty : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %p = linalg.matmul ins(%h, %w2 : tensor<8x4096xf32>, tensor<4096x1024xf32>)
      outs(%p_start : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %error = arith.subf %p, %y : tensor<8x1024xf32>
  %squares = arith.mulf %error, %error : tensor<8x1024xf32>
  %sum_empty = tensor.empty() : tensor<f32>
  %sum_start = linalg.fill ins(%0 : f32) outs(%sum_empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<8x1024xf32>)
      outs(%sum_start : tensor<f32>) dimensions = [0, 1]
  %count = arith.constant dense<8192.0> : tensor<f32>
  %loss = arith.divf %sum, %count : tensor<f32>

  // Backward.
  %twice = arith.addf %error, %error : tensor<8x1024xf32>
  %counts = arith.constant dense<8192.0> : tensor<8x1024xf32>
  %dp = arith.divf %twice, %counts : tensor<8x1024xf32>
  %w2_empty = tensor.empty() : tensor<4096x1024xf32>
  %dw2_start = linalg.fill ins(%0 : f32) outs(%w2_empty : tensor<4096x1024xf32>)
      -> tensor<4096x1024xf32>
  %dw2 = linalg.matmul indexing_maps = [#transposed_rows, #columns, #product]
      ins(%h, %dp : tensor<8x4096xf32>, tensor<8x1024xf32>)
      outs(%dw2_start : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %dh_start = linalg.fill ins(%0 : f32) outs(%z_empty : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %dh = linalg.matmul indexing_maps = [#rows, #transposed_columns, #product]
      ins(%dp, %w2 : tensor<8x1024xf32>, tensor<4096x1024xf32>)
      outs(%dh_start : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %positive = arith.cmpf ogt, %z, %zeros : tensor<8x4096xf32>
  %dz = arith.select %positive, %dh, %zeros : tensor<8x4096xi1>, tensor<8x4096xf32>
  %w1_empty = tensor.empty() : tensor<1024x4096xf32>
  %dw1_start = linalg.fill ins(%0 : f32) outs(%w1_empty : tensor<1024x4096xf32>)
      -> tensor<1024x4096xf32>
  %dw1 = linalg.matmul indexing_maps = [#transposed_rows, #columns, #product]
      ins(%x, %dz : tensor<8x1024xf32>, tensor<8x4096xf32>)
      outs(%dw1_start : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>

  // Update.
  %one = arith.constant dense<1.0> : tensor<f32>
  %new_steps = arith.addf %steps, %one : tensor<f32>
  %beta1 = arith.constant dense<0.9> : tensor<f32>
  %power1 = math.powf %beta1, %new_steps : tensor<f32>
  %scale1 = arith.subf %one, %power1 : tensor<f32>
  %beta2 = arith.constant dense<0.999> : tensor<f32>
  %power2 = math.powf %beta2, %new_steps : tensor<f32>
  %scale2 = arith.subf %one, %power2 : tensor<f32>
  %keep1 = arith.constant 0.9 : f32
  %take1 = arith.constant 0.1 : f32
  %keep2 = arith.constant 0.999 : f32
  %take2 = arith.constant 0.001 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %decay = arith.constant 0.01 : f32
  %rate = arith.constant 0.001 : f32
  %new_w1, %new_m1, %new_v1 = linalg.generic {
      indexing_maps = [#matrix, #matrix, #matrix, #matrix, #scalar, #scalar,
                       #matrix, #matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%w1, %dw1, %m1, %v1, %scale1, %scale2 : tensor<1024x4096xf32>, tensor<1024x4096xf32>,
          tensor<1024x4096xf32>, tensor<1024x4096xf32>, tensor<f32>, tensor<f32>)
      outs(%w1_empty, %w1_empty, %w1_empty : tensor<1024x4096xf32>, tensor<1024x4096xf32>,
           tensor<1024x4096xf32>) {
  ^bb0(%w: f32, %g: f32, %m: f32, %v: f32, %s1: f32, %s2: f32, %o0: f32, %o1: f32, %o2: f32):
    %old_m = arith.mulf %keep1, %m : f32
    %more_m = arith.mulf %take1, %g : f32
    %new_m = arith.addf %old_m, %more_m : f32
    %old_v = arith.mulf %keep2, %v : f32
    %g_g = arith.mulf %g, %g : f32
    %more_v = arith.mulf %take2, %g_g : f32
    %new_v = arith.addf %old_v, %more_v : f32
    %mean = arith.divf %new_m, %s1 : f32
    %variance = arith.divf %new_v, %s2 : f32
    %root = math.sqrt %variance : f32
    %divisor = arith.addf %root, %epsilon : f32
    %direction = arith.divf %mean, %divisor : f32
    %pull = arith.mulf %decay, %w : f32
    %slope = arith.addf %direction, %pull : f32
    %change = arith.mulf %rate, %slope : f32
    %new_w = arith.subf %w, %change : f32
    linalg.yield %new_w, %new_m, %new_v : f32, f32, f32
  } -> (tensor<1024x4096xf32>, tensor<1024x4096xf32>, tensor<1024x4096xf32>)
  %new_w2, %new_m2, %new_v2 = linalg.generic {
      indexing_maps = [#matrix, #matrix, #matrix, #matrix, #scalar, #scalar,
                       #matrix, #matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%w2, %dw2, %m2, %v2, %scale1, %scale2 : tensor<4096x1024xf32>, tensor<4096x1024xf32>,
          tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<f32>, tensor<f32>)
      outs(%w2_empty, %w2_empty, %w2_empty : tensor<4096x1024xf32>, tensor<4096x1024xf32>,
           tensor<4096x1024xf32>) {
  ^bb0(%w: f32, %g: f32, %m: f32, %v: f32, %s1: f32, %s2: f32, %o0: f32, %o1: f32, %o2: f32):
    %old_m = arith.mulf %keep1, %m : f32
    %more_m = arith.mulf %take1, %g : f32
    %new_m = arith.addf %old_m, %more_m : f32
    %old_v = arith.mulf %keep2, %v : f32
    %g_g = arith.mulf %g, %g : f32
    %more_v = arith.mulf %take2, %g_g : f32
    %new_v = arith.addf %old_v, %more_v : f32
    %mean = arith.divf %new_m, %s1 : f32
    %variance = arith.divf %new_v, %s2 : f32
    %root = math.sqrt %variance : f32
    %divisor = arith.addf %root, %epsilon : f32
    %direction = arith.divf %mean, %divisor : f32
    %pull = arith.mulf %decay, %w : f32
    %slope = arith.addf %direction, %pull : f32
    %change = arith.mulf %rate, %slope : f32
    %new_w = arith.subf %w, %change : f32
    linalg.yield %new_w, %new_m, %new_v : f32, f32, f32
  } -> (tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<4096x1024xf32>)
  return %new_w1, %new_w2, %new_m1, %new_m2, %new_v1, %new_v2, %new_steps, %loss
      : tensor<1024x4096xf32>, tensor<4096x1024xf32>, tensor<1024x4096xf32>,
        tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<4096x1024xf32>, tensor<f32>,
        tensor<f32>
}
