// What a policy asks for, but a value cannot have, is an error at its operation, in plain words.
//
// RUN: remat-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics \
// RUN:   --rematerialize=budget=1TB

func.func @handle(%x: f32) -> f32 {
  // expected-error @below {{'test.open' must be saved, but the size of its result is not known}}
  %h = "test.open"(%x) {remat.policy = #remat.policy<must_save>} : (f32) -> !test.handle
  %y = "test.use"(%h) : (!test.handle) -> f32
  return %y : f32
}

// -----

// A token is no memory: there is nothing to save, and nothing wrong with that. It cannot be
// recomputed.
func.func @token(%x: f32) -> f32 {
  %t = "test.send"(%x) {remat.policy = #remat.policy<must_save>} : (f32) -> !stablehlo.token
  // expected-error @below {{'test.receive' must be recomputed, but it is not described by any model}}
  %u = "test.receive"(%t) {remat.policy = #remat.policy<must_recompute>} : (!stablehlo.token) -> !stablehlo.token
  %y = "test.use"(%u) : (!stablehlo.token) -> f32
  return %y : f32
}

// -----

func.func @pointer(%x: i64) -> i64 {
  // expected-error @below {{'llvm.inttoptr' must be saved, but the size of its result is not known}}
  %p = llvm.inttoptr %x {remat.policy = #remat.policy<must_save>} : i64 to !llvm.ptr
  %y = llvm.ptrtoint %p : !llvm.ptr to i64
  return %y : i64
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'test.layer' must be recomputed, but it is not described by any model}}
  %y = "test.layer"(%x) {remat.policy = #remat.policy<must_recompute>} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "test.use"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %u = "test.use"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %u : tensor<4xf32>
}

// -----

func.func @random(%x: tensor<4xf32>) -> tensor<4xf32> {
  %shape = "stablehlo.constant"() <{value = dense<4> : tensor<1xi64>}> : () -> tensor<1xi64>
  %lo = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @below {{'stablehlo.rng' must be recomputed, but it draws from hidden random state}}
  %y = "stablehlo.rng"(%lo, %lo, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> {remat.policy = #remat.policy<must_recompute>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The two words contradict each other.
func.func @contradiction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.exp' must be recomputed, but it carries 'remat.recomputable = false'}}
  %y = math.exp %x {remat.policy = #remat.policy<must_recompute>, remat.recomputable = false} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @nested(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> tensor<4xf32> {
    // expected-error @below {{'math.exp' must be recomputed, but it is in a region of 'scf.for', which is executed as a whole}}
    %e = math.exp %z {remat.policy = #remat.policy<must_recompute>} : tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
