//===- Passes.td - Passes of the project ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_PASSES_TD
#define REMAT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

/// Of what is planned or counted before something else puts operations together.
class FusionOption<string default>
    : Option<"fusion", "fusion", "::mlir::remat::Fusion", "::mlir::remat::Fusion::" # default,
             "Which values are never written to memory, since their readers compute them",
             [{::llvm::cl::values(
                 clEnumValN(::mlir::remat::Fusion::None, "none", "every value is a buffer"),
                 clEnumValN(::mlir::remat::Fusion::Kernels, "kernels",
                            "those that remat-fuse puts into the kernels of their readers"),
                 clEnumValN(::mlir::remat::Fusion::XLA, "xla",
                            "those that XLA computes where they are read"),
                 clEnumValN(::mlir::remat::Fusion::Auto, "auto",
                            "'xla' for StableHLO, 'none' for all else"))}]>;

def RematerializePass : Pass<"rematerialize", "::mlir::ModuleOp"> {
  let summary = "Recompute values so that every function fits a memory budget";
  let description = [{
    Plans each function of a training step so that its packed peak of memory is
    within `budget`, by dropping values between two uses and computing them again
    before the second, and rewrites it. The values that are cheapest to
    recompute per byte are dropped first; clones read their operands through one
    `remat.barrier` (`stablehlo.optimization_barrier` in StableHLO) per
    recomputed region, so that nothing merges them with their originals.

    A budget is met or refused: if no plan fits, the pass fails with an error that
    names the smallest budget known to be feasible, and the IR is not changed. A
    function that fits already is left as it is. Private functions that are
    called count inside their callers. The result is checked twice before it is
    accepted: its memory is counted again from the rewritten IR, and it is
    compared with the original operation by operation.

    ```mlir
    // budget=80%
    %a = math.exp %x : tensor<1048576xf32>
    %l = "use"(%a) : (tensor<1048576xf32>) -> tensor<f32>
    ...
    %g = "backward"(%l) : (tensor<f32>) -> tensor<1048576xf32>
    %r = arith.mulf %g, %a : tensor<1048576xf32>
    // becomes
    ...
    %g = "backward"(%l) : (tensor<f32>) -> tensor<1048576xf32>
    %b = remat.barrier %x after %g : tensor<1048576xf32> after tensor<1048576xf32>
    %c = math.exp %b {remat.clone_of = 0 : i64} : tensor<1048576xf32>
    %r = arith.mulf %g, %c : tensor<1048576xf32>
    ```
  }];
  let options = [
    Option<"budget", "budget", "::mlir::remat::Budget", "::mlir::remat::Budget()",
           "Highest memory allowed: bytes with a unit (4GB, 4.5GiB) or a percentage of the "
           "unchanged packed peak (80%)">,
    Option<"scope", "scope", "::mlir::remat::Scope", "::mlir::remat::Scope::Total",
           "What counts: everything, or all but arguments and results",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Scope::Total, "total", "everything"),
               clEnumValN(::mlir::remat::Scope::Temporaries, "temporaries",
                          "all but arguments and results"))}]>,
    Option<"onInfeasible", "on-infeasible", "::mlir::remat::OnInfeasible",
           "::mlir::remat::OnInfeasible::Error",
           "What to do when no plan fits",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::OnInfeasible::Error, "error", "fail, change nothing"),
               clEnumValN(::mlir::remat::OnInfeasible::Warn, "warn",
                          "apply the smallest plan and warn"))}]>,
    Option<"reorder", "reorder", "bool", "true",
           "Whether operations may be moved to where their results are needed">,
    Option<"target", "target", "std::string", "\"h100\"",
           "Cost model: h100, a100, cpu, or a JSON file with rates">,
    Option<"profile", "profile", "std::string", "\"\"",
           "Measured costs of a function's operations, from remat-run --profile; what it "
           "does not have costs what the target's model says">,
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
    Option<"minBytes", "min-bytes", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount()",
           "Values of fewer bytes are never dropped; 'auto': 2^-20 of the unchanged peak">,
    Option<"alignment", "alignment", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount(64)",
           "Every buffer begins at a multiple of this, a power of two">,
    FusionOption<"Auto">,
    Option<"report", "report", "std::string", "\"\"",
           "Write a JSON report to this file, or a table to standard error for '-'">,
    Option<"reportDetails", "report-details", "bool", "false",
           "Whether the JSON report also says what is live at any time, and where in memory">,
    Option<"solver", "solver", "::mlir::remat::planner::Solver",
           "::mlir::remat::planner::Solver::Auto", "How to look for plans",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::planner::Solver::Auto, "auto",
                          "by size and structure"),
               clEnumValN(::mlir::remat::planner::Solver::Greedy, "greedy",
                          "only plans that do not depend on the budget"),
               clEnumValN(::mlir::remat::planner::Solver::Chain, "chain",
                          "dynamic programming, for chains only"),
               clEnumValN(::mlir::remat::planner::Solver::Anneal, "anneal", "local search"),
               clEnumValN(::mlir::remat::planner::Solver::Exact, "exact",
                          "branch and bound, for small functions only"))}]>,
    Option<"effort", "effort", "int64_t", "1",
           "Work of the search for each function, 0 to 10: none, some seconds, and four "
           "times as much for each step more">,
    Option<"maxOverhead", "max-overhead", "::mlir::remat::CostLimit",
           "::mlir::remat::CostLimit()",
           "Instead of a budget: the smallest peak that adds at most this part of the cost (5%)">,
    Option<"pareto", "pareto", "std::string", "\"\"",
           "Write what smaller peaks cost to this file: CSV, or JSON where it ends in '.json'">,
    Option<"planOutput", "plan-output", "std::string", "\"\"",
           "Write the plans to this file">,
    Option<"plan", "plan", "std::string", "\"\"",
           "Apply the plans of this file, made with 'plan-output' for the same program, and "
           "search for none">,
  ];
  let dependentDialects = ["::mlir::remat::RematDialect"];
}

def PrintMemoryPass : Pass<"remat-print-memory", "::mlir::ModuleOp"> {
  let summary = "Print what fills the memory of every function, and when";
  let description = [{
    Prints the live and packed peak of each function with a body, the live bytes
    over time, what is live at the peak with its size and purpose, and whether
    recomputation can help. The IR is not changed. docs/memory-model.md defines
    the terms and the keys of the JSON form, which is one array with an object
    per function.

    ```
    memory of function 'step' (6 operations, alignment 64 B)

      packed peak              12288 B   12.3 KB
      ...
    live at the peak, 'arith.mulf' (operation 3):

               4096  33.3 %  parameters   %arg0  argument    last read by ...
               4096  33.3 %  activations  %0     math.tanh   last read by ...
    ```
  }];
  let options = [
    ListOption<"functions", "function", "std::string",
               "Names of the functions to print; all that have a body by default">,
    Option<"format", "format", "::mlir::remat::ProfileFormat",
           "::mlir::remat::ProfileFormat::Text", "How to print",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::ProfileFormat::Text, "text", "tables and a curve"),
               clEnumValN(::mlir::remat::ProfileFormat::JSON, "json", "an array of objects"))}]>,
    Option<"output", "output", "std::string", "\"\"",
           "Write to this file, or to standard output for '-'; standard error by default">,
    Option<"limit", "limit", "int64_t", "16",
           "Rows of each table of the text; the rest is summed up. 0: no limit">,
    Option<"scope", "scope", "::mlir::remat::Scope", "::mlir::remat::Scope::Total",
           "What counts: everything, or all but arguments and results",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Scope::Total, "total", "everything"),
               clEnumValN(::mlir::remat::Scope::Temporaries, "temporaries",
                          "all but arguments and results"))}]>,
    Option<"target", "target", "std::string", "\"h100\"",
           "Cost model: h100, a100, cpu, or a JSON file with rates">,
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
    Option<"alignment", "alignment", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount(64)",
           "Every buffer begins at a multiple of this, a power of two">,
    Option<"loss", "loss", "int64_t", "-1",
           "Number of the result that is the loss; inferred by default">,
    ListOption<"roles", "roles", "std::string",
               "One for each argument: parameter, optimizer_state or input; inferred by default">,
    FusionOption<"Auto">,
  ];
}

def RematExportProblemPass : Pass<"remat-export-problem", "::mlir::ModuleOp"> {
  let summary = "Write the planning problem of a function as JSON";
  let description = [{
    Writes what the planner sees of one function, in the form that `remat-plan`
    reads (docs/problem-format.md): operations with costs and workspaces, values
    with bytes, aliases and destinations, what may be computed again. Changes
    nothing.

    ```
    remat-opt step.mlir --remat-export-problem=output=step.json -o /dev/null
    remat-plan solve step.json --budget=0.6x --packed
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Name of the function; not needed where only one has a budget of its own">,
    Option<"output", "output", "std::string", "\"-\"",
           "Write to this file, or to standard output for '-'">,
    Option<"scope", "scope", "::mlir::remat::Scope", "::mlir::remat::Scope::Total",
           "What counts: everything, or all but arguments and results",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Scope::Total, "total", "everything"),
               clEnumValN(::mlir::remat::Scope::Temporaries, "temporaries",
                          "all but arguments and results"))}]>,
    FusionOption<"None">,
    Option<"target", "target", "std::string", "\"h100\"",
           "Cost model: h100, a100, cpu, or a JSON file with rates">,
    Option<"profile", "profile", "std::string", "\"\"",
           "Measured costs of a function's operations, from remat-run --profile; what it "
           "does not have costs what the target's model says">,
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
    Option<"alignment", "alignment", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount(64)",
           "Every buffer begins at a multiple of this, a power of two">,
  ];
}

def RematVerifyPass : Pass<"remat-verify", "::mlir::ModuleOp"> {
  let summary = "Check that every function fits a memory budget";
  let description = [{
    Counts the packed peak of each function as it stands, and fails with the peak
    where it exceeds the budget. Pipelines run it after later passes, to be sure
    that nothing undid a rematerialization. Changes nothing. A percentage makes
    no sense here: the budget is given in bytes.
  }];
  let options = [
    Option<"budget", "budget", "::mlir::remat::Budget", "::mlir::remat::Budget()",
           "Highest memory allowed, in bytes with a unit (4GB, 4.5GiB)">,
    Option<"scope", "scope", "::mlir::remat::Scope", "::mlir::remat::Scope::Total",
           "What counts: everything, or all but arguments and results",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Scope::Total, "total", "everything"),
               clEnumValN(::mlir::remat::Scope::Temporaries, "temporaries",
                          "all but arguments and results"))}]>,
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
    Option<"alignment", "alignment", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount(64)",
           "Every buffer begins at a multiple of this, a power of two">,
    FusionOption<"Auto">,
  ];
}

def RematInlinePass : Pass<"remat-inline", "::mlir::ModuleOp"> {
  let summary = "Put bodies in place of calls, and drop functions that are not called any more";
  let description = [{
    As `inline` and `symbol-dce`. Where there are operations that are not registered, which
    these two cannot handle, it does by itself what is needed for StableHLO: bodies of
    private functions take the place of their calls, also in regions of such operations, and
    private functions that nothing refers to are dropped. Attributes of such operations
    count as references: `called_computations = [@f]` keeps `@f`.

    Calls stay of functions that are public, have no body or several blocks, or call
    themselves, directly or not; where the call or the function says `no_inline`; and where
    either has attributes that may mean something to another tool, which is any but `jax.*`
    and `tf.aliasing_output`. So do calls of functions that would become too large: inlining
    adds at most 262144 operations to a module, and puts at most 64 regions inside of each
    other.

    ```mlir
    %0 = "stablehlo.while"(%x) ({...}, {
    ^bb0(%a: tensor<8xf32>):
      %1 = func.call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
      "stablehlo.return"(%1) : (tensor<8xf32>) -> ()
    }) : (tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %0 = "stablehlo.while"(%x) ({...}, {
    ^bb0(%a: tensor<8xf32>):
      %1 = "stablehlo.add"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      "stablehlo.return"(%1) : (tensor<8xf32>) -> ()
    }) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def RematFusePass : Pass<"remat-fuse", "::mlir::ModuleOp"> {
  let summary = "Put operations together, one for each kernel";
  let description = [{
    Puts elementwise operations, broadcasts, transposes, slices, fills and masks into the
    operations that read them, so that their results are never in memory, and leaves one
    structured operation for each kernel. It goes before --rematerialize, whose plan is
    then about what will be allocated. Products, convolutions and poolings stay as they
    are, but read transposed operands where they are. Nothing is computed more often than
    docs/memory-model.md says, nor put together where that would raise the highest live
    bytes. Results overwrite operands that die.

    ```mlir
    %0 = tensor.empty() : tensor<8xf32>
    %1 = linalg.exp ins(%x : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
    %2 = linalg.negf ins(%1 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %0 = tensor.empty() : tensor<8xf32>
    %1 = linalg.generic {...} ins(%x : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = math.exp %in : f32
      %3 = arith.negf %2 : f32
      linalg.yield %3 : f32
    } -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RematBufferizePass : Pass<"remat-bufferize", "::mlir::ModuleOp"> {
  let summary = "One buffer for every storage of the memory model";
  let description = [{
    Bufferizes functions such that every storage of docs/memory-model.md becomes one
    `memref.alloc`, and nothing else does: values that have a storage of their own get
    a destination of their own, slices that are no views are copied, what loops and
    branches yield is written into the storage of their results. One-shot
    bufferization of upstream does the rest. Arguments are read only, unless they are
    marked `remat.donated`.

    ```mlir
    %0 = tensor.empty() : tensor<8xf32>
    %1 = linalg.exp ins(%arg0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
    linalg.exp ins(%arg0 : memref<8xf32>) outs(%alloc : memref<8xf32>)
    ```
  }];
  let options = [
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def RematPlanArenaPass : Pass<"remat-plan-arena", "::mlir::ModuleOp"> {
  let summary = "Make all buffers of a function views of one that the caller passes in";
  let description = [{
    Computes the live range of every `memref.alloc`, assigns offsets, and replaces the
    allocations by views of one buffer of bytes, the arena, which becomes the last
    argument. Functions return no memrefs afterwards: the attribute `remat.results` says
    where the results are, `remat.arena_bytes`, `remat.argument_bytes`,
    `remat.result_bytes` and `remat.constant_bytes` how much memory it all takes. With
    `results=caller`, public functions take one more argument for each result instead.
    The arena of a callee is a part of its caller's, live while the call runs and its
    results are used.

    ```mlir
    func.func @step(%x: memref<8xf32>) -> memref<8xf32> {
      %a = memref.alloc() : memref<8xf32>
      linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      return %a : memref<8xf32>
    }
    // becomes
    func.func @step(%x: memref<8xf32>, %arena: memref<64xi8> {remat.arena})
        attributes {remat.arena_bytes = 64 : i64, remat.results = [...], ...} {
      %c0 = arith.constant 0 : index
      %a = memref.view %arena[%c0][] : memref<64xi8> to memref<8xf32>
      linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      return
    }
    ```
  }];
  let options = [
    Option<"alignment", "alignment", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount(64)",
           "Every buffer begins at a multiple of this, a power of two">,
    Option<"capacity", "capacity", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount()",
           "Arena that should not be exceeded: with more, offsets are searched longer">,
    Option<"results", "results", "::mlir::remat::ArenaResults",
           "::mlir::remat::ArenaResults::Arena", "Where results are",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::ArenaResults::Arena, "arena", "in the arena"),
               clEnumValN(::mlir::remat::ArenaResults::Caller, "caller",
                          "in buffers that the caller passes in"))}]>,
    Option<"report", "report", "std::string", "\"\"",
           "Write the buffers to this file: CSV, JSON where it ends in '.json', a picture "
           "where it ends in '.svg'">,
    Option<"function", "function", "std::string", "\"\"",
           "Name of the function to report; not needed where only one is public">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def RematVerifyArenaPass : Pass<"remat-verify-arena", "::mlir::ModuleOp"> {
  let summary = "Check that nothing but planned memory is used";
  let description = [{
    Fails where a function allocates memory, where a view is outside of the arena or not
    aligned, and where something is written to that is neither in the arena nor an argument
    for results or donated. Changes nothing.
  }];
}

def RematRequireModelsPass : Pass<"remat-require-models", "::mlir::ModuleOp"> {
  let summary = "Reject operations and types that nothing describes";
  let description = [{
    Fails at the first operation of an unregistered dialect without an entry in
    the built-in models or the given models files, and at the first value of a
    type of a dialect that none of them mentions. `remat-opt` runs it first,
    unless `--allow-unregistered-dialect` is given.
  }];
  let options = [
    ListOption<"models", "models", "std::string",
               "Models files that describe operations of further dialects">,
  ];
}

#endif // REMAT_TRANSFORMS_PASSES_TD
