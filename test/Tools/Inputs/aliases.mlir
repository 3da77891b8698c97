// A callee that returns one value twice, a loop and a branch whose results are returned, carried
// tensors that are exchanged, and a donated argument that is updated in place.
func.func private @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %z, %z, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: tensor<i1>,
                %d: tensor<4xf32> {remat.donated})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %nine = arith.constant 9.0 : f32
  %r:3 = call @twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %t = tensor.insert %nine into %r#0[%c0] : tensor<4xf32>
  %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensor.extract_slice %a[2] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %n = tensor.insert_slice %s into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    %m = arith.addf %n, %b : tensor<4xf32>
    scf.yield %b, %m : tensor<4xf32>, tensor<4xf32>
  }
  %p = tensor.extract %c[] : tensor<i1>
  %f = scf.if %p -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %g = arith.mulf %y, %y : tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  }
  %o = tensor.extract_slice %d[0] [3] [1] : tensor<4xf32> to tensor<3xf32>
  %u = tensor.insert_slice %o into %d[1] [3] [1] : tensor<3xf32> into tensor<4xf32>
  return %t, %r#1, %l#0, %l#1, %f, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
