// RUN: remat-opt %s -allow-unregistered-dialect -remat-print-memory=output=%t.txt \
// RUN:   -split-input-file -verify-diagnostics -o /dev/null

// Functions that can be analysed are still printed, see print-memory-options.test.

func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error@below {{cannot analyze function 'branches': its body has several blocks; lift control flow to scf first}}
func.func @branches(%c: i1) {
  cf.cond_br %c, ^left, ^right
^left:
  cf.br ^right
^right:
  return
}

// -----

// expected-note@below {{in function 'dynamic'}}
func.func @dynamic(%n: index) -> tensor<?xf32> {
  // expected-warning@below {{the size of 'tensor<?xf32>' is not known; 2 such values count as 0 bytes and are not recomputed}}
  %a = "foreign.make"(%n) : (index) -> tensor<?xf32>
  %b = math.exp %a : tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

// expected-error@below {{cannot analyze function 'huge'}}
func.func @huge(%x: tensor<1000000000x1000000000xf32>) {
  return
}

// -----

func.func @overflow(%x: f32) -> f32 {
  // expected-error@below {{cannot analyze function 'overflow': a value of type 'tensor<4611686018427387904x4xf32>' has 2^63 bytes or more}}
  %v = "test.make"(%x) : (f32) -> tensor<4611686018427387904x4xf32>
  %r = "test.use"(%v) : (tensor<4611686018427387904x4xf32>) -> f32
  return %r : f32
}
