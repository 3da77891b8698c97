// Dropping what is inside of a block is useless while the block's output is saved: nothing is
// recomputed, and the report attributes the bytes to the outputs that hold them.
//
// RUN: not remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=71MiB report=%t.json" 2> %t.err
// RUN: %python %S/Inputs/facts.py %t.json --peak | FileCheck %s --check-prefix=FACTS
// RUN: FileCheck %s --input-file=%t.err --check-prefix=REFUSED

!t8 = tensor<8x262144xf32>
!t32 = tensor<32x262144xf32>

// %h of each block is gone when its output is there. At test.big: argument 8, %o1 to %o3 24, %g4 8,
// %b 32.

// REFUSED: error: function 'refused' does not fit

// FACTS:     refused status: infeasible
// FACTS:     refused packed: 72 MiB -> 72 MiB
// FACTS:     refused minimum: 72 MiB
// FACTS-NOT: refused {{recomputed|moved}}
// FACTS:     refused at peak: 8 MiB, test.attention, not recomputable: {{.*}}; read next by 'test.bwd'
// FACTS:     refused at peak: 8 MiB, test.attention, not recomputable: {{.*}}; read next by 'test.bwd'
// FACTS:     refused at peak: 8 MiB, test.attention, not recomputable: {{.*}}; read next by 'test.bwd'
// FACTS-NOT: refused at peak: {{.*}}math.tanh
func.func @refused(%x: !t8) -> !t8 {
  %h1 = math.tanh %x : !t8
  %o1 = "test.attention"(%h1) : (!t8) -> !t8
  %h2 = math.tanh %o1 : !t8
  %o2 = "test.attention"(%h2) : (!t8) -> !t8
  %h3 = math.tanh %o2 : !t8
  %o3 = "test.attention"(%h3) : (!t8) -> !t8
  %h4 = math.tanh %o3 : !t8
  %o4 = "test.attention"(%h4) : (!t8) -> !t8
  %g4 = "test.bwd"(%o4, %x) : (!t8, !t8) -> !t8
  %b = "test.big"(%g4) : (!t8) -> !t32
  %k3 = "test.use"(%b) : (!t32) -> !t8
  %g3 = "test.bwd"(%o3, %k3) : (!t8, !t8) -> !t8
  %g2 = "test.bwd"(%o2, %g3) : (!t8, !t8) -> !t8
  %g1 = "test.bwd"(%o1, %g2) : (!t8, !t8) -> !t8
  return %g1 : !t8
}
