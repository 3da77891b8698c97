// Functions that cannot be planned are errors at the function, not crashes.
//
// RUN: remat-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics \
// RUN:   --rematerialize=budget=1TB

// expected-error @below {{cannot analyze function 'blocks': its body has several blocks; lift control flow to scf first}}
func.func @blocks(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %y = math.exp %x : f32
  return %y : f32
^bb2:
  return %x : f32
}

// -----

// Input that does not verify never gets to the pass.
func.func @invalid(%x: f32) -> f32 {
  // expected-error @below {{'func.return' op has 0 operands, but enclosing function (@invalid) returns 1}}
  return
}

// -----

// In a region of an operation that nobody knows, a use may stand before its definition.
func.func @disorder(%x: f32) -> f32 {
  %r = "test.region"() ({
    %y = "test.use"(%z) : (f32) -> f32
    %z = "test.make"(%x) : (f32) -> f32
    "test.yield"(%y) : (f32) -> ()
  }) : () -> f32
  return %r : f32
}

// -----

// An empty region, and a terminator that nobody knows.
func.func @oddities(%x: f32) -> f32 {
  "test.region"() ({}) : () -> ()
  "test.region"() ({
    "test.end"() : () -> ()
  }, {
  ^bb0:
    "test.end"() : () -> ()
  }) : () -> ()
  return %x : f32
}
