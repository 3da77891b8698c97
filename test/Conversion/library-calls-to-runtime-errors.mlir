// RUN: remat-opt %s --split-input-file --remat-library-calls-to-runtime -verify-diagnostics

// expected-error @+1 {{'rematMatmul' is the name of a function of the runtime library}}
func.func @rematMatmul(%x: memref<8xf32>) {
  return
}

// -----

// expected-error @+1 {{'mgpuLaunchKernel' is the name of a function of the runtime library}}
func.func @mgpuLaunchKernel(%x: memref<8xf32>) {
  return
}

// -----

// expected-error @+1 {{'rematDeviceWait' is the name of a function of the runtime library}}
func.func @rematDeviceWait() {
  return
}

// -----

// A declaration is none of these, and other names are free.
func.func private @rematMatmul(index, index, index, index, index, index)
func.func @rematerialized(%x: memref<8xf32>) {
  return
}
