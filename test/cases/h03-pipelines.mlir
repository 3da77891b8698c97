// What --dump-pass-pipeline prints can be read again and means the same.
//
// RUN: remat-opt %s -o %t.1.mlir --dump-pass-pipeline 2> %t.dump --rematerialize="budget={12 KiB} \
// RUN:   scope=temporaries on-infeasible=warn reorder=false target=cpu min-bytes=1KB alignment=256B \
// RUN:   fusion=none report=%t.1.json"
// RUN: FileCheck %s --input-file=%t.dump
// RUN: %python %S/Inputs/rerun-pipeline.py %t.dump remat-opt %s -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
//
// CHECK:      rematerialize{
// CHECK-SAME: alignment=256B
// CHECK-SAME: budget=12288B
// CHECK-SAME: min-bytes=1000B
// CHECK-SAME: on-infeasible=warn
// CHECK-SAME: reorder=false
// CHECK-SAME: scope=temporaries
// CHECK-SAME: target=cpu
//
// The defaults, too:
// RUN: remat-opt %s -o /dev/null --dump-pass-pipeline --rematerialize=budget=100% 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DEFAULTS
// DEFAULTS: budget=100%
// DEFAULTS-SAME: min-bytes=auto
//
// It is a pass on modules:
// RUN: not remat-opt %s --pass-pipeline="builtin.module(func.func(rematerialize{budget=4GB}))" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NESTED
// NESTED: {{.*}}rematerialize{{.*}}

func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %y = math.exp %x : tensor<1024xf32>
  %z = math.exp %y : tensor<1024xf32>
  return %z : tensor<1024xf32>
}
