// One forward value with twenty consumers, each with its own backward operation: every gradient is bit
// for bit the same with the value recomputed.
//
// RUN: %python %S/Inputs/generate.py fan-out 20 > %t.in.mlir
// RUN: remat-opt %t.in.mlir -o %t.before.mlir
// RUN: remat-opt %t.in.mlir -o %t.after.mlir --rematerialize="budget=90KiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.after.mlir | FileCheck %s --check-prefix=FACTS
// RUN: FileCheck %s --input-file=%t.after.mlir
// RUN: %python %S/Inputs/execute.py %t.before.mlir --mlir-lib %mlir_lib > %t.before.txt
// RUN: %python %S/Inputs/execute.py %t.after.mlir --mlir-lib %mlir_lib > %t.after.txt
// RUN: FileCheck %s --input-file=%t.before.txt --check-prefix=RESULTS
// RUN: diff %t.before.txt %t.after.txt

// T is 4 KiB; the generator says what the function computes. Unchanged, 
