// Instructions with their roundings, as bits; operands come from memory, so that nothing is
// known before the kernel runs.
//
// RUN: %compile %s -o %t
// RUN: %run -e main %t | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @instructions(%floats: memref<14xf32>, %integers: memref<11xi32>,
                           %out: memref<42xi32>) kernel {
      %ione = arith.constant 0 : index
      %one = memref.load %floats[%ione] : memref<14xf32>
      %itiny = arith.constant 1 : index
      %tiny = memref.load %floats[%itiny] : memref<14xf32>
      %imtiny = arith.constant 2 : index
      %mtiny = memref.load %floats[%imtiny] : memref<14xf32>
      %itwo = arith.constant 3 : index
      %two = memref.load %floats[%itwo] : memref<14xf32>
      %ithree = arith.constant 4 : index
      %three = memref.load %floats[%ithree] : memref<14xf32>
      %ie12 = arith.constant 5 : index
      %e12 = memref.load %floats[%ie12] : memref<14xf32>
      %izero = arith.constant 6 : index
      %zero = memref.load %floats[%izero] : memref<14xf32>
      %ih = arith.constant 7 : index
      %h = memref.load %floats[%ih] : memref<14xf32>
      %imh = arith.constant 8 : index
      %mh = memref.load %floats[%imh] : memref<14xf32>
      %im27 = arith.constant 9 : index
      %m27 = memref.load %floats[%im27] : memref<14xf32>
      %ibig = arith.constant 10 : index
      %big = memref.load %floats[%ibig] : memref<14xf32>
      %inan = arith.constant 11 : index
      %nan = memref.load %floats[%inan] : memref<14xf32>
      %isub = arith.constant 12 : index
      %sub = memref.load %floats[%isub] : memref<14xf32>
      %im5 = arith.constant 13 : index
      %m5 = memref.load %floats[%im5] : memref<14xf32>
      %ii0 = arith.constant 0 : index
      %n0 = memref.load %integers[%ii0] : memref<11xi32>
      %ii1 = arith.constant 1 : index
      %n1 = memref.load %integers[%ii1] : memref<11xi32>
      %ii2 = arith.constant 2 : index
      %n2 = memref.load %integers[%ii2] : memref<11xi32>
      %ii3 = arith.constant 3 : index
      %n3 = memref.load %integers[%ii3] : memref<11xi32>
      %ii4 = arith.constant 4 : index
      %n4 = memref.load %integers[%ii4] : memref<11xi32>
      %ii5 = arith.constant 5 : index
      %n5 = memref.load %integers[%ii5] : memref<11xi32>
      %ii6 = arith.constant 6 : index
      %n6 = memref.load %integers[%ii6] : memref<11xi32>
      %ii7 = arith.constant 7 : index
      %n7 = memref.load %integers[%ii7] : memref<11xi32>
      %ii8 = arith.constant 8 : index
      %n8 = memref.load %integers[%ii8] : memref<11xi32>
      %ii9 = arith.constant 9 : index
      %n9 = memref.load %integers[%ii9] : memref<11xi32>
      %ii10 = arith.constant 10 : index
      %n10 = memref.load %integers[%ii10] : memref<11xi32>
      %f1 = llvm.call_intrinsic "llvm.nvvm.add.rn.f"(%one, %tiny) : (f32, f32) -> f32
      %fb1 = arith.bitcast %f1 : f32 to i32
      %at0 = arith.constant 0 : index
      memref.store %fb1, %out[%at0] : memref<42xi32>
      %f2 = llvm.call_intrinsic "llvm.nvvm.add.rp.f"(%one, %tiny) : (f32, f32) -> f32
      %fb2 = arith.bitcast %f2 : f32 to i32
      %at1 = arith.constant 1 : index
      memref.store %fb2, %out[%at1] : memref<42xi32>
      %f3 = llvm.call_intrinsic "llvm.nvvm.add.rz.f"(%one, %mtiny) : (f32, f32) -> f32
      %fb3 = arith.bitcast %f3 : f32 to i32
      %at2 = arith.constant 2 : index
      memref.store %fb3, %out[%at2] : memref<42xi32>
      %f4 = llvm.call_intrinsic "llvm.nvvm.add.rm.f"(%one, %mtiny) : (f32, f32) -> f32
      %fb4 = arith.bitcast %f4 : f32 to i32
      %at3 = arith.constant 3 : index
      memref.store %fb4, %out[%at3] : memref<42xi32>
      %f5 = llvm.call_intrinsic "llvm.nvvm.mul.rp.f"(%e12, %e12) : (f32, f32) -> f32
      %fb5 = arith.bitcast %f5 : f32 to i32
      %at4 = arith.constant 4 : index
      memref.store %fb5, %out[%at4] : memref<42xi32>
      %f6 = llvm.call_intrinsic "llvm.nvvm.mul.rn.f"(%e12, %e12) : (f32, f32) -> f32
      %fb6 = arith.bitcast %f6 : f32 to i32
      %at5 = arith.constant 5 : index
      memref.store %fb6, %out[%at5] : memref<42xi32>
      %f7 = llvm.call_intrinsic "llvm.nvvm.div.rz.f"(%one, %three) : (f32, f32) -> f32
      %fb7 = arith.bitcast %f7 : f32 to i32
      %at6 = arith.constant 6 : index
      memref.store %fb7, %out[%at6] : memref<42xi32>
      %f8 = llvm.call_intrinsic "llvm.nvvm.div.rn.f"(%one, %three) : (f32, f32) -> f32
      %fb8 = arith.bitcast %f8 : f32 to i32
      %at7 = arith.constant 7 : index
      memref.store %fb8, %out[%at7] : memref<42xi32>
      %f9 = llvm.call_intrinsic "llvm.nvvm.rcp.rm.f"(%three) : (f32) -> f32
      %fb9 = arith.bitcast %f9 : f32 to i32
      %at8 = arith.constant 8 : index
      memref.store %fb9, %out[%at8] : memref<42xi32>
      %f10 = llvm.call_intrinsic "llvm.nvvm.rcp.rp.f"(%three) : (f32) -> f32
      %fb10 = arith.bitcast %f10 : f32 to i32
      %at9 = arith.constant 9 : index
      memref.store %fb10, %out[%at9] : memref<42xi32>
      %f11 = llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"(%two) : (f32) -> f32
      %fb11 = arith.bitcast %f11 : f32 to i32
      %at10 = arith.constant 10 : index
      memref.store %fb11, %out[%at10] : memref<42xi32>
      %f12 = llvm.call_intrinsic "llvm.nvvm.sqrt.rp.f"(%two) : (f32) -> f32
      %fb12 = arith.bitcast %f12 : f32 to i32
      %at11 = arith.constant 11 : index
      memref.store %fb12, %out[%at11] : memref<42xi32>
      %f13 = llvm.call_intrinsic "llvm.nvvm.fma.rp.f"(%e12, %e12, %zero) : (f32, f32, f32) -> f32
      %fb13 = arith.bitcast %f13 : f32 to i32
      %at12 = arith.constant 12 : index
      memref.store %fb13, %out[%at12] : memref<42xi32>
      %f14 = llvm.call_intrinsic "llvm.nvvm.fma.rz.f"(%e12, %e12, %mtiny) : (f32, f32, f32) -> f32
      %fb14 = arith.bitcast %f14 : f32 to i32
      %at13 = arith.constant 13 : index
      memref.store %fb14, %out[%at13] : memref<42xi32>
      %f15 = llvm.call_intrinsic "llvm.nvvm.add.rn.ftz.f"(%sub, %zero) : (f32, f32) -> f32
      %fb15 = arith.bitcast %f15 : f32 to i32
      %at14 = arith.constant 14 : index
      memref.store %fb15, %out[%at14] : memref<42xi32>
      %f16 = llvm.call_intrinsic "llvm.nvvm.add.rn.f"(%sub, %zero) : (f32, f32) -> f32
      %fb16 = arith.bitcast %f16 : f32 to i32
      %at15 = arith.constant 15 : index
      memref.store %fb16, %out[%at15] : memref<42xi32>
      %f17 = llvm.call_intrinsic "llvm.nvvm.add.rz.ftz.f"(%sub, %zero) : (f32, f32) -> f32
      %fb17 = arith.bitcast %f17 : f32 to i32
      %at16 = arith.constant 16 : index
      memref.store %fb17, %out[%at16] : memref<42xi32>
      %f18 = llvm.call_intrinsic "llvm.nvvm.saturate.f"(%two) : (f32) -> f32
      %fb18 = arith.bitcast %f18 : f32 to i32
      %at17 = arith.constant 17 : index
      memref.store %fb18, %out[%at17] : memref<42xi32>
      %f19 = llvm.call_intrinsic "llvm.nvvm.saturate.f"(%nan) : (f32) -> f32
      %fb19 = arith.bitcast %f19 : f32 to i32
      %at18 = arith.constant 18 : index
      memref.store %fb19, %out[%at18] : memref<42xi32>
      %f20 = llvm.call_intrinsic "llvm.nvvm.fmax.f"(%nan, %one) : (f32, f32) -> f32
      %fb20 = arith.bitcast %f20 : f32 to i32
      %at19 = arith.constant 19 : index
      memref.store %fb20, %out[%at19] : memref<42xi32>
      %f21 = llvm.call_intrinsic "llvm.nvvm.round.f"(%h) : (f32) -> f32
      %fb21 = arith.bitcast %f21 : f32 to i32
      %at20 = arith.constant 20 : index
      memref.store %fb21, %out[%at20] : memref<42xi32>
      %f22 = llvm.call_intrinsic "llvm.nvvm.trunc.f"(%m27) : (f32) -> f32
      %fb22 = arith.bitcast %f22 : f32 to i32
      %at21 = arith.constant 21 : index
      memref.store %fb22, %out[%at21] : memref<42xi32>
      %f23 = llvm.call_intrinsic "llvm.nvvm.ceil.f"(%mh) : (f32) -> f32
      %fb23 = arith.bitcast %f23 : f32 to i32
      %at22 = arith.constant 22 : index
      memref.store %fb23, %out[%at22] : memref<42xi32>
      %f24 = llvm.call_intrinsic "llvm.nvvm.floor.f"(%mh) : (f32) -> f32
      %fb24 = arith.bitcast %f24 : f32 to i32
      %at23 = arith.constant 23 : index
      memref.store %fb24, %out[%at23] : memref<42xi32>
      %f25 = llvm.call_intrinsic "llvm.nvvm.f2i.rn"(%h) : (f32) -> i32
      %at24 = arith.constant 24 : index
      memref.store %f25, %out[%at24] : memref<42xi32>
      %f26 = llvm.call_intrinsic "llvm.nvvm.f2i.rm"(%mh) : (f32) -> i32
      %at25 = arith.constant 25 : index
      memref.store %f26, %out[%at25] : memref<42xi32>
      %f27 = llvm.call_intrinsic "llvm.nvvm.f2i.rp"(%mh) : (f32) -> i32
      %at26 = arith.constant 26 : index
      memref.store %f27, %out[%at26] : memref<42xi32>
      %f28 = llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%m27) : (f32) -> i32
      %at27 = arith.constant 27 : index
      memref.store %f28, %out[%at27] : memref<42xi32>
      %f29 = llvm.call_intrinsic "llvm.nvvm.f2i.rn"(%big) : (f32) -> i32
      %at28 = arith.constant 28 : index
      memref.store %f29, %out[%at28] : memref<42xi32>
      %f30 = llvm.call_intrinsic "llvm.nvvm.f2i.rn"(%nan) : (f32) -> i32
      %at29 = arith.constant 29 : index
      memref.store %f30, %out[%at29] : memref<42xi32>
      %f31 = llvm.call_intrinsic "llvm.nvvm.f2ui.rn"(%m5) : (f32) -> i32
      %at30 = arith.constant 30 : index
      memref.store %f31, %out[%at30] : memref<42xi32>
      %f32 = llvm.call_intrinsic "llvm.nvvm.mulhi.ui"(%n0, %n0) : (i32, i32) -> i32
      %at31 = arith.constant 31 : index
      memref.store %f32, %out[%at31] : memref<42xi32>
      %f33 = llvm.call_intrinsic "llvm.nvvm.mulhi.i"(%n0, %n0) : (i32, i32) -> i32
      %at32 = arith.constant 32 : index
      memref.store %f33, %out[%at32] : memref<42xi32>
      %f34 = llvm.call_intrinsic "llvm.nvvm.sad.i"(%n1, %n2, %n3) : (i32, i32, i32) -> i32
      %at33 = arith.constant 33 : index
      memref.store %f34, %out[%at33] : memref<42xi32>
      %f35 = llvm.call_intrinsic "llvm.nvvm.sad.ui"(%n1, %n2, %n3) : (i32, i32, i32) -> i32
      %at34 = arith.constant 34 : index
      memref.store %f35, %out[%at34] : memref<42xi32>
      %f36 = llvm.call_intrinsic "llvm.nvvm.prmt"(%n4, %n5, %n6) : (i32, i32, i32) -> i32
      %at35 = arith.constant 35 : index
      memref.store %f36, %out[%at35] : memref<42xi32>
      %f37 = llvm.call_intrinsic "llvm.nvvm.prmt"(%n7, %n8, %n9) : (i32, i32, i32) -> i32
      %at36 = arith.constant 36 : index
      memref.store %f37, %out[%at36] : memref<42xi32>
      %f38 = llvm.call_intrinsic "llvm.nvvm.i2f.rz"(%n10) : (i32) -> f32
      %fb38 = arith.bitcast %f38 : f32 to i32
      %at37 = arith.constant 37 : index
      memref.store %fb38, %out[%at37] : memref<42xi32>
      %f39 = llvm.call_intrinsic "llvm.nvvm.i2f.rp"(%n10) : (i32) -> f32
      %fb39 = arith.bitcast %f39 : f32 to i32
      %at38 = arith.constant 38 : index
      memref.store %fb39, %out[%at38] : memref<42xi32>
      %f40 = llvm.call_intrinsic "llvm.nvvm.ui2f.rn"(%n0) : (i32) -> f32
      %fb40 = arith.bitcast %f40 : f32 to i32
      %at39 = arith.constant 39 : index
      memref.store %fb40, %out[%at39] : memref<42xi32>
      %f41 = llvm.call_intrinsic "llvm.nvvm.ui2f.rz"(%n0) : (i32) -> f32
      %fb41 = arith.bitcast %f41 : f32 to i32
      %at40 = arith.constant 40 : index
      memref.store %fb41, %out[%at40] : memref<42xi32>
      %product = arith.mulf %e12, %e12 fastmath<fast> : f32
      %exact = arith.constant 1.00048828125 : f32
      %difference = arith.subf %product, %exact fastmath<contract> : f32
      %bits = arith.bitcast %difference : f32 to i32
      %at41 = arith.constant 41 : index
      memref.store %bits, %out[%at41] : memref<42xi32>
      gpu.return
    }
  }

  memref.global "private" constant @floats : memref<14xf32> = dense<[
    1.0, 9.313225746154785e-10, -9.313225746154785e-10, 2.0, 3.0, 1.000244140625, 0.0, 2.5, -2.5, -2.7, 1.0e10, 0x7FC00000, 1.0e-40, -5.0]>
  memref.global "private" constant @integers : memref<11xi32> = dense<[
    -1, -3, 5, 10, 857870592, 2003195204, 30001, 128, 0, 8, 16777217]>
  func.func @main() {
    %c1 = arith.constant 1 : index
    %floats = memref.get_global @floats : memref<14xf32>
    %integers = memref.get_global @integers : memref<11xi32>
    %out = memref.alloc() : memref<42xi32>
    gpu.launch_func @kernels::@instructions blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%floats : memref<14xf32>, %integers : memref<11xi32>, %out : memref<42xi32>)
    %cast = memref.cast %out : memref<42xi32> to memref<*xi32>
    func.call @printMemrefI32(%cast) : (memref<*xi32>) -> ()
    return
  }
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
}

// CHECK: [1065353216,
// CHECK-SAME: 1065353217,
// CHECK-SAME: 1065353215,
// CHECK-SAME: 1065353215,
// CHECK-SAME: 1065357313,
// CHECK-SAME: 1065357312,
// CHECK-SAME: 1051372202,
// CHECK-SAME: 1051372203,
// CHECK-SAME: 1051372202,
// CHECK-SAME: 1051372203,
// CHECK-SAME: 1068827891,
// CHECK-SAME: 1068827892,
// CHECK-SAME: 1065357313,
// CHECK-SAME: 1065357312,
// CHECK-SAME: 0,
// CHECK-SAME: 71362,
// CHECK-SAME: 0,
// CHECK-SAME: 1065353216,
// CHECK-SAME: 0,
// CHECK-SAME: 1065353216,
// CHECK-SAME: 1073741824,
// CHECK-SAME: -1073741824,
// CHECK-SAME: -1073741824,
// CHECK-SAME: -1069547520,
// CHECK-SAME: 2,
// CHECK-SAME: -3,
// CHECK-SAME: -2,
// CHECK-SAME: -2,
// CHECK-SAME: 2147483647,
// CHECK-SAME: 0,
// CHECK-SAME: 0,
// CHECK-SAME: -2,
// CHECK-SAME: 0,
// CHECK-SAME: 18,
// CHECK-SAME: 2,
// CHECK-SAME: 2002072337,
// CHECK-SAME: -2139062017,
// CHECK-SAME: 1266679808,
// CHECK-SAME: 1266679809,
// CHECK-SAME: 1333788672,
// CHECK-SAME: 1333788671,
// CHECK-SAME: 0]
