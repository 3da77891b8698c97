// Conditionals and calls of pure private functions, whose results are needed again backwards; scalars
// of several types as arguments and results; bf16 and f64 tensors.

#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

!v = tensor<40xf32>
!t = tensor<40x40xf32>
!b = tensor<40x40xbf16>

module {
  func.func private @outer(%x: !v, %y: !v, %scale: f32) -> !t {
    %e = tensor.empty() : !t
    %u = linalg.generic {indexing_maps = [#first, #second, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : !v, !v) outs(%e : !t) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %0 = arith.mulf %in0, %in1 : f32
      %1 = arith.addf %0, %scale : f32
      linalg.yield %1 : f32
    } -> !t
    return %u : !t
  }

  func.func private @activate(%x: !t, %scale: f32) -> !t {
    %erf = math.erf %x : !t
    %squares = arith.mulf %x, %x : !t
    %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%erf : !t) outs(%squares : !t) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %scale : f32
      %1 = arith.addf %0, %out : f32
      linalg.yield %1 : f32
    } -> !t
    %y = arith.mulf %scaled, %erf : !t
    return %y : !t
  }

  func.func @step(%x: !v, %y: !v, %scale: f32, %training: i1, %count: i64, %at: index)
      -> (!v, tensor<40xf64>, f32, i64, index, i1) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : !t
    %u = call @outer(%x, %y, %scale) : (!v, !v, f32) -> !t
    %g = call @activate(%u, %scale) : (!t, f32) -> !t
    %gg = call @activate(%g, %scale) : (!t, f32) -> !t

    // One branch makes a value, the other passes one through.
    %n = scf.if %training -> (!t) {
      %0 = math.tanh %g : !t
      scf.yield %0 : !t
    } else {
      scf.yield %g : !t
    }
    %h.e = tensor.empty() : !b
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : !t) outs(%h.e : !b) {
    ^bb0(%in: f32, %out: bf16):
      %0 = arith.truncf %in : f32 to bf16
      linalg.yield %0 : bf16
    } -> !b
    %hh = arith.mulf %h, %h : !b
    %hs = arith.addf %hh, %h : !b
    %s.e = tensor.empty() : tensor<f32>
    %s.z = linalg.fill ins(%zero : f32) outs(%s.e : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]} ins(%hs : !b) outs(%s.z : tensor<f32>) {
    ^bb0(%in: bf16, %out: f32):
      %0 = arith.extf %in : bf16 to f32
      %1 = arith.addf %0, %out : f32
      linalg.yield %1 : f32
    } -> tensor<f32>
    %loss = tensor.extract %s[] : tensor<f32>

    // Backwards.
    %dn = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %hh : !b, !b) outs(%e : !t) {
    ^bb0(%in0: bf16, %in1: bf16, %out: f32):
      %0 = arith.subf %in0, %in1 : bf16
      %1 = arith.extf %0 : bf16 to f32
      %2 = arith.mulf %1, %loss : f32
      linalg.yield %2 : f32
    } -> !t
    %dg = scf.if %training -> (!t) {
      %0 = math.tanh %gg : !t
      %1 = arith.mulf %0, %dn : !t
      scf.yield %1 : !t
    } else {
      scf.yield %dn : !t
    }
    %dgg = arith.mulf %dg, %gg : !t
    %du = call @activate(%dgg, %loss) : (!t, f32) -> !t
    %dug = arith.mulf %du, %g : !t
    %dun = arith.mulf %dug, %n : !t
    %duu = arith.addf %dun, %u : !t
    %dx.e = tensor.empty() : !v
    %dx.z = linalg.fill ins(%zero : f32) outs(%dx.e : !v) -> !v
    %dx = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%duu : !t) outs(%dx.z : !v) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> !v
    %dy.e = tensor.empty() : tensor<40xf64>
    %zero64 = arith.constant 0.0 : f64
    %dy.z = linalg.fill ins(%zero64 : f64) outs(%dy.e : tensor<40xf64>) -> tensor<40xf64>
    %dy = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #first], iterator_types = ["parallel", "reduction"]} ins(%duu : !t) outs(%dy.z : tensor<40xf64>) {
    ^bb0(%in: f32, %out: f64):
      %0 = arith.extf %in : f32 to f64
      %1 = arith.addf %0, %out : f64
      linalg.yield %1 : f64
    } -> tensor<40xf64>
    %one = arith.constant 1 : i64
    %count.next = arith.addi %count, %one : i64
    %c1 = arith.constant 1 : index
    %at.next = arith.addi %at, %c1 : index
    %big = arith.cmpf ogt, %loss, %scale : f32
    return %dx, %dy, %loss, %count.next, %at.next, %big : !v, tensor<40xf64>, f32, i64, index, i1
  }
}
