// Sizes follow the data layout of the module: an index of 32 bits takes 4 bytes, an f64 that is
// aligned to 16 bytes takes 16.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="budget=1TiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s

// At test.use: argument 4, the value 40, the result 4.
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32, f64 = dense<128> : vector<2xi64>>} {
  // CHECK: index live: 48 B ->
  func.func @index(%x: f32) -> f32 {
    %v = "test.make"(%x) : (f32) -> tensor<10xindex>
    %r = "test.use"(%v) : (tensor<10xindex>) -> f32
    return %r : f32
  }

  // CHECK: f64 live: 168 B ->
  func.func @f64(%x: f32) -> f32 {
    %v = "test.make"(%x) : (f32) -> tensor<10xf64>
    %r = "test.use"(%v) : (tensor<10xf64>) -> f32
    return %r : f32
  }
}
