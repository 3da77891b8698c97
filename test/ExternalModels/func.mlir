// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

// A call is what its callee is; who is called through a value is not known.

func.func private @callee(tensor<8xf32>) -> tensor<8xf32>

func.func @calls(%a: tensor<8xf32>, %f: (tensor<8xf32>) -> tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %0 = call @callee(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{model: ordered, overridable, cost unknown, it calls a function that is not known}}
  %1 = call_indirect %f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0}}
  %2 = constant @callee : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Barriers hand their inputs on and are never repeated.
func.func @barrier(%a: tensor<8xf32>, %b: tensor<4xf32>, %t: tensor<2xf32>) {
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, result 0: view of operand 0, result 1: view of operand 1, it is a barrier}}
  %0:2 = remat.barrier %a, %b after %t : tensor<8xf32>, tensor<4xf32> after tensor<2xf32>
  return
}

// -----

// A dialect without models.
func.func @unknown(%a: vector<4xf32>) {
  // expected-remark @+1 {{no model}}
  %0 = vector.reduction <add>, %a : vector<4xf32> into f32
  return
}
