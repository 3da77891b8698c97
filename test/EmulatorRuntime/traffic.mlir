// What a kernel reads and writes, in sectors of 32 bytes, each once for each launch.
//
// RUN: %compile %s -o %t
// RUN: env REMAT_EMULATOR_TRAFFIC=%t.csv %run -e main %t
// RUN: FileCheck %s --input-file=%t.csv
// RUN: env REMAT_EMULATOR_TRAFFIC=%t.missing/a.csv not %run -e main %t 2>&1 | FileCheck %s --check-prefix=ERROR
//
// 256 floats from the second on end in one more sector than they fill: twice 1024 + 32 bytes
// are read. One float of each sector is as much as all of them.
//
// CHECK:      kernel,launches,bytes_read,bytes_written
// CHECK-NEXT: shifted,2,2112,2048
// CHECK-NEXT: strided,1,1024,128
// ERROR: remat emulator: cannot write REMAT_EMULATOR_TRAFFIC '{{.*}}a.csv'

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @shifted(%in: memref<512xf32>, %out: memref<256xf32>) kernel {
      %thread = gpu.thread_id x
      %c1 = arith.constant 1 : index
      %next = arith.addi %thread, %c1 : index
      %0 = memref.load %in[%next] : memref<512xf32>
      memref.store %0, %out[%thread] : memref<256xf32>
      %1 = memref.load %out[%thread] : memref<256xf32>
      memref.store %1, %out[%thread] : memref<256xf32>
      gpu.return
    }

    gpu.func @strided(%in: memref<512xf32>, %out: memref<256xf32>)
        workgroup(%shared : memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      %thread = gpu.thread_id x
      %c8 = arith.constant 8 : index
      %place = arith.muli %thread, %c8 : index
      %0 = memref.load %in[%place] : memref<512xf32>
      memref.store %0, %shared[%thread] : memref<32xf32, #gpu.address_space<workgroup>>
      %1 = memref.load %shared[%thread] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %1, %out[%thread] : memref<256xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %in = memref.alloc() {alignment = 256} : memref<512xf32>
    %out = memref.alloc() {alignment = 256} : memref<256xf32>
    gpu.launch_func @kernels::@shifted blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%in : memref<512xf32>, %out : memref<256xf32>)
    gpu.launch_func @kernels::@shifted blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%in : memref<512xf32>, %out : memref<256xf32>)
    gpu.launch_func @kernels::@strided blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%in : memref<512xf32>, %out : memref<256xf32>)
    memref.dealloc %in : memref<512xf32>
    memref.dealloc %out : memref<256xf32>
    return
  }
}
