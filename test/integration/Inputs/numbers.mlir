// Larger and smaller ones of numbers and of what is none, in rows whose last terms fill no vector.
func.func @step(%x: tensor<5x11xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %least = arith.constant dense<-9.0> : tensor<5xf32>
  %most = arith.constant dense<9.0> : tensor<5xf32>
  %zero = arith.constant dense<0.0> : tensor<5x11xf32>
  %none = arith.divf %zero, %zero : tensor<5x11xf32>
  %isSmall = arith.cmpf olt, %x, %zero : tensor<5x11xf32>
  %y = arith.select %isSmall, %none, %x : tensor<5x11xi1>, tensor<5x11xf32>
  %0 = linalg.reduce { arith.maxnumf } ins(%x : tensor<5x11xf32>) outs(%least : tensor<5xf32>)
      dimensions = [1]
  %1 = linalg.reduce { arith.minnumf } ins(%y : tensor<5x11xf32>) outs(%most : tensor<5xf32>)
      dimensions = [1]
  return %0, %1 : tensor<5xf32>, tensor<5xf32>
}
