// Destinations that are read again. Every init below is a value with another reader: an accumulator
// continued in two ways, arguments as inits, one fill that begins several sums, an inserted slice of
// what it is inserted into, an argument and one value twice in the results.

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

!v = tensor<40xf32>
!t = tensor<40x40xf32>

module {
  func.func @step(%x: !v, %y: !v, %sum: !v) -> (!v, !v, !v, !v, tensor<f32>, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %e = tensor.empty() : !t
    %a = linalg.generic {indexing_maps = [#first, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : !v, !v) outs(%e : !t) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %0 = arith.subf %in0, %in1 : f32
      %1 = math.sin %0 : f32
      linalg.yield %1 : f32
    } -> !t
    %b = math.exp %a : !t
    %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t

    // One accumulator, continued twice; the first sum is read after both.
    %p0 = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
    %p1 = linalg.matmul ins(%b, %a : !t, !t) outs(%p0 : !t) -> !t
    %p2 = linalg.matmul ins(%b, %b : !t, !t) outs(%p0 : !t) -> !t
    %s0 = arith.addf %p1, %p2 : !t
    %s1 = arith.mulf %s0, %p0 : !t

    // An elementwise operation onto its own operand, and one that reads its init.
    %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s1 : !t) outs(%b : !t) {
    ^bb0(%in: f32, %out: f32):
      %c = arith.constant 1.0e-03 : f32
      %0 = arith.mulf %in, %c : f32
      %1 = math.tanh %0 : f32
      %2 = arith.addf %1, %out : f32
      linalg.yield %2 : f32
    } -> !t
    %v = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%u : !t) outs(%u : !t) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.subf %in, %out : f32
      linalg.yield %0 : f32
    } -> !t

    // A slice of a value, changed and put back at another place of it; a row from one place to another.
    %block = tensor.extract_slice %v[0, 0] [20, 40] [1, 1] : !t to tensor<20x40xf32>
    %cos = math.cos %block : tensor<20x40xf32>
    %w = tensor.insert_slice %cos into %v[20, 0] [20, 40] [1, 1] : tensor<20x40xf32> into !t
    %corner = tensor.extract %w[%c3, %c0] : !t
    %w1 = tensor.insert %corner into %w[%c0, %c3] : !t

    %l.e = tensor.empty() : tensor<f32>
    %l.z = linalg.fill ins(%zero : f32) outs(%l.e : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%w1 : !t) outs(%l.z : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>
    %more = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%v : !t) outs(%loss : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>

    // Backwards: all of them again, onto the argument %sum and twice onto the same zeros.
    %d0 = arith.mulf %w1, %u : !t
    %d1 = arith.mulf %d0, %s1 : !t
    %d2 = arith.addf %d1, %p1 : !t
    %d3 = arith.mulf %d2, %b : !t
    %d4 = linalg.matmul ins(%d3, %a : !t, !t) outs(%z : !t) -> !t
    %d5 = linalg.matmul ins(%a, %p2 : !t, !t) outs(%d4 : !t) -> !t
    %d6 = arith.addf %d5, %d4 : !t
    %dx = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%d6 : !t) outs(%sum : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %dy = linalg.generic {indexing_maps = [#t, #first], iterator_types = ["parallel", "reduction"]} ins(%d6 : !t) outs(%sum : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %dxy = arith.mulf %dx, %sum : !v
    return %dx, %dy, %dxy, %dx, %loss, %more : !v, !v, !v, !v, tensor<f32>, tensor<f32>
  }
}
