// How budgets are written: exact values, and errors that say what is wrong.
//
// RUN: not remat-opt %s --rematerialize=budget=0.5 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not remat-opt %s --rematerialize=budget=4 2>&1 | FileCheck %s --check-prefix=UNIT
// UNIT: {{.*}}unit{{.*}}KB{{.*}}KiB
// RUN: not remat-opt %s --rematerialize=budget=4GX 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: {{.*}}GX{{.*}}KB{{.*}}KiB
// RUN: not remat-opt %s --rematerialize=budget=-1GB 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: {{.*}}-1GB{{.*}}
// RUN: not remat-opt %s --rematerialize=budget= 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: {{.*}}empty
// RUN: not remat-opt %s --rematerialize=budget=0B 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: {{.*}}budget of 0 bytes
// RUN: not remat-opt %s --rematerialize=budget=0% 2>&1 | FileCheck %s --check-prefix=ZEROPERCENT
// ZEROPERCENT: {{.*}}0%
// RUN: not remat-opt %s --rematerialize=budget=18446744073709551616B 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not remat-opt %s --rematerialize=budget=9223372036854775808B 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not remat-opt %s --rematerialize=budget=1e30GB 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: {{.*}}B' is not a whole number of bytes below 2^63
// RUN: not remat-opt %s --rematerialize=budget=120% 2>&1 | FileCheck %s --check-prefix=PERCENT
// PERCENT: {{.*}}at most 100%, but got '120%'
// RUN: not remat-opt %s --rematerialize=budget=1.5B 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{.*}}1.5B{{.*}}whole
// RUN: not remat-opt %s --rematerialize=budget=much 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: {{.*}}much
// RUN: not remat-opt %s --rematerialize=budget=nanGB 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: {{.*}}nan
//
// Each of these prints one error and no IR:
// UNIT-NOT: module
// LARGE-NOT: module
//
// RUN: remat-opt %s --rematerialize=budget=4gb --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: remat-opt %s --rematerialize="budget={4 GB}" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: remat-opt %s --rematerialize='budget="4 GB"' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: remat-opt %s --rematerialize=budget=4e9B --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LOWER
// LOWER: budget=4000000000B
// RUN: remat-opt %s --rematerialize=budget=4.5GiB --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DECIMAL
// DECIMAL: budget=4831838208B
// RUN: remat-opt %s --rematerialize=budget=1e9B --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=EXPONENT
// EXPONENT: budget=1000000000B
// RUN: remat-opt %s --rematerialize=budget=1TB --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TB
// TB: budget=1000000000000B
// RUN: remat-opt %s --rematerialize=budget=1tib --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TIB
// TIB: budget=1099511627776B
// RUN: remat-opt %s --rematerialize=budget=9223372036854775807B --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LARGEST
// LARGEST: budget=9223372036854775807B
// RUN: not remat-opt %s --rematerialize=budget=99.5% --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=FRACTION
// FRACTION: budget=99.5%
//
// Every report echoes bytes; a percentage is of the unchanged packed peak, rounded up: 12288 bytes
// at the exponential, of which 33.3 % are 4091.9.
// RUN: not remat-opt %s --rematerialize="budget=33.3% report=%t.json" -o %t.none
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=ROUNDED
// ROUNDED: step budget: 4092 B
//
// Without a budget nothing is done, and the tool says so; other options do not make up for it.
// RUN: remat-opt %s -o %t.plain.mlir
// RUN: remat-opt %s --rematerialize -o %t.none.mlir 2> %t.err
// RUN: diff %t.plain.mlir %t.none.mlir
// RUN: FileCheck %s --input-file=%t.err --check-prefix=OMITTED
// RUN: remat-opt %s --rematerialize="target=cpu report=%t.json" -o %t.none.mlir 2> %t.err
// RUN: diff %t.plain.mlir %t.none.mlir
// RUN: FileCheck %s --input-file=%t.err --check-prefix=OMITTED
// OMITTED: warning: {{.*}}no budget{{.*}}nothing is changed
//
// Options that do not exist:
// RUN: not remat-opt %s --rematerialize="budget=4GB colour=red" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option colour
// RUN: not remat-opt %s --rematerialize="budget=4GB scope=some" 2>&1 | FileCheck %s --check-prefix=SCOPE
// SCOPE: {{.*}}some
// RUN: not remat-opt %s --rematerialize="budget=4GB target=toaster" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'toaster': expected h100, a100, cpu or a file
// RUN: not remat-opt %s --rematerialize="budget=4GB alignment=48B" 2>&1 | FileCheck %s --check-prefix=ALIGNMENT
// ALIGNMENT: error: {{.*}}'alignment' to be a power of two, but got '48B'
// RUN: not remat-opt %s --rematerialize="budget=4GB min-bytes=1" 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not remat-opt %s --rematerialize="budget=4GB report=%t.json/no/file" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: cannot write '{{.*}}/no/file'
// RUN: not remat-opt %s --rematerialize="budget=4GB models=%t.absent" 2>&1 | FileCheck %s --check-prefix=MODELS
// MODELS: error: {{.*}}absent

func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %y = math.exp %x : tensor<1024xf32>
  %z = math.exp %y : tensor<1024xf32>
  return %z : tensor<1024xf32>
}
