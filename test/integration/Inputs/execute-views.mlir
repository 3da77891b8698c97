// Concatenation by insert_slice, slices of activations, an argmax with two results, its indices used
// to gather and to scatter, a transposed and a padded view.

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

!v = tensor<32xf32>
!t = tensor<32x32xf32>
!wide = tensor<32x64xf32>
!n = tensor<32xi32>

module {
  func.func @step(%x: !v, %y: !v, %labels: !n) -> (!v, !n, !v, tensor<f32>) {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant -3.0e+38 : f32
    %none = arith.constant 0 : i32
    %e = tensor.empty() : !t
    %a = linalg.generic {indexing_maps = [#first, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : !v, !v) outs(%e : !t) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %0 = arith.mulf %in0, %in1 : f32
      %1 = math.sin %0 : f32
      linalg.yield %1 : f32
    } -> !t
    %b = linalg.generic {indexing_maps = [#first, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %x : !v, !v) outs(%e : !t) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %0 = arith.addf %in0, %in1 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> !t

    // [a | b]; a and b are read again below.
    %c.e = tensor.empty() : !wide
    %c.a = tensor.insert_slice %a into %c.e[0, 0] [32, 32] [1, 1] : !t into !wide
    %c = tensor.insert_slice %b into %c.a[0, 32] [32, 32] [1, 1] : !t into !wide
    %d = math.tanh %c : !wide
    // Every second column, a block of the middle, and a contiguous half.
    %odd = tensor.extract_slice %d[0, 1] [32, 32] [1, 2] : !wide to !t
    %middle = tensor.extract_slice %d[0, 16] [32, 32] [1, 1] : !wide to !t
    %half = tensor.extract_slice %c[16, 0] [16, 64] [1, 1] : !wide to tensor<16x64xf32>
    %flat = tensor.collapse_shape %half [[0, 1]] : tensor<16x64xf32> into tensor<1024xf32>
    %square = tensor.expand_shape %flat [[0, 1]] output_shape [32, 32] : tensor<1024xf32> into !t
    %mixed = arith.mulf %odd, %middle : !t
    %scores = arith.addf %mixed, %square : !t

    // The largest of each row, and where it is.
    %m.e = tensor.empty() : !v
    %m.z = linalg.fill ins(%low : f32) outs(%m.e : !v) -> !v
    %n.e = tensor.empty() : !n
    %n.z = linalg.fill ins(%none : i32) outs(%n.e : !n) -> !n
    %top:2 = linalg.generic {indexing_maps = [#id, #first, #first], iterator_types = ["parallel", "reduction"]} ins(%scores : !t) outs(%m.z, %n.z : !v, !n) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %better = arith.cmpf ogt, %in, %best : f32
      %0 = arith.select %better, %in, %best : f32
      %1 = arith.select %better, %j32, %place : i32
      linalg.yield %0, %1 : f32, i32
    } -> (!v, !n)
    %hit = arith.cmpi eq, %top#1, %labels : !n
    %right = arith.extui %hit : tensor<32xi1> to !n
    %places = arith.addi %right, %top#1 : !n
    %gathered = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%top#1 : !n) outs(%m.e : !v) {
    ^bb0(%in: i32, %out: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %in : i32 to index
      %0 = tensor.extract %a[%i, %j] : !t
      %1 = tensor.extract %b[%j, %i] : !t
      %2 = arith.addf %0, %1 : f32
      linalg.yield %2 : f32
    } -> !v
    %picked = arith.mulf %gathered, %top#0 : !v
    %l.e = tensor.empty() : tensor<f32>
    %l.z = linalg.fill ins(%zero : f32) outs(%l.e : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%picked : !v) outs(%l.z : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>

    // Backwards: a one-hot scatter, through the slices and the concatenation again.
    %ds = linalg.generic {indexing_maps = [#first, #first, #id], iterator_types = ["parallel", "parallel"]} ins(%top#0, %top#1 : !v, !n) outs(%e : !t) {
    ^bb0(%in0: f32, %in1: i32, %out: f32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %at = arith.cmpi eq, %j32, %in1 : i32
      %0 = arith.select %at, %in0, %zero : f32
      linalg.yield %0 : f32
    } -> !t
    %dodd = arith.mulf %ds, %middle : !t
    %dmiddle = arith.mulf %ds, %odd : !t
    %dc.z = linalg.fill ins(%zero : f32) outs(%c.e : !wide) -> !wide
    %dc.odd = tensor.insert_slice %dodd into %dc.z[0, 1] [32, 32] [1, 2] : !t into !wide
    %dc.block = tensor.extract_slice %dc.odd[0, 16] [32, 32] [1, 1] : !wide to !t
    %dc.sum = arith.addf %dc.block, %dmiddle : !t
    %dc = tensor.insert_slice %dc.sum into %dc.odd[0, 16] [32, 32] [1, 1] : !t into !wide
    %dd = arith.mulf %dc, %d : !wide
    %ddc = arith.addf %dd, %c : !wide
    %da = tensor.extract_slice %ddc[0, 0] [32, 32] [1, 1] : !wide to !t
    %db = tensor.extract_slice %ddc[0, 32] [32, 32] [1, 1] : !wide to !t
    %padded = tensor.pad %da low[2, 0] high[0, 3] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : !t to tensor<34x35xf32>
    %shifted = tensor.extract_slice %padded[0, 3] [32, 32] [1, 1] : tensor<34x35xf32> to !t
    %daa = arith.mulf %shifted, %a : !t
    %dbb = arith.mulf %db, %b : !t
    %v.z = linalg.fill ins(%zero : f32) outs(%m.e : !v) -> !v
    %dx = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%daa : !t) outs(%v.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %dy = linalg.generic {indexing_maps = [#t, #first], iterator_types = ["parallel", "reduction"]} ins(%dbb : !t) outs(%dx : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    return %dx, %places, %dy, %loss : !v, !n, !v, tensor<f32>
  }
}
