// Calls of private functions in modules with operations that are not registered.
//
// RUN: remat-opt %s -split-input-file -allow-unregistered-dialect -remat-inline | FileCheck %s
// RUN: remat-opt %s -split-input-file -allow-unregistered-dialect -remat-inline -remat-inline -o %t.twice
// RUN: remat-opt %s -split-input-file -allow-unregistered-dialect -remat-inline | diff %t.twice -

// In regions of operations with one region and with several; results are read in regions.
// CHECK-NOT:   func private
// CHECK-LABEL: func.func @regions
// CHECK-SAME:    %[[X:.*]]: tensor<f32>, %[[C:.*]]: tensor<i32>
// CHECK-NEXT:    %[[A:.*]] = "stablehlo.tanh"(%[[X]])
// CHECK-NEXT:    "sdy.manual_computation"(%[[A]])
// CHECK-NEXT:    ^bb0(%[[B:.*]]: tensor<f32>):
// CHECK-NEXT:      %[[T:.*]] = "stablehlo.tanh"(%[[B]])
// CHECK-NEXT:      %[[S:.*]] = "stablehlo.add"(%[[T]], %[[T]])
// CHECK-NEXT:      "sdy.return"(%[[S]])
// CHECK:         "stablehlo.case"(%[[C]])
// CHECK-NEXT:      %[[U:.*]] = "stablehlo.tanh"(%[[A]])
// CHECK-NEXT:      "stablehlo.return"(%[[U]])
// CHECK-NEXT:    }, {
// CHECK-NEXT:      "stablehlo.return"(%[[A]])
// CHECK-NOT:   func private
func.func private @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @tanh(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.add"(%0, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @tanh(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @unused() {
  call @unused_too() : () -> ()
  return
}
func.func private @unused_too() {
  call @unused() : () -> ()
  return
}
func.func private @declared()
func.func @regions(%x: tensor<f32>, %c: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %a = call @tanh(%x) : (tensor<f32>) -> tensor<f32>
  %0 = "sdy.manual_computation"(%a) ({
  ^bb0(%b: tensor<f32>):
    %1 = func.call @double(%b) : (tensor<f32>) -> tensor<f32>
    "sdy.return"(%1) : (tensor<f32>) -> ()
  }) {in_shardings = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.case"(%c) ({
    %3 = func.call @tanh(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%3) : (tensor<f32>) -> ()
  }, {
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<i32>) -> tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}

// -----

// Arguments, the same value twice, and no results at all.
// CHECK-LABEL: func.func @several
// CHECK-SAME:    %[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.add"(%[[Y]], %[[X]])
// CHECK-NEXT:    "test.print"(%[[S]])
// CHECK-NEXT:    return %[[X]], %[[S]], %[[S]], %[[Y]]
func.func private @swap(%a: tensor<f32>, %b: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %b, %0, %0, %a : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @print(%a: tensor<f32>) {
  "test.print"(%a) : (tensor<f32>) -> ()
  return
}
func.func @several(%x: tensor<f32>, %y: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0:4 = call @swap(%y, %x)
      : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  call @print(%0#1) : (tensor<f32>) -> ()
  return %0#0, %0#1, %0#2, %0#3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// What calls itself, directly or not, also through a public function, stays; what it calls
// does not.
// CHECK:       func.func private @direct
// CHECK:         call @direct
// CHECK-NEXT:    return
// CHECK:       func.func private @even
// CHECK-NEXT:    "test.leaf"
// CHECK-NEXT:    call @odd
// CHECK:       func.func private @odd
// CHECK-NEXT:    call @even
// CHECK:       func.func private @through
// CHECK-NEXT:    call @public
// CHECK-NOT:   @leaf
// CHECK:       func.func @public
// CHECK-NEXT:    call @through
// CHECK-NEXT:    call @direct
// CHECK-NEXT:    call @even
func.func private @direct() {
  call @direct() : () -> ()
  return
}
func.func private @even() {
  call @leaf() : () -> ()
  call @odd() : () -> ()
  return
}
func.func private @odd() {
  call @even() : () -> ()
  return
}
func.func private @through() {
  call @public() : () -> ()
  return
}
func.func private @leaf() {
  "test.leaf"() : () -> ()
  return
}
func.func @public() {
  call @through() : () -> ()
  call @direct() : () -> ()
  call @even() : () -> ()
  return
}

// -----

// Declarations, several blocks, public callees, indirect calls.
// CHECK:       func.func private @declared
// CHECK:       func.func private @blocks
// CHECK:       func.func private @constant
// CHECK:       func.func @public
// CHECK:       func.func @caller
// CHECK-NEXT:    call @declared
// CHECK-NEXT:    call @blocks
// CHECK-NEXT:    call @public
// CHECK-NEXT:    "test.constant"
// CHECK-NEXT:    constant @constant
// CHECK-NEXT:    call_indirect
func.func private @declared()
func.func private @blocks() {
  cf.br ^bb1
^bb1:
  return
}
func.func private @constant() {
  "test.constant"() : () -> ()
  return
}
func.func @public() {
  return
}
func.func @caller() {
  call @declared() : () -> ()
  call @blocks() : () -> ()
  call @public() : () -> ()
  call @constant() : () -> ()
  %f = constant @constant : () -> ()
  call_indirect %f() : () -> ()
  return
}

// -----

// Attributes of operations that are not registered keep functions, wherever they are in them, and
// what these call.
// CHECK:       func.func private @plain
// CHECK:       func.func private @nested
// CHECK:       func.func private @"quoted name"
// CHECK:       func.func private @opaque
// CHECK:       func.func private @discardable
// CHECK:       func.func private @recursive
// CHECK-NOT:   func.func private
// CHECK-LABEL: func.func @references
// CHECK-NEXT:    "stablehlo.custom_call"() <{called_computations = [@plain]
// CHECK-SAME:      config = {a = [{b = @inner::@nested}]}
// CHECK-SAME:      text = #stablehlo.some<calls @"quoted name", @opaque>
// CHECK-NEXT:    "stablehlo.composite"() {decomposition = @discardable}
// CHECK-NEXT:    "test.leaf"
func.func private @plain() {
  call @recursive() : () -> ()
  call @leaf() : () -> ()
  return
}
func.func private @nested() { return }
func.func private @"quoted name"() { return }
func.func private @opaque() { return }
func.func private @discardable() { return }
func.func private @recursive() {
  call @recursive() : () -> ()
  return
}
func.func private @leaf() {
  "test.leaf"() : () -> ()
  return
}
func.func @references() {
  "stablehlo.custom_call"() <{called_computations = [@plain], config = {a = [{b = @inner::@nested}]}, text = #stablehlo.some<calls @"quoted name", @opaque>}> : () -> ()
  "stablehlo.composite"() {decomposition = @discardable} : () -> ()
  call @leaf() : () -> ()
  return
}

// -----

// Other symbol tables: the names in them are theirs.
// CHECK:       func.func private @f
// CHECK:       "test.module"
// CHECK:         func.func private @f
// CHECK:         func.func @caller
// CHECK-NEXT:      call @f
// CHECK:       module @inner
// CHECK:         call @f
// CHECK:       func.func @outer
// CHECK-NEXT:    "test.outer"
func.func private @f() {
  "test.outer"() : () -> ()
  return
}
"test.module"() ({
  func.func private @f() {
    "test.inner"() : () -> ()
    return
  }
  func.func @caller() {
    call @f() : () -> ()
    return
  }
  "test.end"() : () -> ()
}, {}) : () -> ()
module @inner {
  func.func private @f() { return }
  func.func @caller() {
    call @f() : () -> ()
    return
  }
}
func.func @outer() {
  call @f() : () -> ()
  return
}

// -----

// Attributes that mean something to somebody else, on calls, functions, arguments and results.
// CHECK-LABEL: func.func @attributes
// CHECK-NEXT:    call @f() {mhlo.frontend_attributes = {_xla_compute_type = "host"}}
// CHECK-NEXT:    call @f() {no_inline}
// CHECK-NEXT:    call @f() {remat.cost = 7 : i64}
// CHECK-NEXT:    "test.f"
// CHECK-NEXT:    call @not_inlined
// CHECK-NEXT:    call @of_function
// CHECK-NEXT:    call @of_argument
// CHECK-NEXT:    call @of_result
// CHECK-NEXT:    "test.harmless"
func.func private @f() {
  "test.f"() : () -> ()
  return
}
func.func private @not_inlined() attributes {no_inline} { return }
func.func private @of_function() attributes {sdy.manual} { return }
func.func private @of_argument(%x: tensor<f32> {mhlo.sharding = "{replicated}"}) { return }
func.func private @of_result() -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %0 = "test.value"() : () -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @harmless(%x: tensor<f32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32})
    -> (tensor<f32> {jax.result_info = "[0]"}) {
  "test.harmless"() : () -> ()
  return %x : tensor<f32>
}
func.func @attributes(%x: tensor<f32>) {
  call @f() {mhlo.frontend_attributes = {_xla_compute_type = "host"}} : () -> ()
  call @f() {no_inline} : () -> ()
  call @f() {remat.cost = 7} : () -> ()
  call @f() {jax.some = 1} : () -> ()
  call @not_inlined() : () -> ()
  call @of_function() : () -> ()
  call @of_argument(%x) : (tensor<f32>) -> ()
  %0 = call @of_result() : () -> tensor<f32>
  %1 = call @harmless(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Where there is no order, an operand may be the call's own result.
// CHECK-LABEL: func.func @cycle
// CHECK:         %[[R:.*]] = func.call @id(%[[R]])
func.func private @id(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @cycle() {
  "stablehlo.graph"() ({
    %0 = func.call @id(%0) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
  return
}

// -----

// What upstream does not put into affine loops stays outside here, too.
// CHECK-LABEL: func.func @affine
// CHECK:         affine.for
// CHECK-NEXT:      func.call @loop
func.func private @loop(%i: index) {
  scf.for %j = %i to %i step %i {
    "test.use"(%j) : (index) -> ()
  }
  return
}
func.func @affine() {
  affine.for %i = 0 to 10 {
    func.call @loop(%i) : (index) -> ()
  }
  return
}

// -----

// Locations, also of arguments of blocks.
// RUN: remat-opt %s -split-input-file -allow-unregistered-dialect -remat-inline -mlir-print-local-scope -mlir-print-debuginfo \
// RUN:   | FileCheck %s --check-prefix=LOC
// LOC-LABEL: func.func @locations
// LOC-NEXT:    "test.op"() ({
// LOC-NEXT:    ^bb0(%{{.*}}: f32 loc(callsite("arg" at callsite("inner" at "outer")))):
// LOC-NEXT:    }) : () -> () loc(callsite("op" at callsite("inner" at "outer")))
func.func private @op() {
  "test.op"() ({
  ^bb0(%x: f32 loc("arg")):
  }) : () -> () loc("op")
  return
}
func.func private @calls() {
  call @op() : () -> () loc("inner")
  return
}
func.func @locations() {
  call @calls() : () -> () loc("outer")
  return
}
