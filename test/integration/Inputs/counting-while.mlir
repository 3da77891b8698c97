// A loop that counts: its threads read a number that one of them changes.
func.func @step(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %z = arith.constant dense<0> : tensor<i32>
  %one = arith.constant 1 : i32
  %ten = arith.constant 10 : i32
  %r:2 = scf.while (%a = %t, %n = %z) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
    %v = tensor.extract %n[] : tensor<i32>
    %c = arith.cmpi slt, %v, %ten : i32
    scf.condition(%c) %a, %n : tensor<4xf32>, tensor<i32>
  } do {
  ^bb0(%a: tensor<4xf32>, %n: tensor<i32>):
    %s = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    %v = tensor.extract %n[] : tensor<i32>
    %v1 = arith.addi %v, %one : i32
    %n1 = tensor.insert %v1 into %n[] : tensor<i32>
    scf.yield %s, %n1 : tensor<4xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<i32>
}
