// Blocks reduce through shared memory, with barriers, and warps through shuffles, the last warp
// of a block with fewer lanes.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s
// RUN: env REMAT_EMULATOR_ORDER=reverse %run -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @tree(%in: memref<512xf32>, %out: memref<4xf32>)
        workgroup(%shared : memref<128xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %thread : index
      %own = memref.load %in[%i] : memref<512xf32>
      memref.store %own, %shared[%thread] : memref<128xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %end = scf.while (%half = %c64) : (index) -> index {
        %more = arith.cmpi ugt, %half, %c0 : index
        scf.condition(%more) %half : index
      } do {
      ^bb0(%half: index):
        %adds = arith.cmpi ult, %thread, %half : index
        scf.if %adds {
          %other = arith.addi %thread, %half : index
          %0 = memref.load %shared[%thread] : memref<128xf32, #gpu.address_space<workgroup>>
          %1 = memref.load %shared[%other] : memref<128xf32, #gpu.address_space<workgroup>>
          %2 = arith.addf %0, %1 : f32
          memref.store %2, %shared[%thread] : memref<128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.shrui %half, %c1 : index
        scf.yield %next : index
      }
      %isFirst = arith.cmpi eq, %thread, %c0 : index
      scf.if %isFirst {
        %sum = memref.load %shared[%c0] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %sum, %out[%block] : memref<4xf32>
      }
      gpu.return
    }

    // Sums of all threads of a block; 40 threads are a warp and a quarter.
    gpu.func @all(%in: memref<512xf32>, %out: memref<4xf32>) kernel {
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %own = memref.load %in[%thread] : memref<512xf32>
      %sum = gpu.all_reduce add %own uniform {} : (f32) -> f32
      memref.store %sum, %out[%block] : memref<4xf32>
      gpu.return
    }

    // The four modes, in segments of 8 lanes; lanes that have no source keep their value.
    gpu.func @shuffle(%out: memref<4x8xi32>) kernel {
      %mask = arith.constant -1 : i32
      %c1 = arith.constant 1 : i32
      %c100 = arith.constant 100 : i32
      // The mask of the segment, and how far up or down lanes may read.
      %first = arith.constant 0x1800 : i32
      %last = arith.constant 0x181f : i32
      %thread = gpu.thread_id x
      %lane = arith.index_cast %thread : index to i32
      %upPair = nvvm.shfl.sync up %mask, %lane, %c1, %first {return_value_and_is_valid}
          : i32 -> !llvm.struct<(i32, i1)>
      %up = llvm.extractvalue %upPair[0] : !llvm.struct<(i32, i1)>
      %p0 = llvm.extractvalue %upPair[1] : !llvm.struct<(i32, i1)>
      %down = nvvm.shfl.sync down %mask, %lane, %c1, %last : i32 -> i32
      %xor = nvvm.shfl.sync bfly %mask, %lane, %c1, %last : i32 -> i32
      %idx = nvvm.shfl.sync idx %mask, %lane, %c1, %last : i32 -> i32
      %upMarked = arith.addi %up, %c100 : i32
      %upIfInside = arith.select %p0, %upMarked, %up : i32
      %m0 = arith.constant 0 : index
      %m1 = arith.constant 1 : index
      %m2 = arith.constant 2 : index
      %m3 = arith.constant 3 : index
      %m8 = arith.constant 8 : index
      %m16 = arith.constant 16 : index
      // Of the second segment.
      %column = arith.subi %thread, %m8 : index
      %isSecond = arith.cmpi ult, %column, %m8 : index
      scf.if %isSecond {
        memref.store %upIfInside, %out[%m0, %column] : memref<4x8xi32>
        memref.store %down, %out[%m1, %column] : memref<4x8xi32>
        memref.store %xor, %out[%m2, %column] : memref<4x8xi32>
        memref.store %idx, %out[%m3, %column] : memref<4x8xi32>
      }
      gpu.return
    }

    // Votes and reductions of integers.
    gpu.func @vote(%out: memref<6xi32>) kernel {
      %mask = arith.constant -1 : i32
      %c3 = arith.constant 3 : i32
      %thread = gpu.thread_id x
      %lane = arith.index_cast %thread : index to i32
      %small = arith.cmpi ult, %lane, %c3 : i32
      %ballot = nvvm.vote.sync ballot %mask, %small -> i32
      %all = nvvm.vote.sync all %mask, %small -> i1
      %any = nvvm.vote.sync any %mask, %small -> i1
      %sum = nvvm.redux.sync add %lane, %mask : i32 -> i32
      %max = nvvm.redux.sync umax %lane, %mask : i32 -> i32
      %same = nvvm.match.sync any %mask, %c3 : i32 -> i32
      %allInt = arith.extui %all : i1 to i32
      %anyInt = arith.extui %any : i1 to i32
      %m0 = arith.constant 0 : index
      %m1 = arith.constant 1 : index
      %m2 = arith.constant 2 : index
      %m3 = arith.constant 3 : index
      %m4 = arith.constant 4 : index
      %m5 = arith.constant 5 : index
      memref.store %ballot, %out[%m0] : memref<6xi32>
      memref.store %allInt, %out[%m1] : memref<6xi32>
      memref.store %anyInt, %out[%m2] : memref<6xi32>
      memref.store %sum, %out[%m3] : memref<6xi32>
      memref.store %max, %out[%m4] : memref<6xi32>
      memref.store %same, %out[%m5] : memref<6xi32>
      gpu.return
    }
  }

  // What gpu and nvvm have no operations for, or not all of it.
  gpu.module @collectives {
    // The 64 threads of a block count those whose number is less than 40, and ask whether it is
    // for all and for any; then 32 of them wait for each other alone, and so do lanes.
    gpu.func @barriers(%out: memref<6xi32>) kernel {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %mask = arith.constant -1 : i32
      %numThreads = arith.constant 32 : i32
      %m0 = arith.constant 0 : index
      %m1 = arith.constant 1 : index
      %m2 = arith.constant 2 : index
      %m3 = arith.constant 3 : index
      %m4 = arith.constant 4 : index
      %m5 = arith.constant 5 : index
      %c3 = arith.constant 3 : index
      %c32 = arith.constant 32 : index
      %c40 = arith.constant 40 : index
      %thread = gpu.thread_id x
      %isLess = arith.cmpi ult, %thread, %c40 : index
      memref.store %zero, %out[%m4] : memref<6xi32>
      %count = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.popc.aligned.all"(%zero, %isLess)
          : (i32, i1) -> i32
      %all = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.and.aligned.all"(%zero, %isLess)
          : (i32, i1) -> i1
      %any = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.all"(%zero, %isLess)
          : (i32, i1) -> i1
      %allInt = arith.extui %all : i1 to i32
      %anyInt = arith.extui %any : i1 to i32
      memref.store %count, %out[%m0] : memref<6xi32>
      memref.store %allInt, %out[%m1] : memref<6xi32>
      memref.store %anyInt, %out[%m2] : memref<6xi32>
      %isFirstWarp = arith.cmpi ult, %thread, %c32 : index
      scf.if %isFirstWarp {
        memref.store %one, %out[%m3] : memref<6xi32>
        llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%one, %numThreads)
            : (i32, i32) -> ()
        llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%mask) : (i32) -> ()
        %added = memref.atomic_rmw addi %one, %out[%m4] : (i32, memref<6xi32>) -> i32
        %isSmall = arith.cmpi ult, %thread, %c3 : index
        scf.if %isSmall {
          %active = llvm.call_intrinsic "llvm.nvvm.activemask"() : () -> i32
          memref.store %active, %out[%m5] : memref<6xi32>
        }
      }
      gpu.return
    }
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %in = memref.alloc() : memref<512xf32>
    %out = memref.alloc() : memref<4xf32>
    %lanes = memref.alloc() : memref<4x8xi32>
    %votes = memref.alloc() : memref<6xi32>
    scf.for %i = %c0 to %c512 step %c1 {
      %0 = arith.index_cast %i : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      memref.store %1, %in[%i] : memref<512xf32>
    }
    %outCast = memref.cast %out : memref<4xf32> to memref<*xf32>

    gpu.launch_func @kernels::@tree blocks in (%c4, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%in : memref<512xf32>, %out : memref<4xf32>)
    // CHECK: [8128,  24512,  40896,  57280]
    func.call @printMemrefF32(%outCast) : (memref<*xf32>) -> ()

    gpu.launch_func @kernels::@all blocks in (%c4, %c1, %c1) threads in (%c40, %c1, %c1)
        args(%in : memref<512xf32>, %out : memref<4xf32>)
    // CHECK: [780,  780,  780,  780]
    func.call @printMemrefF32(%outCast) : (memref<*xf32>) -> ()

    gpu.launch_func @kernels::@shuffle blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%lanes : memref<4x8xi32>)
    // CHECK: {{\[}}[8,   108,   109,   110,   111,   112,   113,   114],
    // CHECK: [9,   10,   11,   12,   13,   14,   15,   15],
    // CHECK: [9,   8,   11,   10,   13,   12,   15,   14],
    // CHECK: [9,   9,   9,   9,   9,   9,   9,   9]]
    %lanesCast = memref.cast %lanes : memref<4x8xi32> to memref<*xi32>
    func.call @printMemrefI32(%lanesCast) : (memref<*xi32>) -> ()

    gpu.launch_func @kernels::@vote blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%votes : memref<6xi32>)
    // CHECK: [7,  0,  1,  496,  31,  -1]
    %votesCast = memref.cast %votes : memref<6xi32> to memref<*xi32>
    func.call @printMemrefI32(%votesCast) : (memref<*xi32>) -> ()

    gpu.launch_func @collectives::@barriers blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%votes : memref<6xi32>)
    // CHECK: [40,  0,  1,  1,  32,  7]
    func.call @printMemrefI32(%votesCast) : (memref<*xi32>) -> ()
    return
  }
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
}
