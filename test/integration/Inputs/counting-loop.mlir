// A loop that counts: its threads read a number that one of them changes.
// Adam-like step counter in an inner loop: t += 1; w -= g / t
func.func @step(%w: tensor<300xf32>, %t: tensor<i32>, %g: tensor<300xf32>) -> (tensor<300xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %r:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %w, %s = %t) -> (tensor<300xf32>, tensor<i32>) {
    %v = tensor.extract %s[] : tensor<i32>
    %v1 = arith.addi %v, %one : i32
    %s1 = tensor.from_elements %v1 : tensor<i32>
    %f = arith.sitofp %v1 : i32 to f32
    %e = tensor.empty() : tensor<300xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %g : tensor<300xf32>, tensor<300xf32>) outs(%e : tensor<300xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %q = arith.divf %y, %f : f32
      %z = arith.subf %x, %q : f32
      linalg.yield %z : f32
    } -> tensor<300xf32>
    scf.yield %u, %s1 : tensor<300xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<300xf32>, tensor<i32>
}
