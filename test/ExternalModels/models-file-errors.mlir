// Every way in which a models file can be wrong is said with its place; how each key is checked in
// test/unit/Interfaces/ModelTableTest.cpp.

// RUN: split-file %s %t

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read models file '{{.*}}missing.json': No such file or directory

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/syntax.json 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: error: models file '{{.*}}syntax.json': not JSON: [3:29, byte={{[0-9]+}}]: Expected object key

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/key.json 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: models file '{{.*}}key.json': operations[1] ('mine.mul'): unknown key 'effect'

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/type.json 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: models file '{{.*}}type.json': operations[0] ('mine.add'): expected 'recursive' to be a boolean, but got a string

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/function.json 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: models file '{{.*}}function.json': operations[0] ('mine.add'): 'flops': column 5: unknown function 'size'

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/formula.json 2>&1 | FileCheck %s --check-prefix=FORMULA
// FORMULA: error: models file '{{.*}}formula.json': operations[0] ('mine.add'): 'bytes': column 19: expected ',' or ')'

// RUN: not remat-opt %t/input.mlir -test-remat-operation-models=models=%t/list.json 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: models file '{{.*}}list.json': operations[0] ('mine.add'): 'flops': column 1: expected an integer, but got a list

//--- input.mlir

//--- syntax.json
{
  "operations": [
    {"names": ["mine.add"], },
  ]
}
//--- key.json
{
  "operations": [
    {"names": ["mine.add"], "effects": "pure"},
    {"names": ["mine.mul"], "effect": "pure"}
  ]
}
//--- type.json
{"operations": [{"names": ["mine.add"], "effects": "pure", "recursive": "yes"}]}
//--- function.json
{"operations": [{"names": ["mine.add"], "effects": "pure", "flops": "2 * size(operand 0)"}]}
//--- formula.json
{"operations": [{"names": ["mine.add"], "effects": "pure", "bytes": "3 + bytes(operands"}]}
//--- list.json
{"operations": [{"names": ["mine.add"], "effects": "pure", "flops": "dims(operand 0)"}]}
