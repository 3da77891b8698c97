//===- Passes.td - Passes that lower to other forms -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_CONVERSION_PASSES_TD
#define REMAT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def RematSetWorkspacePass : Pass<"remat-set-workspace", "::mlir::ModuleOp"> {
  let summary = "State the workspace of products and convolutions on tensors";
  let description = [{
    Sets `remat.workspace` on structured operations on tensors that a library will compute
    with scratch memory. On the CPU: as many bytes as the runtime library needs for them on
    this processor, with as many threads as this process has. On a GPU: what follows from the
    shape (`Remat/Runtime/DeviceCalls.h`). So plans count it, and clones have it, too.
    Constants that a library of a GPU will read are copied first.

    ```mlir
    linalg.conv_2d_nhwc_hwcf ins(%x, %w : ...) outs(%y : ...) -> tensor<2x16x16x4xf32>
    // becomes
    linalg.conv_2d_nhwc_hwcf {remat.workspace = 14592 : i64} ins(%x, %w : ...) ...
    ```
  }];
  let options = [
    Option<"libraries", "libraries", "::mlir::remat::Libraries", "::mlir::remat::Libraries::CPU",
           "Whose libraries are called",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Libraries::CPU, "cpu", "OpenBLAS and oneDNN"),
               clEnumValN(::mlir::remat::Libraries::GPU, "gpu", "cuBLASLt and cuDNN"),
               clEnumValN(::mlir::remat::Libraries::GPUWithTF32, "gpu-tf32",
                          "the same, f32 may be rounded to TF32"))}]>,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::remat::RematDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RematSplitReductionsPass : Pass<"remat-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Add very many terms to few results in two steps";
  let description = [{
    Makes two of each `linalg.generic` on tensors that would occupy few processors of a GPU:
    one that adds the terms of each of some parts, and one that adds what those are to the
    result. Comes before memory is planned, so that partial results are a part of it. How many
    parts there are follows from the shapes alone. What is no sum, product, maximum or the
    like is left as it is, as is what the runtime library computes.

    ```mlir
    %sum = linalg.generic ... ins(%x : tensor<4194304xf32>) outs(%init : tensor<f32>)
    // becomes
    %parts = tensor.expand_shape %x [[0, 1]] ... into tensor<256x16384xf32>
    %zeros = arith.constant dense<0.0> : tensor<256xf32>
    %sums = linalg.generic ... ins(%parts : tensor<256x16384xf32>) outs(%zeros : tensor<256xf32>)
    %sum = linalg.generic ... ins(%sums : tensor<256xf32>) outs(%init : tensor<f32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RematLinalgToLibraryCallsPass : Pass<"remat-linalg-to-library-calls", "::mlir::ModuleOp"> {
  let summary = "Let the runtime library compute products and convolutions on buffers";
  let description = [{
    Replaces structured operations, named or generic, by `remat.library_call` with a
    workspace of its own, so that this comes before places in memory are planned:

    * contractions by `rematMatmul`: any number of dimensions that are summed over, that both
      inputs have, or only one of them, in any order in memory, as long as at most four are
      left besides one of rows, one of columns and one that is summed over when those that
      are one after the other in memory are taken for one. Elements are f32, f64, bf16, f16
      and, of inputs, i1;
    * convolutions of f32 in up to three spatial dimensions by `rematConvolution`: with any
      strides, dilations, groups and order of dimensions in memory.

    Sums are in f64 where the elements are, and in f32 otherwise, also where the body adds in
    a type that is less precise. Other operations are left as they are.

    On a GPU the functions are `rematDeviceMatmul` and `rematDeviceConvolution`, for what
    cuBLASLt and cuDNN take: inputs of one type (f32, f64, bf16, f16), matrices with
    neighbours in one of their dimensions, and no constants, which are on the host.

    ```mlir
    linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x2xf32>) outs(%c : memref<4x2xf32>)
    // becomes
    remat.library_call "rematMatmul" [2, 2, 2, 1, 1, 1, 1, 4, 2, 8, ...]
        ins(%a, %b : memref<4x8xf32>, memref<8x2xf32>) outs(%c : memref<4x2xf32>)
    ```
  }];
  let options = [
    Option<"libraries", "libraries", "::mlir::remat::Libraries", "::mlir::remat::Libraries::CPU",
           "Whose libraries are called",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Libraries::CPU, "cpu", "OpenBLAS and oneDNN"),
               clEnumValN(::mlir::remat::Libraries::GPU, "gpu", "cuBLASLt and cuDNN"),
               clEnumValN(::mlir::remat::Libraries::GPUWithTF32, "gpu-tf32",
                          "the same, f32 may be rounded to TF32"))}]>,
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::remat::RematDialect"];
}

def RematLibraryCallsToRuntimePass : Pass<"remat-library-calls-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Call the functions of the runtime library by their names";
  let description = [{
    Replaces `remat.library_call` by a call of the function, with the addresses of its shape,
    which is a constant, of the inputs, of the output and of the workspace, and the bytes of
    the workspace. Addresses are no uses of a buffer, so this comes behind the planning of
    memory.

    ```mlir
    remat.library_call "rematMatmul" [2, 2, 2, 1, 1, 1, 1, 4, 2, 8, ...]
        ins(%a, %b : memref<4x8xf32>, memref<8x2xf32>) outs(%c : memref<4x2xf32>)
    // becomes
    %0 = memref.get_global @remat_shape : memref<28xi64>
    %1 = memref.extract_aligned_pointer_as_index %0 : memref<28xi64> -> index
    %2 = memref.extract_aligned_pointer_as_index %a : memref<4x8xf32> -> index
    ...
    call @rematMatmul(%1, %2, %3, %4, %c0, %c0) : (index, index, index, index, index, index) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def RematFlattenEmptyArgumentsPass : Pass<"remat-flatten-empty-arguments", "::mlir::ModuleOp"> {
  let summary = "Give arguments without elements one dimension";
  let description = [{
    Arguments of functions that nobody calls and that have no elements in several dimensions
    cannot be passed as bare pointers. They get one dimension of size 0.

    ```mlir
    func.func @step(%x: memref<3x0xf32>)
    // becomes
    func.func @step(%x: memref<0xf32>) {
      %0 = memref.expand_shape %x [[0, 1]] output_shape [3, 0] : memref<0xf32> into memref<3x0xf32>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def RematOutlineKernelsPass : Pass<"remat-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Put each structured operation on buffers into a function of its own";
  let description = [{
    Equal operations share one function, so that a recomputed value is computed by the very
    code that computed it the first time, and compilers see many small functions instead of
    a large one. Arguments that are parts of different buffers are marked `llvm.noalias`;
    planned views of an arena count as different buffers, which they are for one operation.
    Copies are structured operations, too. With `loops`, so are loops and branches that read or
    write memory themselves, unless they call something or have results. With `fills`, what
    fills the results of a reduction right in front of it is a part of its function.

    ```mlir
    linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
    linalg.exp ins(%y : memref<8xf32>) outs(%b : memref<8xf32>)
    // becomes
    call @exp_kernel(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
    call @exp_kernel(%y, %b) : (memref<8xf32>, memref<8xf32>) -> ()
    ```
  }];
  let options = [
    Option<"loops", "loops", "bool", "false",
           "Also put loops that access memory into functions">,
    Option<"fills", "fills", "bool", "false",
           "Put reductions into functions with what fills their results before">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect"];
}

def RematNumberOperationsPass : Pass<"remat-number-operations", "::mlir::ModuleOp"> {
  let summary = "Put the number of every operation into its location";
  let description = [{
    The operations of functions that nobody calls get a location that says at which position
    of the function's body they are, or the operation that they are inside of. Rewritings
    keep locations, so that `remat-time-operations` knows later what code is from.

    ```mlir
    %0 = math.exp %x : tensor<8xf32> loc("step.mlir":2:8)
    // becomes
    %0 = math.exp %x : tensor<8xf32> loc(fused<{remat.operation = 0 : i64}>["step.mlir":2:8])
    ```
  }];
}

def RematTimeOperationsPass : Pass<"remat-time-operations", "::mlir::ModuleOp"> {
  let summary = "Record when the code of each numbered operation begins";
  let description = [{
    Comes behind `remat-number-operations` and the planning of memory. Functions that nobody
    calls take one more argument, to which they write the time when the code of an operation
    begins, and when all has ended, in nanoseconds (`rematRecordTime` of the runtime
    library). The attribute `remat.timed_operations` has the numbers of the operations:
    what is between times `i` and `i + 1` is from operation `remat.timed_operations[i]`. An
    operation may be there several times, or not at all where no code is from it alone.

    ```mlir
    func.func @step(%x: memref<8xf32>, %arena: memref<64xi8> {remat.arena}) {
      ...
      linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>) loc(...)
      return
    // becomes
    func.func @step(%x: memref<8xf32>, %arena: memref<64xi8> {remat.arena},
                    %times: memref<2xi64> {remat.times})
        attributes {remat.timed_operations = array<i64: 0>} {
      %0 = memref.extract_aligned_pointer_as_index %times : memref<2xi64> -> index
      ...
      call @rematRecordTime(%0, %c0) : (index, index) -> ()
      linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      call @rematRecordTime(%0, %c1) : (index, index) -> ()
      return
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::remat::RematDialect"];
}

def RematScheduleKernelsPass : Pass<"remat-schedule-kernels", "::mlir::ModuleOp"> {
  let summary = "Order, tile and split the loops of structured operations on buffers";
  let description = [{
    Everything follows from shapes and layouts, so that equal operations are computed in
    the same way everywhere:

    * The innermost loop is one over neighbours in memory, reductions are inside all
      parallel loops but that one, and loops that are as good as one are collapsed.
    * Kernels of at least a million scalar operations are split along parallel loops into
      parts that threads take: the body of an `scf.parallel`, in a function of its own, so
      that its arguments alias as little as those of the kernel. Reductions are never split:
      results do not depend on the number of threads.
    * Inputs that are read along another loop than the innermost one are transposed in
      registers, 16 by 16 elements at a time.
    * Sums of rows that are longer than 4096 elements are computed piece by piece.

    ```mlir
    func.func private @exp_kernel(%x: memref<4096x768xf32>, %y: memref<4096x768xf32>) {
      linalg.exp ins(%x : memref<4096x768xf32>) outs(%y : memref<4096x768xf32>)
      return
    }
    // becomes
    func.func private @exp_kernel(%x: memref<4096x768xf32>, %y: memref<4096x768xf32>) {
      %0 = memref.collapse_shape %x [[0, 1]] : memref<4096x768xf32> into memref<3145728xf32>
      %1 = memref.collapse_shape %y [[0, 1]] : memref<4096x768xf32> into memref<3145728xf32>
      scf.parallel (%i) = (%c0) to (%c3145728) step (%c65536) {
        func.call @exp_kernel_part(%i, %0, %1)
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def RematKernelsToLoopsPass : Pass<"remat-kernels-to-loops"> {
  let summary = "Lower structured operations on buffers to loops, with sums in a fixed order";
  let description = [{
    Loops are in the order of the operation's iterators, and so are the terms of a sum, with
    one exception: where the innermost loop of at least 32 iterations is a reduction that
    adds or multiplies floats, term i of it goes to lane i modulo 16, and the lanes are added
    to the result in their order when all terms are in them. This is the order in which
    vectors compute such a sum; it depends on the shape alone. Where the innermost loop is
    parallel in a reduction, four rows of terms are added at a time, in their order.

    Other innermost loops are left to be vectorized by compilers.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def RematApproximateMathPass : Pass<"remat-approximate-math"> {
  let summary = "Expand functions of f32 and narrower floats into arithmetic that vectorizes";
  let description = [{
    Replaces `math.exp`, `expm1`, `log`, `log1p`, `log2`, `tanh`, `erf` and `erfc` by the
    polynomial approximations of upstream, so that an element is computed by the same
    instructions in a vector and in the rest of a loop, in every kernel. f16 and bf16 are
    computed in f32. Powers by small constants become products and roots, and `arith.maxnumf`
    and `minnumf` comparisons.

    For normal arguments and results, the result of f32 is within 4 units in the last place.
    Results of `exp` and `erfc` below the smallest normal number may be that number or 0,
    and the logarithm of a number below it may be that of the smallest normal number.
    Infinities and NaN are as in the C library. f64 and other functions are left as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def RematKernelsToGPUPass : Pass<"remat-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Make outlined kernels functions of a GPU, and launch them";
  let description = [{
    Comes behind `remat-outline-kernels`. All kernels become `gpu.func` in one `gpu.module`,
    and calls of them launches. Each thread computes a result, or adds some of the terms of
    one: where a sum is long, the threads of a block share its terms, and add what they have
    in a tree. How many they are, and which terms they add in which order, follows from the
    shapes and layouts alone, so that equal operations give equal results. A sum begins with
    what its result is filled with in the same function.

    Neighbouring threads read neighbours in memory, and a thread up to 16 bytes of them at
    once, where the layouts say that they are aligned. (Arguments of public functions are
    taken to begin at multiples of 256 bytes, where CUDA allocates, and views in an arena
    where their shift says.) Where an input is transposed, a block computes a tile of 32 by 32
    results from copies of its operands in shared memory.

    A loop that was outlined is executed by one block, whose threads wait for each other
    around all that it writes. Where each iteration changes one row of an argument, and
    nothing else but temporaries, as gradients of embeddings do, rows are distributed over
    blocks, each of which executes the iterations that change its own, in their order.

    ```mlir
    func.func private @exp_kernel(%x: memref<512xf32>, %y: memref<512xf32>) {
      linalg.exp ins(%x : memref<512xf32>) outs(%y : memref<512xf32>)
      return
    }
    // becomes
    gpu.module @kernels {
      gpu.func @exp_kernel(%x: memref<512xf32>, %y: memref<512xf32>) kernel {
        %thread = gpu.thread_id x
        ...
    // and a call of it
    gpu.launch_func @kernels::@exp_kernel blocks in (%c2, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%x : memref<512xf32>, %y : memref<512xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def RematHostAccessesToRuntimePass : Pass<"remat-host-accesses-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Let the host read and write single numbers on a GPU through the runtime library";
  let description = [{
    Comes behind `remat-kernels-to-gpu`. Where the host itself loads or stores a number, as for
    the condition of a loop with library calls inside, it calls `rematDeviceLoad` and
    `rematDeviceStore`, which wait for the GPU. Loads of constants stay as they are.

    ```mlir
    %0 = memref.load %flag[] : memref<i1>
    // becomes
    %1 = memref.extract_aligned_pointer_as_index %flag : memref<i1> -> index
    ...
    %3 = call @rematDeviceLoad(%2, %c1) : (index, index) -> i64
    %0 = arith.trunci %3 : i64 to i1
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def RematLaunchOnStreamPass : Pass<"remat-launch-on-stream", "::mlir::ModuleOp"> {
  let summary = "Launch all kernels on one stream, and wait at the end";
  let description = [{
    Launches become asynchronous, with a token that names the stream of the runtime library. It
    executes kernels and library calls in the order of the host code, which waits for them at
    the end of public functions alone.

    ```mlir
    gpu.launch_func @kernels::@exp_kernel blocks in (...) threads in (...) args(...)
    return
    // becomes
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @kernels::@exp_kernel blocks in (...) threads in (...) args(...)
    call @rematDeviceWait() : () -> ()
    return
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect"];
}

def RematNameLaunchesPass : Pass<"remat-name-launches", "::mlir::ModuleOp"> {
  let summary = "Tell the runtime library which operation each launch and call is from";
  let description = [{
    Before each launch and each call of the runtime library for a GPU comes a call of
    `rematDeviceBeginOperation` with a text for errors: the location of the operation.

    ```mlir
    %0 = gpu.launch_func async [%stream] @kernels::@exp_kernel ... loc("step.mlir":2:8)
    // becomes
    memref.global "private" constant @remat_operation : memref<14xi8> = ...
    ...
    %1 = memref.get_global @remat_operation : memref<14xi8>
    %2 = memref.extract_aligned_pointer_as_index %1 : memref<14xi8> -> index
    call @rematDeviceBeginOperation(%2) : (index) -> ()
    %0 = gpu.launch_func async [%stream] @kernels::@exp_kernel ...
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

#endif // REMAT_CONVERSION_PASSES_TD
