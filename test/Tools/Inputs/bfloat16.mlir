// Processors have no instruction for this conversion.
func.func @step(%x: tensor<8xf64>) -> tensor<8xbf16> {
  %r = arith.truncf %x : tensor<8xf64> to tensor<8xbf16>
  return %r : tensor<8xbf16>
}
