// Batch normalization with running statistics as state in the results, layer normalization over the
// same activations, a leaky ReLU with an i1 mask. Results go in place of accumulators of the state.
//
//   u = exp(x) s; n = (u - mean) rsqrt(var + eps) over rows, then over columns; y = n > 0 ? n : n / 8

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

!v = tensor<48xf32>
!t = tensor<48x48xf32>

module {
  func.func @step(%x: !v, %s: !v, %mean.old: !v, %var.old: !v) -> (!v, !v, !v, !v, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %inv = arith.constant 2.08333333e-02 : f32
    %eps = arith.constant dense<1.0e-03> : !v
    %invs = arith.constant dense<2.08333333e-02> : !v
    %decay = arith.constant dense<0.875> : !v
    %rest = arith.constant dense<0.125> : !v
    %zeros = arith.constant dense<0.0> : !t
    %slope = arith.constant dense<0.125> : !t

    %e = tensor.empty() : !t
    %u = linalg.generic {indexing_maps = [#first, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : !v, !v) outs(%e : !t) {
    ^bb0(%in: f32, %scale: f32, %out: f32):
      %0 = math.exp %in : f32
      %1 = arith.addf %0, %scale : f32
      %2 = arith.mulf %1, %scale : f32
      linalg.yield %2 : f32
    } -> !t

    // Batch statistics: of columns.
    %v.e = tensor.empty() : !v
    %v.z = linalg.fill ins(%zero : f32) outs(%v.e : !v) -> !v
    %sum = linalg.generic {indexing_maps = [#t, #first], iterator_types = ["parallel", "reduction"]} ins(%u : !t) outs(%v.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %mean = arith.mulf %sum, %invs : !v
    %c.e = tensor.empty() : !t
    %centered = linalg.generic {indexing_maps = [#id, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%u, %mean : !t, !v) outs(%c.e : !t) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %0 = arith.subf %in, %m : f32
      linalg.yield %0 : f32
    } -> !t
    %squares = arith.mulf %centered, %centered : !t
    // The same zeros as above begin the second sum.
    %sum2 = linalg.generic {indexing_maps = [#t, #first], iterator_types = ["parallel", "reduction"]} ins(%squares : !t) outs(%v.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %var = arith.mulf %sum2, %invs : !v
    %var.eps = arith.addf %var, %eps : !v
    %scale = math.rsqrt %var.eps : !v
    %n.e = tensor.empty() : !t
    %n = linalg.generic {indexing_maps = [#id, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%centered, %scale : !t, !v) outs(%n.e : !t) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %0 = arith.mulf %in, %m : f32
      linalg.yield %0 : f32
    } -> !t

    // The layer's mean: of rows, in one reduction that also writes the sum of squares.
    %r0.e = tensor.empty() : !v
    %r0.z = linalg.fill ins(%zero : f32) outs(%r0.e : !v) -> !v
    %r1.e = tensor.empty() : !v
    %r1.z = linalg.fill ins(%zero : f32) outs(%r1.e : !v) -> !v
    %rows:2 = linalg.generic {indexing_maps = [#id, #first, #first], iterator_types = ["parallel", "reduction"]} ins(%n : !t) outs(%r0.z, %r1.z : !v, !v) {
    ^bb0(%in: f32, %out0: f32, %out1: f32):
      %0 = arith.addf %in, %out0 : f32
      %1 = arith.mulf %in, %in : f32
      %2 = arith.addf %1, %out1 : f32
      linalg.yield %0, %2 : f32, f32
    } -> (!v, !v)
    %l.e = tensor.empty() : !t
    %l = linalg.generic {indexing_maps = [#id, #first, #first, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %rows#0, %rows#1 : !t, !v, !v) outs(%l.e : !t) {
    ^bb0(%in: f32, %s0: f32, %s1: f32, %out: f32):
      %c1 = arith.constant 1.0 : f32
      %0 = arith.mulf %s0, %inv : f32
      %1 = arith.subf %in, %0 : f32
      %2 = arith.addf %s1, %c1 : f32
      %3 = math.rsqrt %2 : f32
      %4 = arith.mulf %1, %3 : f32
      linalg.yield %4 : f32
    } -> !t

    // A leaky ReLU, and its loss.
    %positive = arith.cmpf ogt, %l, %zeros : !t
    %small = arith.mulf %l, %slope : !t
    %y = arith.select %positive, %l, %small : tensor<48x48xi1>, !t
    %t = math.tanh %y : !t
    %loss.e = tensor.empty() : tensor<f32>
    %loss.z = linalg.fill ins(%zero : f32) outs(%loss.e : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%t : !t) outs(%loss.z : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>

    // Backwards; everything above is read again.
    %one = arith.constant dense<1.0> : !t
    %tt = arith.mulf %t, %t : !t
    %dt = arith.subf %one, %tt : !t
    %ds = arith.mulf %dt, %slope : !t
    %dl = arith.select %positive, %dt, %ds : tensor<48x48xi1>, !t
    %dn.l = arith.mulf %dl, %l : !t
    %dn = arith.mulf %dn.l, %n : !t
    %dc = arith.addf %dn, %centered : !t
    %du = arith.mulf %dc, %u : !t
    %dx.e = tensor.empty() : !v
    %dx.z = linalg.fill ins(%zero : f32) outs(%dx.e : !v) -> !v
    %dx = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%du : !t) outs(%dx.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    // The gradient of s accumulates onto the one of x.
    %dxs = linalg.generic {indexing_maps = [#t, #first], iterator_types = ["parallel", "reduction"]} ins(%dn.l : !t) outs(%dx : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v

    // State, in place of the old one.
    %mean.kept = arith.mulf %mean.old, %decay : !v
    %mean.part = arith.mulf %mean, %rest : !v
    %mean.new = arith.addf %mean.kept, %mean.part : !v
    %var.new = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%var : !v) outs(%var.old : !v) {
    ^bb0(%in: f32, %out: f32):
      %c7 = arith.constant 0.875 : f32
      %c1 = arith.constant 0.125 : f32
      %0 = arith.mulf %out, %c7 : f32
      %1 = arith.mulf %in, %c1 : f32
      %2 = arith.addf %0, %1 : f32
      linalg.yield %2 : f32
    } -> !v
    return %dx, %dxs, %mean.new, %var.new, %loss : !v, !v, !v, !v, tensor<f32>
  }
}
