// Memory of the device, copies, two kernels one after the other with a barrier in one of them:
// the same results from the driver as from the emulator.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s
// RUN: %run_cuda -e main %t | FileCheck %s
// RUN: env REMAT_DEVICE_SYNCHRONIZE=1 %run_cuda -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @square(%x: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<8xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %x[%i] : memref<8xf32>
      gpu.return
    }
    gpu.func @reverse(%x: memref<8xf32>)
        workgroup(%shared : memref<8xf32, #gpu.address_space<workgroup>>) kernel {
      %c7 = arith.constant 7 : index
      %i = gpu.thread_id x
      %0 = memref.load %x[%i] : memref<8xf32>
      memref.store %0, %shared[%i] : memref<8xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %j = arith.subi %c7, %i : index
      %1 = memref.load %shared[%j] : memref<8xf32, #gpu.address_space<workgroup>>
      memref.store %1, %x[%i] : memref<8xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %host = memref.alloc() : memref<8xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = arith.index_cast %i : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      memref.store %1, %host[%i] : memref<8xf32>
    }
    %t0 = gpu.wait async
    %x, %t1 = gpu.alloc async [%t0] () : memref<8xf32>
    %t2 = gpu.memcpy async [%t1] %x, %host : memref<8xf32>, memref<8xf32>
    %t3 = gpu.launch_func async [%t2] @kernels::@square blocks in (%c1, %c1, %c1)
        threads in (%c8, %c1, %c1) args(%x : memref<8xf32>)
    %t4 = gpu.launch_func async [%t3] @kernels::@reverse blocks in (%c1, %c1, %c1)
        threads in (%c8, %c1, %c1) args(%x : memref<8xf32>)
    %t5 = gpu.memcpy async [%t4] %host, %x : memref<8xf32>, memref<8xf32>
    %t6 = gpu.dealloc async [%t5] %x : memref<8xf32>
    gpu.wait [%t6]
    %unranked = memref.cast %host : memref<8xf32> to memref<*xf32>
    func.call @printMemrefF32(%unranked) : (memref<*xf32>) -> ()
    return
  }
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
}

// CHECK: [49,   36,   25,   16,   9,   4,   1,   0]
