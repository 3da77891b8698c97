// RUN: remat-opt %s --remat-bufferize --split-input-file | FileCheck %s

// One destination for each result, even where the program names one for both.
// CHECK-LABEL: func @separate(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>)
func.func @separate(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-DAG: %[[A:.*]] = memref.alloc() {{.*}} : memref<8xf32>
  // CHECK-DAG: %[[B:.*]] = memref.alloc() {{.*}} : memref<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  // CHECK-DAG: linalg.exp ins(%[[X]] : {{.*}}) outs(%[[A]] :
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // CHECK-DAG: linalg.tanh ins(%[[X]] : {{.*}}) outs(%[[B]] :
  %b = linalg.tanh ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NOT: memref.copy
  // CHECK: return %[[A]], %[[B]]
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Arguments are read only; those that are donated are not.
// CHECK-LABEL: func @donated(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32> {remat.donated})
func.func @donated(%x: tensor<8xf32>, %y: tensor<8xf32> {remat.donated})
    -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  // CHECK: %[[A:.*]] = memref.alloc()
  // CHECK: linalg.copy ins(%[[X]] : {{.*}}) outs(%[[A]] :
  // CHECK: memref.store %{{.*}}, %[[A]]
  %a = tensor.insert %f into %x[%c0] : tensor<8xf32>
  // CHECK: memref.store %{{.*}}, %[[Y]]
  %b = tensor.insert %f into %y[%c0] : tensor<8xf32>
  // CHECK: return %[[A]], %[[Y]]
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A contiguous slice is a view, another one is copied.
// CHECK-LABEL: func @slices(
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf32>)
func.func @slices(%x: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<4x2xf32>) {
  // CHECK-DAG: %[[ROWS:.*]] = memref.subview %[[X]][1, 0] [2, 8] [1, 1]
  %rows = tensor.extract_slice %x[1, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  // CHECK-DAG: %[[COLUMNS:.*]] = memref.subview %[[X]][0, 3] [4, 2] [1, 1]
  // CHECK-DAG: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<4x2xf32>
  // CHECK-DAG: linalg.copy ins(%[[COLUMNS]] : {{.*}}) outs(%[[COPY]] :
  %columns = tensor.extract_slice %x[0, 3] [4, 2] [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
  // CHECK: return %[[ROWS]], %[[COPY]]
  return %rows, %columns : tensor<2x8xf32>, tensor<4x2xf32>
}

// -----

// Splat constants are never program data: they become scalars where they are read, and
// fill what is overwritten, returned or inserted.
// CHECK-NOT: memref.global
// CHECK-LABEL: func @splats(
func.func @splats(%x: tensor<8xf32>, %m: tensor<8x8xf32>)
    -> (tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %half = arith.constant dense<0.5> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<8xf32>) outs(%[[SUM:.*]] : memref<8xf32>)
  %sum = linalg.add ins(%x, %one : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)
      -> tensor<8xf32>
  // CHECK: linalg.fill ins(%{{.*}}) outs(%[[PRODUCT:.*]] : memref<8x8xf32>)
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<8x8xf32>) outs(%[[PRODUCT]] :
  %product = linalg.matmul ins(%m, %half : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  // The slice of a copy is filled.
  // CHECK: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<8x8xf32>
  // CHECK: linalg.copy ins(%{{.*}} : {{.*}}) outs(%[[COPY]] :
  // CHECK: %[[SLICE:.*]] = memref.subview %[[COPY]][2, 0] [1, 8] [1, 1]
  // CHECK: linalg.fill ins(%{{.*}}) outs(%[[SLICE]] :
  // CHECK-NOT: memref.copy
  %inserted = tensor.insert_slice %one into %m[2, 0] [1, 8] [1, 1]
      : tensor<8xf32> into tensor<8x8xf32>
  // CHECK: %[[ONE:.*]] = memref.alloc() {{.*}} : memref<8xf32>
  // CHECK: linalg.fill ins(%{{.*}}) outs(%[[ONE]] :
  // CHECK: return %[[SUM]], %[[PRODUCT]], %[[ONE]], %[[COPY]]
  return %sum, %product, %one, %inserted
      : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>
}

// -----

// A loop writes what it carries into one buffer, and may exchange two.
// CHECK-LABEL: func @loop(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>
func.func @loop(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[A:.*]] = memref.alloc()
  // CHECK: linalg.copy ins(%[[X]] : {{.*}}) outs(%[[A]] :
  // CHECK: %[[B:.*]] = memref.alloc()
  // CHECK: linalg.copy ins(%[[Y]] : {{.*}}) outs(%[[B]] :
  // CHECK: scf.for
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y)
      -> (tensor<8xf32>, tensor<8xf32>) {
    // CHECK: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[NEW:.*]] :
    %e = tensor.empty() : tensor<8xf32>
    %new = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // CHECK: linalg.copy ins(%[[B]] : {{.*}}) outs(%[[OLD:.*]] :
    // CHECK: linalg.copy ins(%[[OLD]] : {{.*}}) outs(%[[A]] :
    // CHECK: linalg.copy ins(%[[NEW]] : {{.*}}) outs(%[[B]] :
    scf.yield %b, %new : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Both branches write into one buffer.
// CHECK-LABEL: func @branch(
func.func @branch(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = memref.alloc()
  // CHECK: scf.if
  %r = scf.if %c -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // CHECK: memref.copy %{{.*}}, %[[R]]
    scf.yield %a : tensor<8xf32>
  } else {
    // CHECK: memref.copy %{{.*}}, %[[R]]
    scf.yield %x : tensor<8xf32>
  }
  // CHECK: return %[[R]]
  return %r : tensor<8xf32>
}

// -----

// Padding is a fill and a copy.
// CHECK-LABEL: func @pad(
func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
  %f = arith.constant 0.0 : f32
  // CHECK: %[[R:.*]] = memref.alloc() {{.*}} : memref<6xf32>
  // CHECK: linalg.fill {{.*}} outs(%[[R]] :
  // CHECK: %[[INNER:.*]] = memref.subview %[[R]][1] [4] [1]
  // CHECK: memref.copy %{{.*}}, %[[INNER]]
  // CHECK: return %[[R]]
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// What a condition passes on, and is no argument, has a buffer of its own.
// CHECK-LABEL: func @condition(
func.func @condition(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[A:.*]] = memref.alloc()
  // CHECK: linalg.copy ins(%{{.*}} : {{.*}}) outs(%[[A]] :
  // CHECK: %[[R:.*]] = memref.alloc()
  // CHECK: scf.while
  %r:2 = scf.while (%a = %x, %i = %c0) : (tensor<8xf32>, index) -> (tensor<8xf32>, index) {
    %e = tensor.empty() : tensor<8xf32>
    // CHECK: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[EXP:.*]] :
    %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %c = arith.cmpi ult, %i, %n : index
    // CHECK: linalg.copy ins(%[[EXP]] : {{.*}}) outs(%[[R]] :
    // CHECK: scf.condition
    scf.condition(%c) %b, %i : tensor<8xf32>, index
  } do {
  ^bb0(%b: tensor<8xf32>, %i: index):
    %e = tensor.empty() : tensor<8xf32>
    // CHECK: linalg.tanh ins(%[[R]] : {{.*}}) outs(%[[TANH:.*]] :
    %t = linalg.tanh ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %next = arith.addi %i, %c1 : index
    // CHECK: linalg.copy ins(%[[TANH]] : {{.*}}) outs(%[[A]] :
    scf.yield %t, %next : tensor<8xf32>, index
  }
  // CHECK: return %[[R]]
  return %r#0 : tensor<8xf32>
}

// -----

// An inner loop that carries what the outer one carries.
// CHECK-LABEL: func @nested(
func.func @nested(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[A:.*]] = memref.alloc()
  // CHECK-NEXT: linalg.copy ins(%{{.*}} : {{.*}}) outs(%[[A]] :
  // CHECK-NOT: memref.copy
  // CHECK: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[NEW:.*]] :
  // CHECK: linalg.copy ins(%[[NEW]] : {{.*}}) outs(%[[A]] :
  // CHECK: return %[[A]]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> tensor<8xf32> {
      %e = tensor.empty() : tensor<8xf32>
      %new = linalg.exp ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %new : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A part of a larger buffer is copied before it is written to: the rest is not needed.
// CHECK-LABEL: func @part(
func.func @part(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK: linalg.exp {{.*}} outs(%[[WHOLE:.*]] :
  %whole = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[PART:.*]] = memref.subview %[[WHOLE]]
  %part = tensor.extract_slice %whole[1, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  // CHECK: linalg.copy ins(%[[PART]] : {{.*}}) outs(%[[R:.*]] : memref<8xf32>)
  // CHECK: linalg.generic {{.*}} outs(%[[R]] : memref<8xf32>)
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%part : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  // CHECK: return %[[R]]
  return %r : tensor<8xf32>
}

// -----

// What is read of a padded value is read there: its source is not needed any more.
// CHECK-LABEL: func @padded(
func.func @padded(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: linalg.fill {{.*}} outs(%[[P:.*]] :
  %p = tensor.pad %a low[0, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x8xf32> to tensor<6x8xf32>
  // CHECK: %[[S:.*]] = memref.subview %[[P]]
  %s = tensor.extract_slice %p[0, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
  // CHECK: linalg.log ins(%[[S]] :
  %l = linalg.log ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %l, %p : tensor<4x8xf32>, tensor<6x8xf32>
}

// -----

// What must not be overwritten is copied where it would be, however early a view was taken.
// CHECK-LABEL: func @view(
func.func @view(%x: tensor<16xf32>, %y: tensor<4xf32>) -> (tensor<2x8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16xf32>
  // CHECK: linalg.exp ins(%{{.*}}) outs(%[[A:.*]] :
  %a = linalg.exp ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %v = tensor.expand_shape %a [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  // CHECK: linalg.tanh
  %f = tensor.empty() : tensor<4xf32>
  %t = linalg.tanh ins(%y : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  // CHECK: linalg.copy
  %r = tensor.insert_slice %t into %v[1, 2] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x8xf32>
  // CHECK: linalg.log ins(%[[A]] :
  %l = linalg.log ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %r, %l : tensor<2x8xf32>, tensor<16xf32>
}

// -----

// What is returned twice is there once.
// CHECK-LABEL: func @twice(
func.func @twice() -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: linalg.fill {{.*}} outs(%[[A:.*]] :
  // CHECK-NEXT: return %[[A]], %[[A]]
  %a = arith.constant dense<1.0> : tensor<8xf32>
  return %a, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// Padding by less than nothing reads a part of the source.
// CHECK-LABEL: func @cut(
func.func @cut(%x: tensor<4x5xf32>) -> tensor<3x6xf32> {
  %v = arith.constant 1.5 : f32
  // CHECK-DAG: %[[FROM:.*]] = memref.subview %arg0[1, 0] [3, 4] [1, 1]
  // CHECK-DAG: %[[TO:.*]] = memref.subview %[[R:.*]][0, 2] [3, 4] [1, 1]
  // CHECK: memref.copy %[[FROM]], %[[TO]]
  // CHECK: return %[[R]]
  %p = tensor.pad %x low[-1, 2] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<4x5xf32> to tensor<3x6xf32>
  return %p : tensor<3x6xf32>
}

// -----

// Nothing may be left of it.
// CHECK-LABEL: func @nothing(
func.func @nothing(%x: tensor<4xf32>) -> tensor<2xf32> {
  %v = arith.constant 1.5 : f32
  // CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[R:.*]] : memref<2xf32>)
  // CHECK: return %[[R]]
  %p = tensor.pad %x low[-5] high[3] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<2xf32>
  return %p : tensor<2xf32>
}
