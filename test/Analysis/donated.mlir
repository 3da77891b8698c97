// A result that is written over a donated argument takes no memory of its own.
//
// RUN: remat-opt %s -remat-print-memory=function=update -o /dev/null 2>&1 | FileCheck %s --check-prefix=UPDATE
// UPDATE: packed peak 8192 B
// UPDATE: results 0 B
// RUN: remat-opt %s -remat-print-memory=function=kept -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: packed peak 12288 B
// RUN: remat-opt %s -remat-print-memory=function=read_later -o /dev/null 2>&1 | FileCheck %s --check-prefix=READ
// READ: packed peak 16384 B

#id = affine_map<(i) -> (i)>

func.func @update(%p: tensor<1024xf32> {remat.donated}, %g: tensor<1024xf32>) -> tensor<1024xf32> {
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%g : tensor<1024xf32>) outs(%p : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %q : tensor<1024xf32>
}

// Not donated: never overwritten.
func.func @kept(%p: tensor<1024xf32>, %g: tensor<1024xf32>) -> tensor<1024xf32> {
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%g : tensor<1024xf32>) outs(%p : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %q : tensor<1024xf32>
}

// Read once more behind it.
func.func @read_later(%p: tensor<1024xf32> {remat.donated}, %g: tensor<1024xf32>)
    -> (tensor<1024xf32>, tensor<1024xf32>) {
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%g : tensor<1024xf32>) outs(%p : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %r = math.exp %p : tensor<1024xf32>
  return %q, %r : tensor<1024xf32>, tensor<1024xf32>
}
