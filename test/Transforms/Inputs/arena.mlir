func.func @step(%x: memref<16xf32>, %f: f32) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<32xf32>
  linalg.fill ins(%f : f32) outs(%b : memref<32xf32>)
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  return
}
