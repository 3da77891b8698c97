func.func @step(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  %i = tensor.extract %c[] : tensor<i1>
  cf.cond_br %i, ^a, ^b(%x : tensor<8xf32>)
^a:
  %t = math.tanh %x : tensor<8xf32>
  cf.br ^b(%t : tensor<8xf32>)
^b(%r: tensor<8xf32>):
  return %r : tensor<8xf32>
}
