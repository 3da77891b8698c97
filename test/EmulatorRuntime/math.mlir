// Functions of libdevice, next to those of the C library in f64.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @single(%in: memref<1000xf32>, %out: memref<10x1000xf32>) kernel {
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %thread : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %c9 = arith.constant 9 : index
      %power = arith.constant 1.7 : f32
      %factor = arith.constant 1.0e6 : f32
      %x = memref.load %in[%i] : memref<1000xf32>
      %magnitude = math.absf %x : f32
      %large = arith.mulf %x, %factor : f32
      %exp = math.exp %x : f32
      %tanh = math.tanh %x : f32
      %erf = math.erf %x : f32
      %log = math.log %magnitude : f32
      %sin = math.sin %x : f32
      %sqrt = math.sqrt %magnitude : f32
      %rsqrt = math.rsqrt %magnitude : f32
      %pow = math.powf %magnitude, %power : f32
      %sinLarge = math.sin %large : f32
      %cosLarge = math.cos %large : f32
      memref.store %exp, %out[%c0, %i] : memref<10x1000xf32>
      memref.store %tanh, %out[%c1, %i] : memref<10x1000xf32>
      memref.store %erf, %out[%c2, %i] : memref<10x1000xf32>
      memref.store %log, %out[%c3, %i] : memref<10x1000xf32>
      memref.store %sin, %out[%c4, %i] : memref<10x1000xf32>
      memref.store %sqrt, %out[%c5, %i] : memref<10x1000xf32>
      memref.store %rsqrt, %out[%c6, %i] : memref<10x1000xf32>
      memref.store %pow, %out[%c7, %i] : memref<10x1000xf32>
      memref.store %sinLarge, %out[%c8, %i] : memref<10x1000xf32>
      memref.store %cosLarge, %out[%c9, %i] : memref<10x1000xf32>
      gpu.return
    }

    gpu.func @double(%in: memref<1000xf32>, %out: memref<10x1000xf64>) kernel {
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %thread : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %c9 = arith.constant 9 : index
      %power = arith.constant 1.7 : f32
      %factor = arith.constant 1.0e6 : f32
      %single = memref.load %in[%i] : memref<1000xf32>
      %largeSingle = arith.mulf %single, %factor : f32
      %x = arith.extf %single : f32 to f64
      %y = arith.extf %power : f32 to f64
      %large = arith.extf %largeSingle : f32 to f64
      %magnitude = math.absf %x : f64
      %exp = math.exp %x : f64
      %tanh = math.tanh %x : f64
      %erf = math.erf %x : f64
      %log = math.log %magnitude : f64
      %sin = math.sin %x : f64
      %sqrt = math.sqrt %magnitude : f64
      %rsqrt = math.rsqrt %magnitude : f64
      %pow = math.powf %magnitude, %y : f64
      %sinLarge = math.sin %large : f64
      %cosLarge = math.cos %large : f64
      memref.store %exp, %out[%c0, %i] : memref<10x1000xf64>
      memref.store %tanh, %out[%c1, %i] : memref<10x1000xf64>
      memref.store %erf, %out[%c2, %i] : memref<10x1000xf64>
      memref.store %log, %out[%c3, %i] : memref<10x1000xf64>
      memref.store %sin, %out[%c4, %i] : memref<10x1000xf64>
      memref.store %sqrt, %out[%c5, %i] : memref<10x1000xf64>
      memref.store %rsqrt, %out[%c6, %i] : memref<10x1000xf64>
      memref.store %pow, %out[%c7, %i] : memref<10x1000xf64>
      memref.store %sinLarge, %out[%c8, %i] : memref<10x1000xf64>
      memref.store %cosLarge, %out[%c9, %i] : memref<10x1000xf64>
      gpu.return
    }
  }

  // The same on the processor.
  func.func @reference(%in: memref<1000xf32>, %out: memref<10x1000xf64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c1000 = arith.constant 1000 : index
    %one = arith.constant 1.0 : f64
    %power = arith.constant 1.7 : f32
    %factor = arith.constant 1.0e6 : f32
    %y = arith.extf %power : f32 to f64
    scf.for %i = %c0 to %c1000 step %c1 {
      %single = memref.load %in[%i] : memref<1000xf32>
      %largeSingle = arith.mulf %single, %factor : f32
      %x = arith.extf %single : f32 to f64
      %large = arith.extf %largeSingle : f32 to f64
      %magnitude = math.absf %x : f64
      %exp = math.exp %x : f64
      %tanh = math.tanh %x : f64
      %erf = math.erf %x : f64
      %log = math.log %magnitude : f64
      %sin = math.sin %x : f64
      %sqrt = math.sqrt %magnitude : f64
      %rsqrt = arith.divf %one, %sqrt : f64
      %pow = math.powf %magnitude, %y : f64
      %sinLarge = math.sin %large : f64
      %cosLarge = math.cos %large : f64
      memref.store %exp, %out[%c0, %i] : memref<10x1000xf64>
      memref.store %tanh, %out[%c1, %i] : memref<10x1000xf64>
      memref.store %erf, %out[%c2, %i] : memref<10x1000xf64>
      memref.store %log, %out[%c3, %i] : memref<10x1000xf64>
      memref.store %sin, %out[%c4, %i] : memref<10x1000xf64>
      memref.store %sqrt, %out[%c5, %i] : memref<10x1000xf64>
      memref.store %rsqrt, %out[%c6, %i] : memref<10x1000xf64>
      memref.store %pow, %out[%c7, %i] : memref<10x1000xf64>
      memref.store %sinLarge, %out[%c8, %i] : memref<10x1000xf64>
      memref.store %cosLarge, %out[%c9, %i] : memref<10x1000xf64>
    }
    return
  }

  // Of each function, 1 if all errors are below the tolerance, relative to the value or to
  // 1/100, whichever is larger.
  func.func @compare(%values: memref<10x1000xf64>, %expected: memref<10x1000xf64>,
                     %tolerance: f64, %result: memref<10xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c1000 = arith.constant 1000 : index
    %zero = arith.constant 0.0 : f64
    %least = arith.constant 0.01 : f64
    scf.for %f = %c0 to %c10 step %c1 {
      %worst = scf.for %i = %c0 to %c1000 step %c1 iter_args(%before = %zero) -> f64 {
        %0 = memref.load %values[%f, %i] : memref<10x1000xf64>
        %1 = memref.load %expected[%f, %i] : memref<10x1000xf64>
        %2 = arith.subf %0, %1 : f64
        %3 = math.absf %2 : f64
        %4 = math.absf %1 : f64
        %5 = arith.maximumf %4, %least : f64
        %6 = arith.divf %3, %5 : f64
        %7 = arith.maximumf %before, %6 : f64
        scf.yield %7 : f64
      }
      %good = arith.cmpf olt, %worst, %tolerance : f64
      %int = arith.extui %good : i1 to i32
      memref.store %int, %result[%f] : memref<10xi32>
    }
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c100 = arith.constant 100 : index
    %c1000 = arith.constant 1000 : index
    %step = arith.constant 0.0173 : f32
    %start = arith.constant -8.6513 : f32
    %in = memref.alloc() : memref<1000xf32>
    %single = memref.alloc() : memref<10x1000xf32>
    %double = memref.alloc() : memref<10x1000xf64>
    %expected = memref.alloc() : memref<10x1000xf64>
    %result = memref.alloc() : memref<10xi32>
    %resultCast = memref.cast %result : memref<10xi32> to memref<*xi32>
    scf.for %i = %c0 to %c1000 step %c1 {
      %0 = arith.index_cast %i : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      %2 = arith.mulf %1, %step : f32
      %3 = arith.addf %2, %start : f32
      memref.store %3, %in[%i] : memref<1000xf32>
    }
    func.call @reference(%in, %expected) : (memref<1000xf32>, memref<10x1000xf64>) -> ()

    gpu.launch_func @kernels::@double blocks in (%c10, %c1, %c1) threads in (%c100, %c1, %c1)
        args(%in : memref<1000xf32>, %double : memref<10x1000xf64>)
    %tolerance64 = arith.constant 1.0e-14 : f64
    // CHECK: [1,  1,  1,  1,  1,  1,  1,  1,  1,  1]
    func.call @compare(%double, %expected, %tolerance64, %result)
        : (memref<10x1000xf64>, memref<10x1000xf64>, f64, memref<10xi32>) -> ()
    func.call @printMemrefI32(%resultCast) : (memref<*xi32>) -> ()

    gpu.launch_func @kernels::@single blocks in (%c10, %c1, %c1) threads in (%c100, %c1, %c1)
        args(%in : memref<1000xf32>, %single : memref<10x1000xf32>)
    scf.for %f = %c0 to %c10 step %c1 {
      scf.for %i = %c0 to %c1000 step %c1 {
        %0 = memref.load %single[%f, %i] : memref<10x1000xf32>
        %1 = arith.extf %0 : f32 to f64
        memref.store %1, %double[%f, %i] : memref<10x1000xf64>
      }
    }
    %tolerance32 = arith.constant 3.0e-7 : f64
    // CHECK: [1,  1,  1,  1,  1,  1,  1,  1,  1,  1]
    func.call @compare(%double, %expected, %tolerance32, %result)
        : (memref<10x1000xf64>, memref<10x1000xf64>, f64, memref<10xi32>) -> ()
    func.call @printMemrefI32(%resultCast) : (memref<*xi32>) -> ()
    return
  }
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
}
