// Arithmetic of f16 and bf16 rounds each result once, to the nearest number, ties to even.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f16(%a: f16, %b: f16, %c: f16, %out: memref<6xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %sum = arith.addf %a, %c : f16
      %product = arith.mulf %a, %b : f16
      %quotient = arith.divf %a, %b : f16
      %fma = llvm.intr.fma(%a, %b, %c) : (f16, f16, f16) -> f16
      %max = arith.maximumf %a, %c : f16
      %exp = math.exp %a : f16
      %0 = arith.extf %sum : f16 to f32
      %1 = arith.extf %product : f16 to f32
      %2 = arith.extf %quotient : f16 to f32
      %3 = arith.extf %fma : f16 to f32
      %4 = arith.extf %max : f16 to f32
      %5 = arith.extf %exp : f16 to f32
      memref.store %0, %out[%c0] : memref<6xf32>
      memref.store %1, %out[%c1] : memref<6xf32>
      memref.store %2, %out[%c2] : memref<6xf32>
      memref.store %3, %out[%c3] : memref<6xf32>
      memref.store %4, %out[%c4] : memref<6xf32>
      memref.store %5, %out[%c5] : memref<6xf32>
      gpu.return
    }

    gpu.func @bf16(%a: bf16, %b: bf16, %c: bf16, %out: memref<6xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %sum = arith.addf %a, %c : bf16
      %product = arith.mulf %a, %b : bf16
      %quotient = arith.divf %a, %b : bf16
      %fma = llvm.intr.fma(%a, %b, %c) : (bf16, bf16, bf16) -> bf16
      %max = arith.maximumf %a, %c : bf16
      %exp = math.exp %a : bf16
      %0 = arith.extf %sum : bf16 to f32
      %1 = arith.extf %product : bf16 to f32
      %2 = arith.extf %quotient : bf16 to f32
      %3 = arith.extf %fma : bf16 to f32
      %4 = arith.extf %max : bf16 to f32
      %5 = arith.extf %exp : bf16 to f32
      memref.store %0, %out[%c0] : memref<6xf32>
      memref.store %1, %out[%c1] : memref<6xf32>
      memref.store %2, %out[%c2] : memref<6xf32>
      memref.store %3, %out[%c3] : memref<6xf32>
      memref.store %4, %out[%c4] : memref<6xf32>
      memref.store %5, %out[%c5] : memref<6xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %out = memref.alloc() : memref<6xf32>
    %cast = memref.cast %out : memref<6xf32> to memref<*xf32>

    // The exact fma, 32 + 2^-5 + 2^-6 - 2^-26, is below the middle of two numbers. Rounded to
    // f32 it would be the middle, and then go up to 32.0625.
    %a = arith.constant 0.1251220703125 : f16
    %b = arith.constant 0.1248779296875 : f16
    %c = arith.constant 32.03125 : f16
    gpu.launch_func @kernels::@f16 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : f16, %b : f16, %c : f16, %out : memref<6xf32>)
    // CHECK: [32.1562,  0.015625,  1.00195,  32.0312,  32.0312,  1.13281]
    func.call @printMemrefF32(%cast) : (memref<*xf32>) -> ()

    // The sum, 1 + 2^-7 + 2^-8, is the middle of two numbers; the fma is above one.
    %d = arith.constant 1.0078125 : bf16
    %e = arith.constant 0.00390625 : bf16
    gpu.launch_func @kernels::@bf16 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%d : bf16, %d : bf16, %e : bf16, %out : memref<6xf32>)
    // CHECK: [1.01562,  1.01562,  1,  1.02344,  1.00781,  2.73438]
    func.call @printMemrefF32(%cast) : (memref<*xf32>) -> ()
    return
  }
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
}
