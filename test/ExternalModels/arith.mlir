// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

// Constants: scalars and splats are made by their readers, other data is part of the program.

func.func @constants() {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %0 = arith.constant 1.0 : f32
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %1 = arith.constant dense<1.0> : tensor<8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %2 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %3 = arith.constant dense_resource<weights> : tensor<4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %4 = arith.constant dense<[7]> : tensor<1xi64>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %5 = arith.constant sparse<[[0]], [1.0]> : tensor<4xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040"
    }
  }
#-}

// -----

// One flop per element; operands read and the result written.
func.func @elementwise(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %i: tensor<8x16xi1>) {
  // 128 elements, 3 * 512 bytes.
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 1536}}
  %0 = arith.addf %a, %b : tensor<8x16xf32>
  // A value that is both operands is read once.
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 1024}}
  %1 = arith.mulf %a, %a : tensor<8x16xf32>
  // expected-remark @+1 {{model: pure, flops = 512 (f32), bytes = 1536}}
  %2 = arith.divf %a, %b : tensor<8x16xf32>
  // 128 bytes of i1.
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 1664}}
  %3 = arith.select %i, %a, %b : tensor<8x16xi1>, tensor<8x16xf32>
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 1152}}
  %4 = arith.cmpf olt, %a, %b : tensor<8x16xf32>
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 768}}
  %5 = arith.truncf %a : tensor<8x16xf32> to tensor<8x16xbf16>
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 1024}}
  %6 = arith.negf %0 : tensor<8x16xf32>
  return
}

// -----

func.func @splat_operand(%a: tensor<8xf32>) {
  // expected-remark @+1 {{result 0: none}}
  %c = arith.constant dense<2.0> : tensor<8xf32>
  // A splat is not read from memory.
  // expected-remark @+1 {{model: pure, flops = 8 (f32), bytes = 64}}
  %0 = arith.mulf %a, %c : tensor<8xf32>
  return
}

// -----

func.func @scalars(%f: f32, %i: i32, %x: index, %v: vector<4xf32>) {
  // expected-remark @+1 {{model: pure, flops = 1 (f32), bytes = 0}}
  %0 = arith.addf %f, %f : f32
  // A division that may trap is pure: it is only moved within its block.
  // expected-remark @+1 {{model: pure, flops = 4 (i32), bytes = 0}}
  %1 = arith.divsi %i, %i : i32
  // expected-remark @+1 {{model: pure, flops = 1 (index), bytes = 0}}
  %2 = arith.addi %x, %x : index
  // expected-remark @+1 {{model: pure, flops = 4 (f32), bytes = 0}}
  %3 = arith.addf %v, %v : vector<4xf32>
  // expected-remark @+1 {{model: pure, flops = 1 (i32), bytes = 0}}
  %4:2 = arith.addui_extended %i, %i : i32, i1
  return
}

// -----

// Odd types: a byte for i1 and i4, nothing for no elements, unknown when dynamic.
func.func @types(%z: tensor<0x4xf32>, %d: tensor<?xf32>, %n: tensor<6xi4>, %x: tensor<3xindex>,
                 %u: tensor<*xf32>) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0}}
  %0 = arith.addf %z, %z : tensor<0x4xf32>
  // expected-remark @+1 {{model: pure, cost unknown}}
  %1 = arith.addf %d, %d : tensor<?xf32>
  // expected-remark @+1 {{model: pure, flops = 6 (i4), bytes = 12}}
  %2 = arith.addi %n, %n : tensor<6xi4>
  // expected-remark @+1 {{model: pure, flops = 3 (i32), bytes = 36}}
  %3 = arith.index_cast %x : tensor<3xindex> to tensor<3xi32>
  // expected-remark @+1 {{model: pure, cost unknown}}
  %4 = arith.negf %u : tensor<*xf32>
  return
}
