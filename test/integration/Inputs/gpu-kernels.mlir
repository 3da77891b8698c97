// Kernels of each form with sizes at their borders: tiles that stick out, rows of odd lengths, neighbours that
// are loaded at once, nothing.

func.func @step(%a: tensor<3x40x33xf32>, %b: tensor<70x50xbf16>, %c: tensor<70x50xf32>,
                %d: tensor<6x517xf32>, %e: tensor<6x1024xf32>, %f: tensor<0x8xf32>, %g: tensor<1xf32>)
    -> (tensor<3x33x40xf32>, tensor<50x70xf32>, tensor<50x70xi1>, tensor<6xf32>, tensor<6xf32>, tensor<1024xf32>,
        tensor<6x1024xf32>, tensor<0x8xf32>, tensor<1xf32>, tensor<40x3x33xf32>,
        tensor<17x50xf32>) {
  // Tiles, in the last two of three loops.
  %0 = tensor.empty() : tensor<3x33x40xf32>
  %1 = linalg.transpose ins(%a : tensor<3x40x33xf32>) outs(%0 : tensor<3x33x40xf32>) permutation = [0, 2, 1]
  // Two operands in one tile, of different types, and two results.
  %2 = tensor.empty() : tensor<50x70xf32>
  %3 = tensor.empty() : tensor<50x70xi1>
  %4:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j, i)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%b, %c : tensor<70x50xbf16>, tensor<70x50xf32>) outs(%2, %3 : tensor<50x70xf32>, tensor<50x70xi1>) {
  ^bb0(%x: bf16, %y: f32, %out: f32, %mask: i1):
    %z = arith.extf %x : bf16 to f32
    %sum = arith.addf %z, %y : f32
    %less = arith.cmpf olt, %z, %y : f32
    linalg.yield %sum, %less : f32, i1
  } -> (tensor<50x70xf32>, tensor<50x70xi1>)
  // Rows of an odd length, and of one that is divided.
  %zero = arith.constant 0.0 : f32
  %5 = tensor.empty() : tensor<6xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<6xf32>) -> tensor<6xf32>
  %7 = linalg.reduce { arith.addf } ins(%d : tensor<6x517xf32>) outs(%6 : tensor<6xf32>) dimensions = [1]
  %8 = linalg.reduce { arith.maximumf } ins(%e : tensor<6x1024xf32>) outs(%6 : tensor<6xf32>) dimensions = [1]
  %9 = tensor.empty() : tensor<1024xf32>
  %10 = linalg.fill ins(%zero : f32) outs(%9 : tensor<1024xf32>) -> tensor<1024xf32>
  %11 = linalg.reduce { arith.addf } ins(%e : tensor<6x1024xf32>) outs(%10 : tensor<1024xf32>) dimensions = [0]
  // Neighbours, with what is the same for all of them.
  %12 = tensor.empty() : tensor<6x1024xf32>
  %13 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                         affine_map<(i, j) -> (i, j)>],
                        iterator_types = ["parallel", "parallel"]}
      ins(%e, %8 : tensor<6x1024xf32>, tensor<6xf32>) outs(%12 : tensor<6x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %float = arith.sitofp %i : i32 to f32
    %difference = arith.subf %x, %y : f32
    %product = arith.mulf %difference, %float : f32
    linalg.yield %product : f32
  } -> tensor<6x1024xf32>
  %14 = tensor.empty() : tensor<0x8xf32>
  %15 = linalg.exp ins(%f : tensor<0x8xf32>) outs(%14 : tensor<0x8xf32>) -> tensor<0x8xf32>
  %16 = tensor.empty() : tensor<1xf32>
  %17 = linalg.exp ins(%g : tensor<1xf32>) outs(%16 : tensor<1xf32>) -> tensor<1xf32>
  // No tiles, for neighbours stay neighbours.
  %18 = tensor.empty() : tensor<40x3x33xf32>
  %19 = linalg.transpose ins(%a : tensor<3x40x33xf32>) outs(%18 : tensor<40x3x33xf32>) permutation = [1, 0, 2]
  // Rows are added to rows, several to each.
  %rows = tensor.empty() : tensor<17x50xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<17x50xf32>) -> tensor<17x50xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %order = arith.constant dense<[
      0, 5, 3, 11, 12, 6, 10, 7, 14, 14, 7, 10, 6, 12, 11, 3, 5, 0, 5, 3, 11, 12, 6, 10, 7, 14, 14, 7, 10, 6,
      12, 11, 3, 5, 0, 5, 3, 11, 12, 6, 10, 7, 14, 14, 7, 10, 6, 12, 11, 3, 5, 0, 5, 3, 11, 12, 6, 10, 7, 14,
      14, 7, 10, 6, 12, 11, 3, 5, 0, 5
  ]> : tensor<70xindex>
  %c70 = arith.constant 70 : index
  %20 = scf.for %i = %c0 to %c70 step %c1 iter_args(%table = %start) -> tensor<17x50xf32> {
    %row = tensor.extract %order[%i] : tensor<70xindex>
    %from = tensor.extract_slice %c[%i, 0] [1, 50] [1, 1] : tensor<70x50xf32> to tensor<50xf32>
    %old = tensor.extract_slice %table[%row, 0] [1, 50] [1, 1] : tensor<17x50xf32> to tensor<50xf32>
    %empty = tensor.empty() : tensor<50xf32>
    %new = linalg.add ins(%from, %old : tensor<50xf32>, tensor<50xf32>) outs(%empty : tensor<50xf32>) -> tensor<50xf32>
    %changed = tensor.insert_slice %new into %table[%row, 0] [1, 50] [1, 1] : tensor<50xf32> into tensor<17x50xf32>
    scf.yield %changed : tensor<17x50xf32>
  }
  return %1, %4#0, %4#1, %7, %8, %11, %13, %15, %17, %19, %20
      : tensor<3x33x40xf32>, tensor<50x70xf32>, tensor<50x70xi1>, tensor<6xf32>, tensor<6xf32>, tensor<1024xf32>,
        tensor<6x1024xf32>, tensor<0x8xf32>, tensor<1xf32>, tensor<40x3x33xf32>,
        tensor<17x50xf32>
}
