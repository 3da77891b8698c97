// A clone has the types, fast-math and overflow flags, properties and attributes of its original.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!e64 = tensor<64x262144xf32, "row-major">
!i64 = tensor<64x262144xi32>
!t160 = tensor<160x262144xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>

// FACTS: flags recomputed: 1 x arith.mulf, 64 MiB
// FACTS: properties recomputed: 1 x linalg.generic, 64 MiB
// FACTS: products recomputed: 1 x stablehlo.dot_general, 64 MiB
// FACTS: encoding recomputed: 1 x math.exp, 64 MiB

// The two lines are compared below, up to what marks the clone.

// CHECK-LABEL: func.func @flags
// CHECK:       %[[A:.+]] = arith.muli %{{.+}}, %{{.+}} overflow<nsw, nuw> {app.name = "first"} : tensor<64x262144xi32>
// CHECK-NEXT:  %[[F:.+]] = arith.sitofp %[[A]] : tensor<64x262144xi32> to tensor<64x262144xf32>
// CHECK-NEXT:  %[[Y:.+]] = arith.mulf %[[F]], %[[F]] fastmath<nnan,ninf,contract> {app.name = "second", app.number = 7 : i64} : tensor<64x262144xf32>
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       %[[B:.+]] = arith.muli %{{.+}}, %{{.+}} overflow<nsw, nuw> {app.name = "first", remat.clone_of = {{[0-9]+}} : i64} : tensor<64x262144xi32>
// CHECK-NEXT:  %[[G:.+]] = arith.sitofp %[[B]] {remat.clone_of = {{[0-9]+}} : i64} : tensor<64x262144xi32> to tensor<64x262144xf32>
// CHECK-NEXT:  %[[Z:.+]] = arith.mulf %[[G]], %[[G]] fastmath<nnan,ninf,contract> {app.name = "second", app.number = 7 : i64, remat.clone_of = {{[0-9]+}} : i64} : tensor<64x262144xf32>
// CHECK-NEXT:  "test.bwd"(%[[Z]], %[[M]])
func.func @flags(%x: !t1, %k: !i64) -> !t1 {
  %a = arith.muli %k, %k overflow<nsw, nuw> {app.name = "first"} : !i64
  %f = arith.sitofp %a : !i64 to !t64
  %y = arith.mulf %f, %f fastmath<nnan, ninf, contract> {app.name = "second", app.number = 7 : i64} : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// CHECK-LABEL: func.func @properties
// CHECK:       linalg.generic {doc = "squares", indexing_maps = [#[[MAP:.+]], #[[MAP]]], iterator_types = ["parallel", "parallel"], library_call = "square"} ins({{.*}}) outs({{.*}}) attrs = {app.name = "third"}
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       linalg.generic {doc = "squares", indexing_maps = [#[[MAP]], #[[MAP]]], iterator_types = ["parallel", "parallel"], library_call = "square"} ins({{.*}}) outs({{.*}}) attrs = {app.name = "third", remat.clone_of = {{[0-9]+}} : i64}
// CHECK-NEXT:  ^bb0(%[[IN:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT:  arith.mulf %[[IN]], %[[IN]] fastmath<fast> : f32
func.func @properties(%x: !t1, %w: !t64) -> !t1 {
  %e = tensor.empty() : !t64
  %y = linalg.generic {doc = "squares", indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], library_call = "square"} ins(%w : !t64) outs(%e : !t64) attrs = {app.name = "third"} {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in fastmath<fast> : f32
    linalg.yield %s : f32
  } -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// CHECK-LABEL: func.func @products
// CHECK:       "stablehlo.dot_general"(%{{.+}}, %{{.+}}) <{[[PROPERTIES:.+]]}> {mhlo.frontend_attributes = {layer = "3"}} :
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       "stablehlo.dot_general"(%{{.+}}, %{{.+}}) <{[[PROPERTIES]]}> {mhlo.frontend_attributes = {layer = "3"}, remat.clone_of = {{[0-9]+}} : i64} :
func.func @products(%x: !t1, %u: tensor<64x8xbf16>, %v: tensor<8x262144xbf16>) -> !t1 {
  %y = "stablehlo.dot_general"(%u, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> {mhlo.frontend_attributes = {layer = "3"}} : (tensor<64x8xbf16>, tensor<8x262144xbf16>) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// CHECK-LABEL: func.func @encoding
// CHECK:       math.exp %{{.+}} : tensor<64x262144xf32, "row-major">
// CHECK:       %[[HELD:.+]] = remat.barrier %{{.+}} after %{{.+}} : tensor<64x262144xf32, "row-major"> after tensor<1x262144xf32>
// CHECK-NEXT:  math.exp %[[HELD]] {remat.clone_of = {{[0-9]+}} : i64} : tensor<64x262144xf32, "row-major">
func.func @encoding(%x: !t1, %w: !e64) -> !t1 {
  %y = math.exp %w : !e64
  %l = "test.use"(%y) : (!e64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!e64, !t1) -> !t1
  return %d : !t1
}
