// A recurrent layer over 6 steps: the loop stacks its states, the backward loop reads them last to
// first. What is needed before the loops and again behind them is cheap to make again, also by a loop.
//
//   h' = tanh(h w + x_t) for t = 0 .. 5;  dh = (dh + x_t) (1 - h' h') for t = 5 .. 0

#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>

!v = tensor<32xf32>
!h = tensor<32x32xf32>
!stack = tensor<6x32x32xf32>

module {
  func.func @step(%a: !v, %b: !v, %x: tensor<6x32xf32>) -> (!v, !h, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %e = tensor.empty() : !h

    // The weights and the first state.
    %w = linalg.generic {indexing_maps = [#first, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : !v, !v) outs(%e : !h) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %c = arith.constant 0.25 : f32
      %0 = arith.mulf %in0, %in1 : f32
      %1 = math.sin %0 : f32
      %2 = arith.mulf %1, %c : f32
      linalg.yield %2 : f32
    } -> !h
    %h0 = linalg.generic {indexing_maps = [#second, #first, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : !v, !v) outs(%e : !h) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %0 = arith.subf %in0, %in1 : f32
      %1 = math.cos %0 : f32
      linalg.yield %1 : f32
    } -> !h
    %g = math.exp %w : !h
    %g.sum = arith.addf %g, %h0 : !h

    // Noise, made by a loop of its own, which writes to its carried tensor.
    %c3 = arith.constant 3 : index
    %noise = scf.for %t = %c0 to %c3 step %c1 iter_args(%n = %h0) -> (!h) {
      %x.t = tensor.extract_slice %x[%t, 0] [1, 32] [1, 1] : tensor<6x32xf32> to !v
      %next = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel"]} ins(%x.t : !v) outs(%n : !h) {
      ^bb0(%in: f32, %out: f32):
        %c = arith.constant 5.0 : f32
        %0 = arith.mulf %out, %c : f32
        %1 = arith.addf %0, %in : f32
        %2 = math.sin %1 : f32
        linalg.yield %2 : f32
      } -> !h
      scf.yield %next : !h
    }
    %g.noise = arith.mulf %g.sum, %noise : !h

    %stack.e = tensor.empty() : !stack
    %stack.z = linalg.fill ins(%zero : f32) outs(%stack.e : !stack) -> !stack
    %h:2 = scf.for %t = %c0 to %c6 step %c1 iter_args(%h = %h0, %stack = %stack.z) -> (!h, !stack) {
      %x.t = tensor.extract_slice %x[%t, 0] [1, 32] [1, 1] : tensor<6x32xf32> to !v
      %hw.z = linalg.fill ins(%zero : f32) outs(%e : !h) -> !h
      %hw = linalg.matmul ins(%h, %w : !h, !h) outs(%hw.z : !h) -> !h
      %next = linalg.generic {indexing_maps = [#id, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%hw, %x.t : !h, !v) outs(%e : !h) {
      ^bb0(%in0: f32, %in1: f32, %out: f32):
        %0 = arith.addf %in0, %in1 : f32
        %1 = math.tanh %0 : f32
        linalg.yield %1 : f32
      } -> !h
      %pushed = tensor.insert_slice %next into %stack[%t, 0, 0] [1, 32, 32] [1, 1, 1] : !h into !stack
      scf.yield %next, %pushed : !h, !stack
    }
    %hg = arith.mulf %h#0, %g : !h
    %hgs = arith.addf %hg, %g.noise : !h
    %loss.e = tensor.empty() : tensor<f32>
    %loss.z = linalg.fill ins(%zero : f32) outs(%loss.e : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%hgs : !h) outs(%loss.z : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>

    %d:2 = scf.for %t = %c0 to %c6 step %c1 iter_args(%dh = %g, %sum = %w) -> (!h, !h) {
      %back = arith.subi %c5, %t : index
      %h.t = tensor.extract_slice %h#1[%back, 0, 0] [1, 32, 32] [1, 1, 1] : !stack to !h
      %x.t = tensor.extract_slice %x[%back, 0] [1, 32] [1, 1] : tensor<6x32xf32> to !v
      %next = linalg.generic {indexing_maps = [#id, #id, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%dh, %h.t, %x.t : !h, !h, !v) outs(%e : !h) {
      ^bb0(%in0: f32, %in1: f32, %in2: f32, %out: f32):
        %c = arith.constant 1.0 : f32
        %0 = arith.mulf %in1, %in1 : f32
        %1 = arith.subf %c, %0 : f32
        %2 = arith.addf %in0, %in2 : f32
        %3 = arith.mulf %1, %2 : f32
        linalg.yield %3 : f32
      } -> !h
      // Accumulates where it stands.
      %sum.next = linalg.matmul ins(%h.t, %next : !h, !h) outs(%sum : !h) -> !h
      scf.yield %next, %sum.next : !h, !h
    }
    // Both are read behind the loops.
    %dw = arith.mulf %d#1, %g : !h
    %dwn = arith.mulf %dw, %noise : !h
    %dwh = arith.addf %dwn, %h0 : !h
    %da.e = tensor.empty() : !v
    %da.z = linalg.fill ins(%zero : f32) outs(%da.e : !v) -> !v
    %da = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%d#0 : !h) outs(%da.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    return %da, %dwh, %loss : !v, !h, tensor<f32>
  }
}
