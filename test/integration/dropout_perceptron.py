#!/usr/bin/env python3
"""Prints a training step of a perceptron with dropout, for remat-run --loop.

  dropout_perceptron.py [--batch 8] [--inputs 16] [--hidden 64] [--outputs 16]

y = dropout(relu(x W1)) W2, the loss is the mean of (y - t)^2, and AdamW updates both matrices. The
mask is a hash of an explicit seed and the place of the element (Chris Wellons' lowbias32), so that
it can be computed again; the step returns the seed of the next one.
"""

import argparse

ADAMW = """
  %{p}_m_new = linalg.generic {{indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%{p}_m, %{p}_g : {T}, {T}) outs(%{p}_e : {T}) {{
  ^bb0(%m: f32, %g: f32, %o: f32):
    %old = arith.mulf %m, %beta1 : f32
    %new = arith.mulf %g, %beta1c : f32
    %r = arith.addf %old, %new : f32
    linalg.yield %r : f32
  }} -> {T}
  %{p}_v_new = linalg.generic {{indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%{p}_v, %{p}_g : {T}, {T}) outs(%{p}_e : {T}) {{
  ^bb0(%v: f32, %g: f32, %o: f32):
    %old = arith.mulf %v, %beta2 : f32
    %gg = arith.mulf %g, %g : f32
    %new = arith.mulf %gg, %beta2c : f32
    %r = arith.addf %old, %new : f32
    linalg.yield %r : f32
  }} -> {T}
  %{p}_new = linalg.generic {{
      indexing_maps = [#e, #e, #e, #s, #s, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%{p}, %{p}_m_new, %{p}_v_new, %b1_new, %b2_new : {T}, {T}, {T}, tensor<f32>, tensor<f32>)
      outs(%{p}_e : {T}) {{
  ^bb0(%p: f32, %m: f32, %v: f32, %q1: f32, %q2: f32, %o: f32):
    %c1 = arith.subf %one, %q1 : f32
    %c2 = arith.subf %one, %q2 : f32
    %mean = arith.divf %m, %c1 : f32
    %variance = arith.divf %v, %c2 : f32
    %root = math.sqrt %variance : f32
    %divisor = arith.addf %root, %eps : f32
    %step = arith.divf %mean, %divisor : f32
    %decayed = arith.mulf %p, %decay : f32
    %both = arith.addf %step, %decayed : f32
    %change = arith.mulf %both, %rate : f32
    %r = arith.subf %p, %change : f32
    linalg.yield %r : f32
  }} -> {T}"""

STEP = """#e = affine_map<(d0, d1) -> (d0, d1)>
#s = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1, d2) -> (d0, d2)>
#column = affine_map<(d0, d1, d2) -> (d2, d1)>
#columnT = affine_map<(d0, d1, d2) -> (d1, d2)>
#rowT = affine_map<(d0, d1, d2) -> (d2, d0)>
#product = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @step(%x: {X}, %t: {Y}, %w1: {W1}, %w1_m: {W1}, %w1_v: {W1}, %w2: {W2}, %w2_m: {W2},
                %w2_v: {W2}, %b1: tensor<f32>, %b2: tensor<f32>, %seed: tensor<i32>)
    -> ({W1}, {W1}, {W1}, {W2}, {W2}, {W2}, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>) {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %beta1 = arith.constant 0.9 : f32
  %beta1c = arith.constant 0.1 : f32
  %beta2 = arith.constant 0.999 : f32
  %beta2c = arith.constant 0.001 : f32
  %eps = arith.constant 1.0e-8 : f32
  %decay = arith.constant 0.01 : f32
  %rate = arith.constant 0.01 : f32
  %scale = arith.constant {scale} : f32
  %izero = arith.constant 0 : i32
  %golden = arith.constant 0x9e3779b9 : i32
  %k1 = arith.constant 0x7feb352d : i32
  %k2 = arith.constant 0x846ca68b : i32
  %s15 = arith.constant 15 : i32
  %s16 = arith.constant 16 : i32
  %width = arith.constant {hidden} : i32
  %h_e = tensor.empty() : {H}
  %y_e = tensor.empty() : {Y}
  %w1_e = tensor.empty() : {W1}
  %w2_e = tensor.empty() : {W2}
  %l_e = tensor.empty() : tensor<f32>
  %h_0 = linalg.fill ins(%zero : f32) outs(%h_e : {H}) -> {H}
  %y_0 = linalg.fill ins(%zero : f32) outs(%y_e : {Y}) -> {Y}
  %w1_0 = linalg.fill ins(%zero : f32) outs(%w1_e : {W1}) -> {W1}
  %w2_0 = linalg.fill ins(%zero : f32) outs(%w2_e : {W2}) -> {W2}
  %l_0 = linalg.fill ins(%zero : f32) outs(%l_e : tensor<f32>) -> tensor<f32>

  // Forward.
  %h = linalg.matmul ins(%x, %w1 : {X}, {W1}) outs(%h_0 : {H}) -> {H}
  %a = linalg.generic {{indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%h : {H}) outs(%h_e : {H}) {{
  ^bb0(%i: f32, %o: f32):
    %r = arith.maximumf %i, %zero : f32
    linalg.yield %r : f32
  }} -> {H}
  %mask = linalg.generic {{indexing_maps = [#s, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%seed : tensor<i32>) outs(%h_e : {H}) {{
  ^bb0(%i: i32, %o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %r32 = arith.index_cast %r : index to i32
    %c32 = arith.index_cast %c : index to i32
    %rw = arith.muli %r32, %width : i32
    %place = arith.addi %rw, %c32 : i32
    %spread = arith.muli %place, %golden : i32
    %h0 = arith.xori %spread, %i : i32
    %h1 = arith.shrui %h0, %s16 : i32
    %h2 = arith.xori %h0, %h1 : i32
    %h3 = arith.muli %h2, %k1 : i32
    %h4 = arith.shrui %h3, %s15 : i32
    %h5 = arith.xori %h3, %h4 : i32
    %h6 = arith.muli %h5, %k2 : i32
    %h7 = arith.shrui %h6, %s16 : i32
    %h8 = arith.xori %h6, %h7 : i32
    %keep = arith.cmpi slt, %h8, %izero : i32
    %f = arith.select %keep, %two, %zero : f32
    linalg.yield %f : f32
  }} -> {H}
  %d = linalg.mul ins(%a, %mask : {H}, {H}) outs(%h_e : {H}) -> {H}
  %y = linalg.matmul ins(%d, %w2 : {H}, {W2}) outs(%y_0 : {Y}) -> {Y}
  %diff = linalg.sub ins(%y, %t : {Y}, {Y}) outs(%y_e : {Y}) -> {Y}
  %square = linalg.mul ins(%diff, %diff : {Y}, {Y}) outs(%y_e : {Y}) -> {Y}
  %sum = linalg.reduce {{ arith.addf }} ins(%square : {Y}) outs(%l_0 : tensor<f32>) dimensions = [0, 1]
  %loss = linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}}
      ins(%sum : tensor<f32>) outs(%l_e : tensor<f32>) {{
  ^bb0(%i: f32, %o: f32):
    %r = arith.mulf %i, %scale : f32
    linalg.yield %r : f32
  }} -> tensor<f32>

  // Backward.
  %y_g = linalg.generic {{indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%diff : {Y}) outs(%y_e : {Y}) {{
  ^bb0(%i: f32, %o: f32):
    %r = arith.mulf %i, %scale : f32
    %r2 = arith.addf %r, %r : f32
    linalg.yield %r2 : f32
  }} -> {Y}
  %w2_g = linalg.matmul indexing_maps = [#rowT, #column, #product]
      ins(%d, %y_g : {H}, {Y}) outs(%w2_0 : {W2}) -> {W2}
  %d_g = linalg.matmul indexing_maps = [#row, #columnT, #product]
      ins(%y_g, %w2 : {Y}, {W2}) outs(%h_0 : {H}) -> {H}
  %a_g = linalg.mul ins(%d_g, %mask : {H}, {H}) outs(%h_e : {H}) -> {H}
  %h_g = linalg.generic {{indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%a_g, %h : {H}, {H}) outs(%h_e : {H}) {{
  ^bb0(%g: f32, %i: f32, %o: f32):
    %isPositive = arith.cmpf ogt, %i, %zero : f32
    %r = arith.select %isPositive, %g, %zero : f32
    linalg.yield %r : f32
  }} -> {H}
  %w1_g = linalg.matmul indexing_maps = [#rowT, #column, #product]
      ins(%x, %h_g : {X}, {H}) outs(%w1_0 : {W1}) -> {W1}

  // AdamW: %b1 and %b2 are powers of the decay rates.
  %beta1_t = tensor.from_elements %beta1 : tensor<f32>
  %beta2_t = tensor.from_elements %beta2 : tensor<f32>
  %b1_new = arith.mulf %b1, %beta1_t : tensor<f32>
  %b2_new = arith.mulf %b2, %beta2_t : tensor<f32>{adamw1}{adamw2}
  %odd = arith.constant dense<1664525> : tensor<i32>
  %more = arith.constant dense<1013904223> : tensor<i32>
  %seed_0 = arith.muli %seed, %odd : tensor<i32>
  %seed_new = arith.addi %seed_0, %more : tensor<i32>
  return %w1_new, %w1_m_new, %w1_v_new, %w2_new, %w2_m_new, %w2_v_new, %b1_new, %b2_new, %seed_new, %loss
      : {W1}, {W1}, {W1}, {W2}, {W2}, {W2}, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>
}}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, size in (("batch", 8), ("inputs", 16), ("hidden", 64), ("outputs", 16)):
        parser.add_argument(f"--{name}", type=int, default=size)
    sizes = parser.parse_args()
    matrix = lambda rows, columns: f"tensor<{rows}x{columns}xf32>"  # noqa: E731
    w1, w2 = matrix(sizes.inputs, sizes.hidden), matrix(sizes.hidden, sizes.outputs)
    print(STEP.format(X=matrix(sizes.batch, sizes.inputs), H=matrix(sizes.batch, sizes.hidden),
                      Y=matrix(sizes.batch, sizes.outputs), W1=w1, W2=w2, hidden=sizes.hidden,
                      scale=f"{1 / (sizes.batch * sizes.outputs):e}",
                      adamw1=ADAMW.format(p="w1", T=w1), adamw2=ADAMW.format(p="w2", T=w2)))


if __name__ == "__main__":
    main()
