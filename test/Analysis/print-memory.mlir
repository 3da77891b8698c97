// The text form. All numbers are worked out by hand from docs/memory-model.md.
//
// RUN: remat-opt %s -allow-unregistered-dialect -o %t.plain
// RUN: remat-opt %s -allow-unregistered-dialect -remat-print-memory -o %t.printed 2> %t.txt
// RUN: diff %t.plain %t.printed
// RUN: FileCheck %s --input-file=%t.txt
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=CURVE --strict-whitespace
//
// RUN: remat-opt %s -allow-unregistered-dialect -remat-print-memory=output=%t.file -o /dev/null
// RUN: diff %t.txt %t.file
// RUN: remat-opt %s -allow-unregistered-dialect -remat-print-memory=output=- -o /dev/null > %t.out
// RUN: diff %t.txt %t.out
//
// RUN: remat-opt %s -allow-unregistered-dialect -o /dev/null \
// RUN:   -remat-print-memory="function=views limit=2" 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: remat-opt %s -allow-unregistered-dialect -o /dev/null \
// RUN:   -remat-print-memory="function=views,loop scope=temporaries alignment=1B limit=0" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TEMPS
// RUN: remat-opt %s -allow-unregistered-dialect -o /dev/null -remat-print-memory="function=views \
// RUN:   models=%S/Inputs/foreign-models.json" 2>&1 | FileCheck %s --check-prefix=MODELS
//
// RUN: remat-opt %s -allow-unregistered-dialect -o /dev/null --dump-pass-pipeline \
// RUN:   -remat-print-memory="function=views,loop scope=temporaries alignment=1KiB format=json \
// RUN:   limit=3 output=%t.ignored" 2>&1 | FileCheck %s --check-prefix=PIPELINE

// PIPELINE: remat-print-memory{
// PIPELINE-SAME: alignment=1024B
// PIPELINE-SAME: format=json
// PIPELINE-SAME: function={views,loop}
// PIPELINE-SAME: limit=3
// PIPELINE-SAME: scope=temporaries

#here = loc("here.py":7:3)
#named = loc("encoder/layer_0"(#here))

// Storages: the argument 1024, the dense constant 16, the exponential 1024 (the
// collapsed shape is a view of it), the results of the split 1024 and 8. At the
// split all of them are live: 3096 bytes. Alignment: 48 + 56.

// CHECK: memory of function 'views' (5 operations, alignment 64 B)
// CHECK-EMPTY:
// CHECK-NEXT: packed peak 3200 B 3.20 KB
// CHECK-NEXT: live peak 3096 B 3.10 KB
// CHECK-NEXT: arguments 1024 B 1.02 KB
// CHECK-NEXT: results 1024 B 1.02 KB
// CHECK-NEXT: constants 16 B 16 B
// CHECK-NEXT: working set 3200 B 3.20 KB
// CHECK-EMPTY:
// CHECK-NEXT: No result looks like a loss, so activations are not told from temporaries, which take 2.06 KB of the packed peak of 3.20 KB; if this is a training step, name the loss with 'loss=N'.

// Five operations on 72 columns: operation i begins at column ceil(72 i / 5) at the
// latest. Live are 1040, 2064, 2064, 3096 and 2064 bytes; a row is 258 bytes high.

// CURVE:{{^}}live bytes over time
// CURVE-EMPTY:
// CURVE-NEXT:{{^   3.10 KB \| {44}#{14}$}}
// CURVE-NEXT:{{^           \| {44}#{14}$}}
// CURVE-NEXT:{{^           \| {44}#{14}$}}
// CURVE-NEXT:{{^   2.32 KB \| {44}#{14}$}}
// CURVE-NEXT:{{^           \| {15}#{57}$}}
// CURVE-NEXT:{{^           \| {15}#{57}$}}
// CURVE-NEXT:{{^   1.55 KB \| {15}#{57}$}}
// CURVE-NEXT:{{^           \|={72}$}}
// CURVE-NEXT:{{^           \|={72}$}}
// CURVE-NEXT:{{^     774 B \|={72}$}}
// CURVE-NEXT:{{^           \|={72}$}}
// CURVE-NEXT:{{^           \|={72}$}}
// CURVE-NEXT:{{^       0 B \+-{44}P{14}-{14}$}}
// CURVE-NEXT:{{^            0 {70}4$}}
// CURVE-NEXT:{{^}}  P peak at operation 3{{$}}
// CURVE-NEXT:{{^}}  = arguments and constants, # everything else

// CHECK: live at the peak, 'foreign.split' (operation 3) at here.py:7:3:
// CHECK-EMPTY:
// CHECK-NEXT: 1024 32.0 % inputs %arg0 argument last read by 'math.exp' (operation 1); {{.*}}print-memory.mlir:[[#]]:18
// CHECK-NEXT: 1024 32.0 % temporaries %{{[0-9]+}} math.exp last read by 'foreign.split' (operation 3); encoder/layer_0 (here.py:7:3)
// CHECK-NEXT: 1024 32.0 % temporaries %[[P:[0-9]+]]#0 foreign.split last read by 'func.return' (operation 4); here.py:7:3
// CHECK-NEXT: 16 0.5 % constants %cst constant last read by 'foreign.split' (operation 3); {{.*}}print-memory.mlir:[[#]]:8
// CHECK-NEXT: 8 0.2 % temporaries %[[P]]#1 foreign.split never read; here.py:7:3
// CHECK-NEXT: 104 3.2 % alignment
// CHECK-NEXT: 3200 100.0 % packed peak
// CHECK-EMPTY:
// CHECK-NEXT: by category:
// CHECK-EMPTY:
// CHECK-NEXT: 1024 32.0 % inputs
// CHECK-NEXT: 2056 64.2 % temporaries
// CHECK-NEXT: 16 0.5 % constants
// CHECK-NEXT: 104 3.2 % alignment
// CHECK-NEXT: 3200 100.0 % packed peak
// CHECK-EMPTY:
// CHECK-NEXT: by producer:
// CHECK-EMPTY:
// CHECK-NEXT: 1032 32.2 % foreign.split (2 storages)
// CHECK-NEXT: 1024 32.0 % argument (1 storage)
// CHECK-NEXT: 1024 32.0 % math.exp (1 storage)
// CHECK-NEXT: 16 0.5 % constant (1 storage)
// CHECK-NEXT: 104 3.2 % alignment
// CHECK-NEXT: 3200 100.0 % packed peak

// What is cut is summed up; a single row is not cut.

// LIMIT: live at the peak
// LIMIT: 1024 32.0 % inputs
// LIMIT-NEXT: 1024 32.0 % temporaries
// LIMIT-NEXT: 1048 32.8 % 3 more
// LIMIT-NEXT: 104 3.2 % alignment
// LIMIT-NEXT: 3200 100.0 % packed peak
// LIMIT: by producer:
// LIMIT: 1032 32.2 % foreign.split (2 storages)
// LIMIT-NEXT: 1024 32.0 % argument (1 storage)
// LIMIT-NEXT: 1040 32.5 % 2 more
// LIMIT-NEXT: 104 3.2 % alignment
// LIMIT-NOT: memory of function

// Without the argument and the first result, and without alignment: the
// exponential, the constant and the second result.

// TEMPS: memory of function 'views' (5 operations, alignment 1 B, without arguments and results)
// TEMPS: packed peak 1048 B
// TEMPS-NEXT: live peak 1048 B
// TEMPS-NEXT: arguments 1024 B
// TEMPS-NEXT: results 1024 B
// TEMPS: live at the peak
// TEMPS-EMPTY:
// TEMPS-NEXT: 1024 97.7 % temporaries %{{[0-9]+}} math.exp
// TEMPS-NEXT: 16 1.5 % constants %cst
// TEMPS-NEXT: 8 0.8 % temporaries %{{[0-9]+}}#1
// TEMPS-NEXT: 1048 100.0 % packed peak

// The models file gives the split 512 bytes of workspace.

// MODELS: packed peak 3712 B
// MODELS-NEXT: live peak 3608 B
// MODELS: never read
// MODELS-NEXT: 512 13.8 % workspace
// MODELS-NEXT: 104 2.8 % alignment
// MODELS-NEXT: 3712 100.0 % packed peak

func.func @views(%x: tensor<4x64xf32>) -> tensor<256xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = math.exp %x : tensor<4x64xf32> loc(#named)
  %v = tensor.collapse_shape %a [[0, 1]] : tensor<4x64xf32> into tensor<256xf32>
  %p:2 = "foreign.split"(%v, %c)
      : (tensor<256xf32>, tensor<4xf32>) -> (tensor<256xf32>, tensor<2xf32>) loc(#here)
  return %p#0 : tensor<256xf32>
}

// At the loop: its operands 1024 + 8 + 8, its result 1024, and as workspace what
// one iteration defines, 2048. Alignment: 56 for each index. A private function is
// printed like any other, a declaration is not.

// CHECK-NOT: 'declared'
// CHECK: memory of function 'loop' (4 operations, alignment 64 B)
// CHECK: packed peak 4224 B
// CHECK-NEXT: live peak 4112 B
// CHECK: live at the peak, 'scf.for' (operation 1)
// CHECK-EMPTY:
// CHECK-NEXT: 1024 24.2 % inputs %arg0 argument last read by 'scf.for' (operation 1)
// CHECK-NEXT: 1024 24.2 % temporaries %{{[0-9]+}} scf.for last read by 'math.tanh' (operation 2)
// CHECK-NEXT: 8 0.2 % inputs %arg1
// CHECK-NEXT: 8 0.2 % inputs %arg2
// CHECK-NEXT: 2048 48.5 % workspace
// CHECK-NEXT: 112 2.7 % alignment
// CHECK-NEXT: 4224 100.0 % packed peak

// TEMPS: memory of function 'loop' (4 operations, alignment 1 B, without arguments and results)
// TEMPS: live peak 3072 B
// TEMPS: 1024 33.3 % temporaries
// TEMPS-NEXT: 2048 66.7 % workspace
// TEMPS-NEXT: 3072 100.0 % packed peak
// TEMPS-NOT: memory of function

func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

func.func private @loop(%x: tensor<256xf32>, %begin: index, %end: index) -> tensor<256xf32> {
  %one = arith.constant 1 : index
  %r = scf.for %i = %begin to %end step %one iter_args(%carried = %x) -> (tensor<256xf32>) {
    %a = math.exp %carried : tensor<256xf32>
    %b = arith.addf %a, %carried : tensor<256xf32>
    scf.yield %b : tensor<256xf32>
  }
  %s = math.tanh %r : tensor<256xf32>
  return %s : tensor<256xf32>
}

// One storage holds the fill and then the inserted slice; at the peak it goes by
// the name of what it holds there.

// CHECK: memory of function 'destinations' (6 operations, alignment 64 B)
// CHECK: live peak 3072 B
// CHECK: live at the peak, 'math.exp' (operation 4)
// CHECK-EMPTY:
// CHECK-NEXT: 1024 33.3 % inputs %arg0 argument last read by 'tensor.insert_slice' (operation 3)
// CHECK-NEXT: 1024 33.3 % temporaries %inserted_slice tensor.insert_slice last read by 'math.exp' (operation 4)
// CHECK-NEXT: 1024 33.3 % temporaries %{{[0-9]+}} math.exp last read by 'func.return' (operation 5)
// CHECK-NEXT: 3072 100.0 % packed peak

func.func @destinations(%x: tensor<256xf32>) -> tensor<256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
  %i = tensor.insert_slice %x into %f[0] [256] [1] : tensor<256xf32> into tensor<256xf32>
  %y = math.exp %i : tensor<256xf32>
  return %y : tensor<256xf32>
}

// A call: its operand and its result, 16 each, as workspace what the callee defines,
// 16, and the program data of the callee, 16. Each is rounded up to 64.

// CHECK: memory of function 'calls' (2 operations, alignment 64 B)
// CHECK: packed peak 256 B
// CHECK-NEXT: live peak 64 B
// CHECK: live at the peak, 'func.call' (operation 0)
// CHECK-EMPTY:
// CHECK-NEXT: 16 6.2 % inputs %arg0 argument last read by 'func.call' (operation 0)
// CHECK-NEXT: 16 6.2 % constants constant read inside operations
// CHECK-NEXT: 16 6.2 % temporaries %{{[0-9]+}} func.call last read by 'func.return' (operation 1)
// CHECK-NEXT: 16 6.2 % workspace
// CHECK-NEXT: 192 75.0 % alignment
// CHECK-NEXT: 256 100.0 % packed peak

func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK: memory of function 'callee'

func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = arith.addf %x, %c : tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK: memory of function 'nothing' (1 operation, alignment 64 B)
// CHECK: No memory is used.
// CHECK-NOT: {{.}}

func.func @nothing() {
  return
}
