// Clones that write onto what somebody reads later: each init is an argument, or a value with other
// readers, that the clone gets from outside through its barrier. In the middle is a peak that needs
// none of them.
//
//   u = w + sin(x), s = tanh(u) y + tanh(u), c = sum of the columns of s onto y

#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

!v = tensor<40xf32>
!t = tensor<40x40xf32>
!wide = tensor<40x80xf32>

module {
  func.func @step(%w: !t, %x: !v, %y: !v) -> (!v, !v, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    // Onto an argument.
    %u = linalg.generic {indexing_maps = [#second, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !v) outs(%w : !t) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.sin %in : f32
      %1 = arith.addf %0, %out : f32
      linalg.yield %1 : f32
    } -> !t
    // Onto a value with another reader.
    %t = math.tanh %u : !t
    %s = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel"]} ins(%y : !v) outs(%t : !t) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %out : f32
      %1 = arith.addf %0, %out : f32
      linalg.yield %1 : f32
    } -> !t
    // A block of one value in another.
    %block = tensor.extract_slice %s[5, 0] [20, 40] [1, 1] : !t to tensor<20x40xf32>
    %m = tensor.insert_slice %block into %u[20, 0] [20, 40] [1, 1] : tensor<20x40xf32> into !t
    %p = arith.mulf %m, %s : !t
    %l.e = tensor.empty() : tensor<f32>
    %l.z = linalg.fill ins(%zero : f32) outs(%l.e : tensor<f32>) -> tensor<f32>
    %l = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%p : !t) outs(%l.z : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>

    // The peak.
    %loss = tensor.extract %l[] : tensor<f32>
    %wide.e = tensor.empty() : !wide
    %wide = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !v) outs(%wide.e : !wide) {
    ^bb0(%in: f32, %out: f32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %number = arith.sitofp %j32 : i32 to f32
      %0 = arith.mulf %in, %number : f32
      %1 = arith.addf %0, %loss : f32
      linalg.yield %1 : f32
    } -> !wide
    %cos = math.cos %wide : !wide
    %product = arith.mulf %cos, %wide : !wide
    %v.e = tensor.empty() : !v
    %v.z = linalg.fill ins(%zero : f32) outs(%v.e : !v) -> !v
    %rows = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%product : !wide) outs(%v.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v

    // Everything again.
    %t.e = tensor.empty() : !t
    %d0 = linalg.generic {indexing_maps = [#second, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rows, %s : !v, !t) outs(%t.e : !t) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %0 = arith.mulf %in0, %in1 : f32
      linalg.yield %0 : f32
    } -> !t
    %d1 = arith.mulf %d0, %t : !t
    %d2 = arith.addf %d1, %m : !t
    %d3 = arith.mulf %d2, %u : !t
    %d4 = arith.addf %d3, %w : !t
    %dx = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%d4 : !t) outs(%y : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %dy = arith.addf %dx, %y : !v
    return %dx, %dy, %l : !v, !v, tensor<f32>
  }
}
