// One forward value with twenty consumers, each with its own backward operation: every gradient is
// bit for bit the same with the value recomputed.
//
// RUN: %python %S/Inputs/generate.py fan-out 20 > %t.in.mlir
// RUN: remat-opt %t.in.mlir -o %t.before.mlir
// RUN: remat-opt %t.in.mlir -o %t.after.mlir --rematerialize="budget=18816B report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.after.mlir | FileCheck %s --check-prefix=FACTS
// RUN: %python %S/Inputs/execute.py %t.before.mlir --mlir-lib %mlir_lib > %t.before.txt
// RUN: %python %S/Inputs/execute.py %t.after.mlir --mlir-lib %mlir_lib > %t.after.txt
// RUN: FileCheck %s --input-file=%t.before.txt --check-prefix=RESULTS
// RUN: diff %t.before.txt %t.after.txt

// S is 4096 bytes, a gradient 128 bytes and a result. At %v19: %x, %a, %k19, %u19, %v19 and 19
// gradients, 5 * 4096 + 19 * 128 = 22912. Without %a there, and at %p19 with %x, %a, %c19, %p19 and
// 19 gradients: 18816. At %v0 five S are live, more than that, so that %a has to go in every round:
// the original moves to %p0, and each of the others gets a clone.

// FACTS:     step status: met
// FACTS:     step packed: 22912 B -> 18816 B
// FACTS:     step live: 22912 B -> 18816 B
// FACTS:     step minimum: 18816 B
// FACTS:     step recomputed: 19 x math.exp, 4096 B
// FACTS-NOT: step recomputed
// FACTS:     step moved: math.exp

// RESULTS-COUNT-20: sizes = [32]
