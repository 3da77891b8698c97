// A layer with dropout: a mask from threefry's rounds over a counter and an explicit key, needed
// again for the gradient, around fill and matmul in destination passing style.
//
//   h = x w + b; y = m tanh(h); l = sum(y y); dw = x' dh, db = sum(dh), dh = 2 y m (1 - tanh(h)^2)

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>
#scalar = affine_map<(i) -> (0)>
#x = affine_map<(i, j, k) -> (k, i)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>

!key = tensor<2xi32>
!x = tensor<64x4xf32>
!w = tensor<4x64xf32>
!b = tensor<64xf32>
!t = tensor<64x64xf32>
!bits = tensor<64x64xi32>

module {
  func.func @step(%x: !x, %w: !w, %b: !b, %key: !key {iree.abi.encoding = tensor<2xui32>})
      -> (!w, !b, !key, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index

    // h = x w + b
    %h.e = tensor.empty() : !t
    %h.z = linalg.fill ins(%zero : f32) outs(%h.e : !t) -> !t
    %h.m = linalg.matmul ins(%x, %w : !x, !w) outs(%h.z : !t) -> !t
    %b.e = tensor.empty() : !t
    %b.t = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b : !b) outs(%b.e : !t) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> !t
    %h = arith.addf %h.m, %b.t : !t
    %a = math.tanh %h : !t

    // Two rounds of threefry over the number of each element.
    %k0 = tensor.extract %key[%c0] : !key
    %k1 = tensor.extract %key[%c1] : !key
    %m.e = tensor.empty() : !bits
    %bits = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%m.e : !bits) {
    ^bb0(%out: i32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i32 = arith.index_cast %i : index to i32
      %j32 = arith.index_cast %j : index to i32
      %c13 = arith.constant 13 : i32
      %c15 = arith.constant 15 : i32
      %c17 = arith.constant 17 : i32
      %c19 = arith.constant 19 : i32
      %x0 = arith.addi %i32, %k0 : i32
      %x1 = arith.addi %j32, %k1 : i32
      %y0 = arith.addi %x0, %x1 : i32
      %l0 = arith.shli %x1, %c13 : i32
      %r0 = arith.shrui %x1, %c19 : i32
      %o0 = arith.ori %l0, %r0 : i32
      %y1 = arith.xori %o0, %y0 : i32
      %z0 = arith.addi %y0, %y1 : i32
      %l1 = arith.shli %y1, %c15 : i32
      %r1 = arith.shrui %y1, %c17 : i32
      %o1 = arith.ori %l1, %r1 : i32
      %z1 = arith.xori %o1, %z0 : i32
      linalg.yield %z1 : i32
    } -> !bits
    %m.f = tensor.empty() : !t
    %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%bits : !bits) outs(%m.f : !t) {
    ^bb0(%in: i32, %out: f32):
      %c0_i32 = arith.constant 0 : i32
      %two = arith.constant 2.0 : f32
      %keep = arith.cmpi sge, %in, %c0_i32 : i32
      %scale = arith.select %keep, %two, %zero : f32
      linalg.yield %scale : f32
    } -> !t

    %y = arith.mulf %a, %m : !t
    %yy = arith.mulf %y, %y : !t
    %l.e = tensor.empty() : tensor<f32>
    %l.z = linalg.fill ins(%zero : f32) outs(%l.e : tensor<f32>) -> tensor<f32>
    %l = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%yy : !t) outs(%l.z : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    } -> tensor<f32>

    %dy = arith.addf %y, %y : !t
    %dm = arith.mulf %dy, %m : !t
    %ones = arith.constant dense<1.0> : !t
    %aa = arith.mulf %a, %a : !t
    %da = arith.subf %ones, %aa : !t
    %dh = arith.mulf %dm, %da : !t
    %dw.e = tensor.empty() : !w
    %dw.z = linalg.fill ins(%zero : f32) outs(%dw.e : !w) -> !w
    %dw = linalg.matmul indexing_maps = [#x, #y, #z] ins(%x, %dh : !x, !t) outs(%dw.z : !w) -> !w
    %db.e = tensor.empty() : !b
    %db.z = linalg.fill ins(%zero : f32) outs(%db.e : !b) -> !b
    %db = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%dh : !t) outs(%db.z : !b) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    } -> !b

    // The next key, from one element of the same bits.
    %next = tensor.extract %bits[%c0, %c1] : !bits
    %key.next = tensor.insert %next into %key[%c1] : !key
    return %dw, %db, %key.next, %l : !w, !b, !key, tensor<f32>
  }
}
