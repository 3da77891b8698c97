// What the options of --rematerialize mean. In @step, as it stands, %x, %y, the
// exponential %a, %u, %v and the loss are live at the product %v: 5 * 4096 + 64
// bytes. Without %a the last operation needs most: %x, %y, %a, %g, the loss and
// %sum, 4 * 4096 + 2 * 64.
//
// DEFINE: %{file} = %t/step.mlir
// DEFINE: %{options} =
// DEFINE: %{run} = remat-opt %{file} --rematerialize="%{options}"
//
// RUN: split-file %s %t
// RUN: remat-opt %{file} -o %t/unchanged.mlir

// No budget: nothing is changed, and that is said.
//
// RUN: remat-opt %{file} --rematerialize 2> %t.err | diff %t/unchanged.mlir -
// RUN: FileCheck %s --check-prefix=NO-BUDGET --input-file=%t.err
// NO-BUDGET: warning: rematerialize: no budget given, nothing is changed

// budget: units in upper or lower case, with blanks in quotes or braces.
//
// REDEFINE: %{options} = budget=16512B
// RUN: %{run} -o %t/met.mlir && FileCheck %s --check-prefix=MET --input-file=%t/met.mlir
// REDEFINE: %{options} = budget=16.512kb
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{options} = budget=16.125KiB
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{options} = budget='16.125 kib'
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{options} = budget={ 1.6512e4 B }
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{options} = budget=20544B
// RUN: %{run} | diff %t/unchanged.mlir -
// REDEFINE: %{options} = budget=100%
// RUN: %{run} | diff %t/unchanged.mlir -
//
// Percentages are of 20544 and round up.
// REDEFINE: %{options} = budget=81%
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{options} = budget=80%
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=ROUNDED
//
// MET-LABEL: func @step(
// MET-SAME: %[[X:.*]]: tensor<1024xf32>, %{{.*}}: tensor<1024xf32>
// MET: math.exp %[[X]]
// MET: %[[HELD:.*]] = remat.barrier %[[X]] after
// MET: math.exp %[[HELD]]
//
// ROUNDED: does not fit into the budget of 16436 bytes: the smallest budget known to be feasible is 16512 bytes

// on-infeasible=warn: the smallest plan and a warning.
//
// REDEFINE: %{options} = budget=80% on-infeasible=warn
// RUN: %{run} 2> %t.err | diff %t/met.mlir -
// RUN: FileCheck %s --check-prefix=WARN --input-file=%t.err
// WARN: warning: function 'step' does not fit into the budget of 16436 bytes: the smallest budget known to be feasible is 16512 bytes

// scope=temporaries: without %x, %y, %g and the loss, %a, %u and %v remain, and without
// %a the other two.
//
// REDEFINE: %{options} = budget=8192B scope=temporaries
// RUN: %{run} | FileCheck %s --check-prefix=MET
// REDEFINE: %{options} = budget=8191B scope=temporaries
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=TEMPORARIES
// REDEFINE: %{options} = budget=12288B scope=temporaries
// RUN: %{run} | diff %t/unchanged.mlir -
// TEMPORARIES: does not fit into the budget of 8191 bytes: the smallest budget known to be feasible is 8192 bytes

// min-bytes: smaller values are kept.
//
// REDEFINE: %{options} = budget=16512B min-bytes=4096B
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{options} = budget=16512B min-bytes=4097B
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=MIN-BYTES
// MIN-BYTES: does not fit into the budget of 16512 bytes: the smallest budget known to be feasible is 20544 bytes

// alignment: every buffer takes a multiple.
//
// REDEFINE: %{options} = budget=16392B alignment=4B
// RUN: %{run} | FileCheck %s --check-prefix=MET
// REDEFINE: %{options} = budget=16391B alignment=4B
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=ALIGNMENT-4
// REDEFINE: %{options} = budget=24575B alignment=4KiB
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=ALIGNMENT-4K
// ALIGNMENT-4: the smallest budget known to be feasible is 16392 bytes
// ALIGNMENT-4K: the smallest budget known to be feasible is 24576 bytes

// target: 1024 exponentials read and write 8192 bytes.
//
// REDEFINE: %{options} = budget=16512B target=h100 report=%t.h100
// RUN: %{run} -o /dev/null && FileCheck %s --check-prefix=H100 --input-file=%t.h100
// REDEFINE: %{options} = budget=16512B target=a100 report=%t.a100
// RUN: %{run} -o /dev/null && FileCheck %s --check-prefix=A100 --input-file=%t.a100
// REDEFINE: %{options} = budget=16512B target=cpu report=%t.cpu
// RUN: %{run} -o /dev/null && FileCheck %s --check-prefix=CPU --input-file=%t.cpu
// REDEFINE: %{options} = budget=16512B target=%t/toy.json report=%t.toy
// RUN: %{run} -o /dev/null && FileCheck %s --check-prefix=TOY --input-file=%t.toy
// H100: "added_cost_ps": 2731,
// A100: "added_cost_ps": 4819,
// CPU: "added_cost_ps": 409600,
// TOY: "added_cost_ps": 8193000000000,

// report: JSON in a file, tables on standard error, also where the budget is refused.
//
// REDEFINE: %{options} = budget=16512B report=-
// RUN: %{run} 2>&1 > /dev/null | FileCheck %s --check-prefix=TABLE
// REDEFINE: %{options} = budget=1B report=-
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=REFUSED
// REDEFINE: %{options} = budget=1B report=%t.refused
// RUN: not %{run} 2> /dev/null
// RUN: FileCheck %s --check-prefix=REFUSED-JSON --input-file=%t.refused
// TABLE: function 'step': met, budget 16512 B (16.5 KB)
// TABLE: packed peak 20544 B 20.5 KB -> 16512 B 16.5 KB
// TABLE: 1 x  math.exp
// REFUSED: function 'step': infeasible, budget 1 B (1 B)
// REFUSED-JSON: "status": "infeasible"

// reorder: @move runs the exponential where it is used, which costs nothing. When
// originals keep their order, clones can still do their part.
//
// REDEFINE: %{options} = budget=16512B reorder=false
// RUN: %{run} | diff %t/met.mlir -
// REDEFINE: %{file} = %t/move.mlir
// REDEFINE: %{options} = budget=16448B
// RUN: %{run} | FileCheck %s --check-prefix=MOVED
//
// MOVED-LABEL: func @move(
// MOVED-NOT: remat.barrier
// MOVED: linalg.reduce
// MOVED-NEXT: math.exp
// MOVED-NOT: math.exp
// MOVED: return

//--- toy.json
{"name": "toy", "flops_f64": 1000, "flops_f32": 1000, "flops_f16": 1000, "bandwidth": 1000, "launch_ps": 1000000000}

//--- step.mlir
func.func @step(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %scalar = tensor.empty() : tensor<f32>
  %vector = tensor.empty() : tensor<1024xf32>
  %a = math.exp %x : tensor<1024xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%a : tensor<1024xf32>) outs(%l0 : tensor<f32>)
      dimensions = [0]
  %u = linalg.broadcast ins(%loss : tensor<f32>) outs(%vector : tensor<1024xf32>) dimensions = [0]
  %v = arith.mulf %u, %y : tensor<1024xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%s0 : tensor<f32>)
      dimensions = [0]
  %g = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a, %sum : tensor<1024xf32>, tensor<f32>) outs(%vector : tensor<1024xf32>) {
  ^bb0(%ai: f32, %si: f32, %out: f32):
    %r = arith.mulf %ai, %si : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  return %g, %loss : tensor<1024xf32>, tensor<f32>
}

//--- move.mlir
func.func @move(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %scalar = tensor.empty() : tensor<f32>
  %vector = tensor.empty() : tensor<1024xf32>
  %a = math.exp %x : tensor<1024xf32>
  %u = math.tanh %y : tensor<1024xf32>
  %v = arith.mulf %u, %u : tensor<1024xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%v : tensor<1024xf32>) outs(%s0 : tensor<f32>)
      dimensions = [0]
  %g = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a, %sum : tensor<1024xf32>, tensor<f32>) outs(%vector : tensor<1024xf32>) {
  ^bb0(%ai: f32, %si: f32, %out: f32):
    %r = arith.mulf %ai, %si : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  return %g : tensor<1024xf32>
}
