// RUN: remat-opt %s -split-input-file -verify-diagnostics

func.func @no_inputs(%a: tensor<4xf32>) {
  // expected-error @below {{expected at least one input}}
  "remat.barrier"(%a) <{operandSegmentSizes = array<i32: 0, 1>}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @no_after(%a: tensor<4xf32>) {
  // expected-error @below {{expected at least one 'after' value}}
  %0 = "remat.barrier"(%a) <{operandSegmentSizes = array<i32: 1, 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @memref(%a: memref<4xf32>) {
  // expected-error @below {{expected no memref, but got 'memref<4xf32>'}}
  %0 = remat.barrier %a after %a : memref<4xf32> after memref<4xf32>
  return
}

// -----

func.func @memref_after(%a: tensor<4xf32>, %b: memref<*xf32>) {
  // expected-error @below {{expected no memref, but got 'memref<*xf32>'}}
  %0 = remat.barrier %a after %b : tensor<4xf32> after memref<*xf32>
  return
}

// -----

func.func @policy(%a: tensor<4xf32>) {
  // expected-error @below {{expected 'remat.policy' to be a '#remat.policy'}}
  %0 = math.exp %a {remat.policy = "must_save"} : tensor<4xf32>
  return
}

// -----

func.func @recomputable(%a: tensor<4xf32>) {
  // expected-error @below {{expected 'remat.recomputable' to be 'true' or 'false'}}
  %0 = math.exp %a {remat.recomputable = 1 : i32} : tensor<4xf32>
  return
}

// -----

func.func @cost(%a: tensor<4xf32>) {
  // expected-error @below {{expected 'remat.cost' to be a non-negative 'i64' integer}}
  %0 = math.exp %a {remat.cost = -1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @cost_type(%a: tensor<4xf32>) {
  // expected-error @below {{expected 'remat.cost' to be a non-negative 'i64' integer}}
  %0 = math.exp %a {remat.cost = 1 : i32} : tensor<4xf32>
  return
}

// -----

func.func @workspace(%a: tensor<4xf32>) {
  // expected-error @below {{expected 'remat.workspace' to be a non-negative 'i64' integer}}
  %0 = math.exp %a {remat.workspace = -64 : i64} : tensor<4xf32>
  return
}

// -----

func.func @library_workspace(%a: memref<4xf32>, %w: memref<4xf32>) {
  // expected-error @below {{operand #2 must be 1D memref of 8-bit signless integer values, but got 'memref<4xf32>'}}
  remat.library_call "rematMatmul" [1] ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
      workspace(%w : memref<4xf32>)
  return
}

// -----

func.func @clone_of(%a: tensor<4xf32>) {
  // expected-error @below {{expected 'remat.clone_of' to be a non-negative 'i64' integer}}
  %0 = math.exp %a {remat.clone_of = "x"} : tensor<4xf32>
  return
}

// -----

func.func @unknown(%a: tensor<4xf32>) {
  // expected-error @below {{has an unknown attribute 'remat.polcy' of the remat dialect}}
  %0 = math.exp %a {remat.polcy = 1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @policy_name(%a: tensor<4xf32>) {
  // expected-error @+2 {{expected ::mlir::remat::Policy to be one of: must_save, must_recompute}}
  // expected-error @below {{failed to parse Remat_PolicyAttr parameter 'value' which is to be a `::mlir::remat::Policy`}}
  %0 = math.exp %a {remat.policy = #remat.policy<save>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'remat.cost' means nothing on 'func.func'}}
func.func @on_function() attributes {remat.cost = 1 : i64} {
  return
}

// -----

// expected-error @below {{'remat.policy' means nothing on 'builtin.module'}}
module attributes {remat.policy = #remat.policy<must_save>} {
}

// -----

// expected-error @below {{'remat.policy' means nothing on an argument, but argument 0 has it}}
func.func @on_argument(%x: f32 {remat.policy = #remat.policy<must_save>}) {
  return
}

// -----

// expected-error @below {{'remat.foo' means nothing on a result, but result 0 has it}}
func.func @on_result(%x: f32) -> (f32 {remat.foo = 1 : i64}) {
  return %x : f32
}

// -----

// expected-error @+1 {{expected 'remat.arena_bytes' to be an 'i64' integer of at least 0}}
func.func @arena_bytes() attributes {remat.arena_bytes = -1 : i64} {
  return
}

// -----

// expected-error @+1 {{expected 'remat.arena_alignment' to be an 'i64' integer of at least 1}}
func.func @arena_alignment() attributes {remat.arena_alignment = 0 : i64} {
  return
}

// -----

// expected-error @+1 {{expected 'remat.results' to be an array of dictionaries with 'type', a memref, 'offset' and perhaps 'argument'}}
func.func @results(%x: memref<4xf32>) attributes {remat.results = [{offset = 0 : i64, argument = 1 : i64, type = memref<4xf32>}]} {
  return
}

// -----

// expected-error @+1 {{expected 'remat.timed_operations' to be an array of 'i64'}}
func.func @timed_operations() attributes {remat.timed_operations = [0, 1]} {
  return
}

// -----

// expected-error @+1 {{expected 'remat.times' of argument 0 to be a unit attribute}}
func.func @times(%x: memref<4xi64> {remat.times = 1 : i64}) {
  return
}

// -----

// expected-error @+1 {{expected 'remat.donated' of argument 0 to be a unit attribute}}
func.func @donated(%x: tensor<4xf32> {remat.donated = 1 : i64}) {
  return
}
