// RUN: remat-opt %s --remat-verify=budget=192B
// RUN: not remat-opt %s --remat-verify=budget=191B 2>&1 | FileCheck %s
// RUN: remat-opt %s --remat-verify="budget=64B scope=temporaries"
// RUN: not remat-opt %s --remat-verify=budget=80%% 2>&1 | FileCheck %s --check-prefix=PERCENT
// RUN: not remat-opt %s --remat-verify 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: error: function 'f' exceeds the budget of 191 bytes: its packed peak is 192 bytes, its live peak 48 bytes
// PERCENT: error: remat-verify: expected a budget in bytes, but got '80%'
// NONE: error: remat-verify: expected a budget in bytes, but got 'none'
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %a : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
