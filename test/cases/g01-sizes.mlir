// Exact bytes for every type, or "not known": never a crash, a negative number, or a zero that is
// none.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1TiB report=%t.json" 2> %t.err
// RUN: %python %S/Inputs/facts.py %t.json > %t.facts
// RUN: FileCheck %s --input-file=%t.facts
// RUN: FileCheck %s --input-file=%t.err --check-prefix=WARN --implicit-check-not=warning: --implicit-check-not=error:
//
// The same with a budget that nothing meets:
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1B on-infeasible=warn report=%t.tight.json" 2> %t.ignored
// RUN: %python -c "import json; fs = json.load(open('%t.tight.json'))['functions']; \
// RUN:   print(len(fs)); assert all(0 < f['minimum_known_bytes'] <= f['baseline_packed_bytes'] for f in fs)"

// In each function the argument, 4 bytes, and the result, 4 bytes, are live at 'test.use', and the
// value.

// CHECK: zero live: 8 B ->
func.func @zero(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<0x4xf32>
  %r = "test.use"(%v) : (tensor<0x4xf32>) -> f32
  return %r : f32
}

// CHECK: rank0 live: 12 B ->
func.func @rank0(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<f32>
  %r = "test.use"(%v) : (tensor<f32>) -> f32
  return %r : f32
}

// CHECK: i1 live: 11 B ->
func.func @i1(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<3xi1>
  %r = "test.use"(%v) : (tensor<3xi1>) -> f32
  return %r : f32
}

// CHECK: i4 live: 13 B ->
func.func @i4(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<5xi4>
  %r = "test.use"(%v) : (tensor<5xi4>) -> f32
  return %r : f32
}

// CHECK: fp8 live: 15 B ->
func.func @fp8(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<7xf8E4M3FN>
  %r = "test.use"(%v) : (tensor<7xf8E4M3FN>) -> f32
  return %r : f32
}

// CHECK: fp4 live: 13 B ->
func.func @fp4(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<5xf4E2M1FN>
  %r = "test.use"(%v) : (tensor<5xf4E2M1FN>) -> f32
  return %r : f32
}

// CHECK: bf16 live: 18 B ->
func.func @bf16(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<5xbf16>
  %r = "test.use"(%v) : (tensor<5xbf16>) -> f32
  return %r : f32
}

// CHECK: f80 live: 40 B ->
func.func @f80(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<2xf80>
  %r = "test.use"(%v) : (tensor<2xf80>) -> f32
  return %r : f32
}

// CHECK: i17 live: 16 B ->
func.func @i17(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<2xi17>
  %r = "test.use"(%v) : (tensor<2xi17>) -> f32
  return %r : f32
}

// CHECK: index live: 24 B ->
func.func @index(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<2xindex>
  %r = "test.use"(%v) : (tensor<2xindex>) -> f32
  return %r : f32
}

// CHECK: complex live: 32 B ->
func.func @complex(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<3xcomplex<f32>>
  %r = "test.use"(%v) : (tensor<3xcomplex<f32>>) -> f32
  return %r : f32
}

// Three lanes take the room of four.
// CHECK: vectors live: 40 B ->
func.func @vectors(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<2xvector<3xf32>>
  %r = "test.use"(%v) : (tensor<2xvector<3xf32>>) -> f32
  return %r : f32
}

// CHECK: vector live: 72 B ->
func.func @vector(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> vector<4x4xf32>
  %r = "test.use"(%v) : (vector<4x4xf32>) -> f32
  return %r : f32
}

// CHECK: tuple live: 25 B ->
func.func @tuple(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tuple<tensor<4xf32>, i1>
  %r = "test.use"(%v) : (tuple<tensor<4xf32>, i1>) -> f32
  return %r : f32
}

// CHECK: quantized live: 13 B ->
func.func @quantized(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<5x!quant.uniform<i8:f32, 0.5>>
  %r = "test.use"(%v) : (tensor<5x!quant.uniform<i8:f32, 0.5>>) -> f32
  return %r : f32
}

// An encoding that is not sparse changes nothing.
// CHECK: encoding live: 24 B ->
func.func @encoding(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<4xf32, "row-major">
  %r = "test.use"(%v) : (tensor<4xf32, "row-major">) -> f32
  return %r : f32
}

// Tokens take no memory.
// CHECK: token live: 8 B ->
func.func @token(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> !stablehlo.token
  %r = "test.use"(%v) : (!stablehlo.token) -> f32
  return %r : f32
}

// CHECK: no_results live: 4 B ->
func.func @no_results(%x: f32) {
  "test.effect"(%x) : (f32) -> ()
  return
}

// 512 GiB are no problem. 2^39 + 8.
// CHECK: large live: 524288 MiB + 8 B ->
func.func @large(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<134217728x1024xf32>
  %r = "test.use"(%v) : (tensor<134217728x1024xf32>) -> f32
  return %r : f32
}

// One warning for each function, at the first of the values.
// CHECK: unranked live: 8 B ->
// WARN: [[#@LINE+2]]:{{[0-9]+}}: warning: the size of 'tensor<*xf32>' is not known; 2 such values count as 0 bytes and are not recomputed
func.func @unranked(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<*xf32>
  %w = math.exp %v : tensor<*xf32>
  %r = "test.use"(%w) : (tensor<*xf32>) -> f32
  return %r : f32
}

// CHECK: dynamic live: 8 B ->
// WARN: warning: the size of 'tensor<?x4xf32>' is not known
func.func @dynamic(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<?x4xf32>
  %r = "test.use"(%v) : (tensor<?x4xf32>) -> f32
  return %r : f32
}

// CHECK: sparse live: 8 B ->
// WARN: warning: the size of 'tensor<4x4xf32, #sparse_tensor.encoding<{{.*}}>>' is not known
#csr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
func.func @sparse(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> tensor<4x4xf32, #csr>
  %r = "test.use"(%v) : (tensor<4x4xf32, #csr>) -> f32
  return %r : f32
}

// CHECK: opaque live: 8 B ->
// WARN: warning: the size of '!test.handle' is not known
func.func @opaque(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> !test.handle
  %r = "test.use"(%v) : (!test.handle) -> f32
  return %r : f32
}

// CHECK: scalable live: 8 B ->
// WARN: warning: the size of 'vector<[4]xf32>' is not known
func.func @scalable(%x: f32) -> f32 {
  %v = "test.make"(%x) : (f32) -> vector<[4]xf32>
  %r = "test.use"(%v) : (vector<[4]xf32>) -> f32
  return %r : f32
}

// An argument of unknown size.
// CHECK: argument live: 8 B ->
// WARN: warning: the size of 'tensor<?xf32>' is not known
func.func @argument(%x: f32, %p: tensor<?xf32>) -> f32 {
  %r = "test.use"(%p) : (tensor<?xf32>) -> f32
  return %r : f32
}
