// Attention of two heads and its gradient: q, k and v are slices of one product, heads come and go
// by expand_shape and transposition, a softmax over rows is needed again backwards.
//
//   p = softmax(q k'), o = p v; l = sum(o o); do = 2 o, dv = p' do, dp = do v',
//   ds = p (dp - sum(dp p)), dq = ds k, dk = ds' q

#id3 = affine_map<(h, i, j) -> (h, i, j)>
#rows = affine_map<(h, i, j) -> (h, i)>
#qk_q = affine_map<(h, i, j, k) -> (h, i, k)>
#qk_k = affine_map<(h, i, j, k) -> (h, j, k)>
#qk_s = affine_map<(h, i, j, k) -> (h, i, j)>
#pt_p = affine_map<(h, i, j, k) -> (h, k, i)>
#pt_o = affine_map<(h, i, j, k) -> (h, k, j)>
#wt_x = affine_map<(i, j, k) -> (k, i)>
#wt_y = affine_map<(i, j, k) -> (k, j)>
#wt_w = affine_map<(i, j, k) -> (i, j)>

!x = tensor<32x8xf32>
!w = tensor<8x48xf32>
!qkv = tensor<32x48xf32>
!part = tensor<32x16xf32>
!heads = tensor<32x2x8xf32>
!h = tensor<2x32x8xf32>
!s = tensor<2x32x32xf32>
!r = tensor<2x32xf32>

module {
  func.func @step(%x: !x, %w: !w) -> (!w, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant -3.0e+38 : f32
    %qkv.e = tensor.empty() : !qkv
    %qkv.z = linalg.fill ins(%zero : f32) outs(%qkv.e : !qkv) -> !qkv
    %qkv = linalg.matmul ins(%x, %w : !x, !w) outs(%qkv.z : !qkv) -> !qkv
    %q.s = tensor.extract_slice %qkv[0, 0] [32, 16] [1, 1] : !qkv to !part
    %k.s = tensor.extract_slice %qkv[0, 16] [32, 16] [1, 1] : !qkv to !part
    %v.s = tensor.extract_slice %qkv[0, 32] [32, 16] [1, 1] : !qkv to !part
    %q.x = tensor.expand_shape %q.s [[0], [1, 2]] output_shape [32, 2, 8] : !part into !heads
    %k.x = tensor.expand_shape %k.s [[0], [1, 2]] output_shape [32, 2, 8] : !part into !heads
    %v.x = tensor.expand_shape %v.s [[0], [1, 2]] output_shape [32, 2, 8] : !part into !heads
    %h.e = tensor.empty() : !h
    %q = linalg.transpose ins(%q.x : !heads) outs(%h.e : !h) permutation = [1, 0, 2]
    %k = linalg.transpose ins(%k.x : !heads) outs(%h.e : !h) permutation = [1, 0, 2]
    %v = linalg.transpose ins(%v.x : !heads) outs(%h.e : !h) permutation = [1, 0, 2]

    // p = softmax(q k')
    %s.e = tensor.empty() : !s
    %s.z = linalg.fill ins(%zero : f32) outs(%s.e : !s) -> !s
    %s = linalg.batch_matmul indexing_maps = [#qk_q, #qk_k, #qk_s] ins(%q, %k : !h, !h) outs(%s.z : !s) -> !s
    %r.e = tensor.empty() : !r
    %r.low = linalg.fill ins(%low : f32) outs(%r.e : !r) -> !r
    %max = linalg.generic {indexing_maps = [#id3, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : !s) outs(%r.low : !r) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %in, %out : f32
      linalg.yield %0 : f32
    } -> !r
    %exp = linalg.generic {indexing_maps = [#id3, #rows, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : !s, !r) outs(%s.e : !s) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %0 = arith.subf %in, %m : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> !s
    %r.z = linalg.fill ins(%zero : f32) outs(%r.e : !r) -> !r
    %sum = linalg.generic {indexing_maps = [#id3, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exp : !s) outs(%r.z : !r) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !r
    %p = linalg.generic {indexing_maps = [#id3, #rows, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exp, %sum : !s, !r) outs(%s.e : !s) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %0 = arith.divf %in, %m : f32
      linalg.yield %0 : f32
    } -> !s

    // o = p v, l = sum(o o)
    %h.z = linalg.fill ins(%zero : f32) outs(%h.e : !h) -> !h
    %o = linalg.batch_matmul ins(%p, %v : !s, !h) outs(%h.z : !h) -> !h
    %oo = arith.mulf %o, %o : !h
    %flat = tensor.collapse_shape %oo [[0, 1, 2]] : !h into tensor<512xf32>
    %l.e = tensor.empty() : tensor<f32>
    %l.z = linalg.fill ins(%zero : f32) outs(%l.e : tensor<f32>) -> tensor<f32>
    %l = linalg.reduce ins(%flat : tensor<512xf32>) outs(%l.z : tensor<f32>) dimensions = [0]
      (%in: f32, %out: f32) {
        %0 = arith.addf %in, %out : f32
        linalg.yield %0 : f32
      }

    // Backwards; %h.z and %s.z begin all sums.
    %do = arith.addf %o, %o : !h
    %dv = linalg.batch_matmul indexing_maps = [#pt_p, #pt_o, #qk_s] ins(%p, %do : !s, !h) outs(%h.z : !h) -> !h
    %dp = linalg.batch_matmul indexing_maps = [#qk_q, #qk_k, #qk_s] ins(%do, %v : !h, !h) outs(%s.z : !s) -> !s
    %dpp = arith.mulf %dp, %p : !s
    %dot = linalg.generic {indexing_maps = [#id3, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%dpp : !s) outs(%r.z : !r) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !r
    %ds = linalg.generic {indexing_maps = [#id3, #rows, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dp, %dot, %p : !s, !r, !s) outs(%s.e : !s) {
    ^bb0(%in: f32, %m: f32, %at: f32, %out: f32):
      %0 = arith.subf %in, %m : f32
      %1 = arith.mulf %0, %at : f32
      linalg.yield %1 : f32
    } -> !s
    %dq = linalg.batch_matmul ins(%ds, %k : !s, !h) outs(%h.z : !h) -> !h
    %dk = linalg.batch_matmul indexing_maps = [#pt_p, #pt_o, #qk_s] ins(%ds, %q : !s, !h) outs(%h.z : !h) -> !h

    // The gradient of the product is put together from its parts.
    %t.e = tensor.empty() : !heads
    %dq.t = linalg.transpose ins(%dq : !h) outs(%t.e : !heads) permutation = [1, 0, 2]
    %dk.t = linalg.transpose ins(%dk : !h) outs(%t.e : !heads) permutation = [1, 0, 2]
    %dv.t = linalg.transpose ins(%dv : !h) outs(%t.e : !heads) permutation = [1, 0, 2]
    %dq.c = tensor.collapse_shape %dq.t [[0], [1, 2]] : !heads into !part
    %dk.c = tensor.collapse_shape %dk.t [[0], [1, 2]] : !heads into !part
    %dv.c = tensor.collapse_shape %dv.t [[0], [1, 2]] : !heads into !part
    %i0 = tensor.insert_slice %dq.c into %qkv.e[0, 0] [32, 16] [1, 1] : !part into !qkv
    %i1 = tensor.insert_slice %dk.c into %i0[0, 16] [32, 16] [1, 1] : !part into !qkv
    %dqkv = tensor.insert_slice %dv.c into %i1[0, 32] [32, 16] [1, 1] : !part into !qkv
    %dw.e = tensor.empty() : !w
    %dw.z = linalg.fill ins(%zero : f32) outs(%dw.e : !w) -> !w
    %dw = linalg.matmul indexing_maps = [#wt_x, #wt_y, #wt_w] ins(%x, %dqkv : !x, !qkv) outs(%dw.z : !w) -> !w
    return %dw, %l : !w, tensor<f32>
  }
}
