// RUN: remat-opt %s -split-input-file -verify-diagnostics
// RUN: remat-opt %s -split-input-file --pass-pipeline='builtin.module(cse)' -verify-diagnostics

// expected-error @below {{nothing describes the operation 'foo.bar'; describe it in a models file (models=FILE), or give --allow-unregistered-dialect}}
"foo.bar"() : () -> ()

// -----

// expected-error @below {{nothing describes the type '!foo.thing'}}
func.func @type(%a: !foo.thing) {
  return
}

// -----

func.func @described(%a: tensor<4xf32>, %t: !stablehlo.token) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @not_an_operation_of_it(%a: tensor<4xf32>) {
  // expected-error @below {{nothing describes the operation 'stablehlo.frobnicate'}}
  %0 = "stablehlo.frobnicate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
