// Options of `rematerialize` about the search: solvers, effort, limits of cost, fronts, plan files.

// The planner's choice, and what each solver may do: the same peak; chains only where there is one.
// RUN: remat-opt %s --rematerialize="budget=81%% report=%t.json" -o %t.auto.mlir
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: remat-opt %s --rematerialize="budget=81%% solver=greedy" -o %t.greedy.mlir
// RUN: remat-opt %s --rematerialize="budget=81%% effort=0" | diff %t.greedy.mlir -
// RUN: remat-opt %s --rematerialize="budget=81%% solver=anneal" | FileCheck %s
// RUN: remat-opt %s --rematerialize="budget=81%% solver=exact effort=2" | FileCheck %s
// RUN: remat-opt %s --rematerialize="budget=81%%" --mlir-disable-threading | diff %t.auto.mlir -
// CHECK: func.func @step
// CHECK: remat.clone_of
// REPORT-DAG: "status": "met"
// REPORT-DAG: "overhead_lower_bound": 0.
// REPORT-DAG: "minimum_known_bytes": 16512

// RUN: not remat-opt %s --rematerialize="budget=81%% solver=best" 2>&1 | FileCheck %s --check-prefix=SOLVER
// SOLVER: Cannot find option named 'best'
// RUN: not remat-opt %s --rematerialize="budget=81%% effort=11" 2>&1 | FileCheck %s --check-prefix=EFFORT
// EFFORT: error: rematerialize: expected 'effort' to be from 0 to 10, but got 11

// The other question: the smallest peak for a limit of cost. Nothing fits into no cost.
// RUN: remat-opt %s --rematerialize="max-overhead=100%%" | FileCheck %s
// RUN: remat-opt %s --rematerialize="max-overhead=0%%" -o %t.none.mlir
// RUN: remat-opt %s -o %t.same.mlir
// RUN: diff %t.same.mlir %t.none.mlir
// RUN: not remat-opt %s --rematerialize="max-overhead=5" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: expected a percentage from 0% to 1000000%, such as '5%', but got '5'
// RUN: not remat-opt %s --rematerialize="budget=81%% max-overhead=5%%" 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: rematerialize: 'budget' and 'max-overhead' are two questions: give one

// What smaller peaks cost; the program stays as it is without a budget.
// RUN: remat-opt %s --rematerialize="pareto=%t.csv" | diff %t.same.mlir -
// RUN: FileCheck %s --check-prefix=FRONT --input-file=%t.csv
// FRONT:      function,packed_bytes,added_cost_ps,overhead_percent
// FRONT-NEXT: step,20544,0,0.0000
// FRONT-NEXT: step,16512,{{[1-9][0-9]*}},
// FRONT-NOT:  step
// RUN: sed 's/@step/@"a,b\\22c"/' %s > %t.quoted.mlir
// RUN: remat-opt %t.quoted.mlir --rematerialize="pareto=%t.quoted.csv" -o /dev/null
// RUN: FileCheck %s --check-prefix=QUOTED --input-file=%t.quoted.csv
// QUOTED: {{^}}"a,b""c",20544,0,0.0000
// RUN: remat-opt %s --rematerialize="budget=81%% pareto=%t.front.json" | diff %t.auto.mlir -
// RUN: %python -c "import json; [f] = json.load(open('%t.front.json'))['functions']; print(f['name'], len(f['points']))" | FileCheck %s --check-prefix=FRONT-JSON
// FRONT-JSON: step 2

// A plan that was written is applied again without a search, and to nothing else.
// RUN: remat-opt %s --rematerialize="budget=81%% plan-output=%t.plan" | diff %t.auto.mlir -
// RUN: remat-opt %s --rematerialize="plan=%t.plan" | diff %t.auto.mlir -
// RUN: remat-opt %s --rematerialize="plan=%t.plan budget=81%%" | diff %t.auto.mlir -
// RUN: not remat-opt %s --rematerialize="plan=%t.plan budget=80%%" 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error: the plan for function 'step' takes 16512 bytes, but the budget is 16436
// RUN: remat-opt %s --rematerialize="plan=%t.plan max-overhead=100%%" | diff %t.auto.mlir -
// RUN: not remat-opt %s --rematerialize="plan=%t.plan max-overhead=5%%" 2>&1 | FileCheck %s --check-prefix=COSTS
// COSTS: error: the plan for function 'step' adds {{[0-9]+}} picoseconds, but 'max-overhead' allows {{[0-9]+}}
// RUN: not remat-opt %s --rematerialize="plan=%t.plan pareto=%t.csv" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: rematerialize: 'plan' is applied without a search, and 'pareto' asks for one: give one
// RUN: sed 's/tensor<1024xf32>/tensor<2048xf32>/g' %s > %t.other.mlir
// RUN: not remat-opt %t.other.mlir --rematerialize="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the plan for function 'step' was made for another program, or with other options: it had 12 operations and the problem {{[0-9a-f]+}}, here are 12 operations and the problem
// RUN: sed 's/@step/@other/' %s > %t.renamed.mlir
// RUN: not remat-opt %t.renamed.mlir --rematerialize="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=RENAMED
// RENAMED: error: the plan file has no plan for function 'other'
// RUN: not remat-opt %s --rematerialize="plan=%t.missing" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: rematerialize: cannot read the plan file '{{.*}}': No such file
// RUN: echo '{"version": 1, "functions": [{}]}' > %t.bad
// RUN: not remat-opt %s --rematerialize="plan=%t.bad" 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: rematerialize: the plan file '{{.*}}': functions[0]: expected "name", "problem", "operations" and "plan"
// RUN: echo '[' > %t.text
// RUN: not remat-opt %s --rematerialize="plan=%t.text" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: rematerialize: the plan file '{{.*}}': [2:0, byte=2]: Unexpected EOF

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
