// RUN: remat-opt %s --remat-approximate-math | FileCheck %s

// CHECK-LABEL: func @approximated(
func.func @approximated(%x: f32, %h: f16) -> (f32, f32, f32, f32, f16) {
  // CHECK-NOT: math.{{exp|log|tanh|erf}}
  %0 = math.exp %x : f32
  %1 = math.log1p %x : f32
  %2 = math.tanh %x : f32
  %3 = math.erf %x : f32
  // In f32.
  // CHECK: arith.extf
  // CHECK: arith.truncf
  %4 = math.tanh %h : f16
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f16
}

// CHECK-LABEL: func @powers(
// CHECK-SAME:    %[[X:.*]]: f32)
func.func @powers(%x: f32) -> (f32, f32) {
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
  %two = arith.constant 2.0 : f32
  %0 = math.powf %x, %two : f32
  // CHECK: %[[ROOT:.*]] = math.sqrt %[[X]]
  %half = arith.constant 0.5 : f32
  %1 = math.powf %x, %half : f32
  // CHECK: return %[[SQUARE]], %[[ROOT]]
  return %0, %1 : f32, f32
}

// The C library is left what upstream does not compute for all arguments.
// CHECK-LABEL: func @others(
func.func @others(%x: f32, %y: f32, %d: f64) -> (f32, f32, f32, f64) {
  // CHECK: math.sin
  %0 = math.sin %x : f32
  // CHECK: math.atan
  %1 = math.atan %x : f32
  // CHECK: math.powf
  %2 = math.powf %x, %y : f32
  // CHECK: math.exp %{{.*}} : f64
  %3 = math.exp %d : f64
  return %0, %1, %2, %3 : f32, f32, f32, f64
}

// CHECK-LABEL: func @numbers(
// CHECK-SAME:    %[[A:.*]]: f32, %[[B:.*]]: f32
func.func @numbers(%a: f32, %b: f32) -> (f32, f32) {
  // CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
  // CHECK: %[[ALONE:.*]] = arith.cmpf uno, %[[B]], %[[B]]
  // CHECK: %[[FIRST:.*]] = arith.ori %[[LARGER]], %[[ALONE]]
  // CHECK: arith.select %[[FIRST]], %[[A]], %[[B]]
  %0 = arith.maxnumf %a, %b : f32
  // CHECK: arith.cmpf olt, %[[A]], %[[B]]
  // CHECK-NOT: arith.minnumf
  %1 = arith.minnumf %a, %b : f32
  return %0, %1 : f32, f32
}
