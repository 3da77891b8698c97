// Convolutions in the forms that training steps have, and products of other types and sizes than
// those of products.mlir. convolutions.py knows what must come out.
func.func @step(%x: tensor<2x9x11x3xf32>, %w: tensor<3x3x3x4xf32>, %y: tensor<2x4x7x4xf32>,
                %xc: tensor<2x3x8x8xf32>, %wc: tensor<4x3x3x3xf32>, %wd: tensor<3x3x3xf32>,
                %xg: tensor<3x8x8x2xf32>, %g: tensor<6x6x2x4xf32>, %l: tensor<12xf32>,
                %k: tensor<3xf32>, %h: tensor<5x7xbf16>, %i: tensor<7x3xbf16>, %t: tensor<7x3xi1>,
                %c: tensor<5x3xf32>)
    -> (tensor<2x4x7x4xf32>, tensor<2x4x6x6xf32>, tensor<2x9x11x3xf32>, tensor<3x3x3x4xf32>,
        tensor<10xf32>, tensor<5x3xbf16>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : bf16
  // Forward, with strides and dilations, added to what is there.
  %forward = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 2]> : tensor<2xi64>,
                                       strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %w : tensor<2x9x11x3xf32>, tensor<3x3x3x4xf32>) outs(%y : tensor<2x4x7x4xf32>)
      -> tensor<2x4x7x4xf32>
  // Channels first.
  %e1 = tensor.empty() : tensor<2x4x6x6xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %first = linalg.conv_2d_nchw_fchw
      ins(%xc, %wc : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) outs(%z1 : tensor<2x4x6x6xf32>)
      -> tensor<2x4x6x6xf32>
  // A window for each channel.
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %zero : f32
  } : tensor<2x9x11x3xf32> to tensor<2x11x13x3xf32>
  %e2 = tensor.empty() : tensor<2x9x11x3xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x9x11x3xf32>) -> tensor<2x9x11x3xf32>
  %depthwise = linalg.depthwise_conv_2d_nhwc_hwc
      ins(%padded, %wd : tensor<2x11x13x3xf32>, tensor<3x3x3xf32>)
      outs(%z2 : tensor<2x9x11x3xf32>) -> tensor<2x9x11x3xf32>
  // The gradient of a filter: the window is as large as the image.
  %e3 = tensor.empty() : tensor<3x3x3x4xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xf32>
  %gradient = linalg.conv_2d_nhwc_hwcf
      {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%xg, %g : tensor<3x8x8x2xf32>, tensor<6x6x2x4xf32>) outs(%z3 : tensor<3x3x3x4xf32>)
      -> tensor<3x3x3x4xf32>
  // One dimension.
  %e4 = tensor.empty() : tensor<10xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<10xf32>) -> tensor<10xf32>
  %line = linalg.conv_1d ins(%l, %k : tensor<12xf32>, tensor<3xf32>) outs(%z4 : tensor<10xf32>)
      -> tensor<10xf32>
  // Products of bf16, with a result in bf16 and in f32, and with truth values.
  %e5 = tensor.empty() : tensor<5x3xbf16>
  %z5 = linalg.fill ins(%half : bf16) outs(%e5 : tensor<5x3xbf16>) -> tensor<5x3xbf16>
  %bf16 = linalg.matmul ins(%h, %i : tensor<5x7xbf16>, tensor<7x3xbf16>)
      outs(%z5 : tensor<5x3xbf16>) -> tensor<5x3xbf16>
  %f32 = linalg.matmul ins(%h, %i : tensor<5x7xbf16>, tensor<7x3xbf16>)
      outs(%c : tensor<5x3xf32>) -> tensor<5x3xf32>
  %chosen = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
      ins(%h, %t : tensor<5x7xbf16>, tensor<7x3xi1>)
      outs(%c : tensor<5x3xf32>) -> tensor<5x3xf32>
  // Nothing to add.
  %none = tensor.empty() : tensor<5x0xf32>
  %more = tensor.empty() : tensor<0x3xf32>
  %same = linalg.matmul ins(%none, %more : tensor<5x0xf32>, tensor<0x3xf32>)
      outs(%c : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %forward, %first, %depthwise, %gradient, %line, %bf16, %f32, %chosen, %same
      : tensor<2x4x7x4xf32>, tensor<2x4x6x6xf32>, tensor<2x9x11x3xf32>, tensor<3x3x3x4xf32>,
        tensor<10xf32>, tensor<5x3xbf16>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}
