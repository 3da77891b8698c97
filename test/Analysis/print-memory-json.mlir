// The JSON form: one array with an object per function.
//
// RUN: remat-opt %s -remat-print-memory="format=json output=%t.json" -o /dev/null 2> %t.warnings
// RUN: %python -m json.tool %t.json %t.checked
// RUN: FileCheck %s --input-file=%t.json
// RUN: remat-opt %s -remat-print-memory="format=json output=-" -o /dev/null > %t.out 2> %t.warnings
// RUN: diff %t.json %t.out
// RUN: remat-opt %s -remat-print-memory="format=json function=step" -o /dev/null 2> %t.err
// RUN: %python -m json.tool %t.err %t.checked

// Storages: %w and %x 4000 each, the product 4000, the sum 4, the gradient 4000
// and the new parameter 4000. Every one of 4000 takes 4032 when it is aligned. The
// peak is at the gradient: %w, %x, product, sum, gradient. Working sets: the
// arguments and 4032 + 4032 of the gradient or the update.

// Keys are sorted.

// CHECK:      [
// CHECK-NEXT:   {
// CHECK-NEXT:     "alignment": 64,
// CHECK-NEXT:     "alignment_bytes": 188,
// CHECK-NEXT:     "argument_bytes": 8000,
// CHECK-NEXT:     "argument_categories": [
// CHECK-NEXT:       "parameters",
// CHECK-NEXT:       "inputs"
// CHECK-NEXT:     ],
// CHECK-NEXT:     "categories_at_peak": {
// CHECK-NEXT:       "activations": 4000,
// CHECK-NEXT:       "constants": 0,
// CHECK-NEXT:       "gradients": 4000,
// CHECK-NEXT:       "inputs": 4000,
// CHECK-NEXT:       "optimizer_state": 0,
// CHECK-NEXT:       "parameters": 4000,
// CHECK-NEXT:       "temporaries": 4
// CHECK-NEXT:     },
// CHECK-NEXT:     "constant_bytes": 0,
// CHECK-NEXT:     "explanation": "Activations take 4.00 KB of the packed peak of 16.2 KB (24.7 %), but recomputation can free at most 64 B of them, because the arguments and 'arith.mulf' (operation 5) need 16.1 KB in any plan; {{.*}}",
// CHECK-NEXT:     "fragmentation_bytes": 0,
// CHECK-NEXT:     "function": "step",
// CHECK-NEXT:     "largest_operation": {
// CHECK-NEXT:       "bytes": 8064,
// CHECK-NEXT:       "operation": {
// CHECK-NEXT:         "index": 5,
// CHECK-NEXT:         "location": "step.py:5:0",
// CHECK-NEXT:         "name": "arith.mulf"
// CHECK-NEXT:       },
// CHECK-NEXT:       "workspace_bytes": 0
// CHECK-NEXT:     },
// CHECK-NEXT:     "live_at_peak": [
// CHECK-NEXT:       {
// CHECK-NEXT:         "bytes": 4000,
// CHECK-NEXT:         "category": "parameters",
// CHECK-NEXT:         "last_reader": {
// CHECK-NEXT:           "index": 6,
// CHECK-NEXT:           "location": "{{.*}}",
// CHECK-NEXT:           "name": "arith.subf"
// CHECK-NEXT:         },
// CHECK-NEXT:         "location": "{{.*}}",
// CHECK-NEXT:         "producer": "argument",
// CHECK-NEXT:         "value": "%arg0"
// CHECK-NEXT:       },
// CHECK:              "value": "%arg1"
// CHECK:            {
// CHECK-NEXT:         "bytes": 4000,
// CHECK-NEXT:         "category": "activations",
// CHECK-NEXT:         "last_reader": {
// CHECK-NEXT:           "index": 5,
// CHECK-NEXT:           "location": "step.py:5:0",
// CHECK-NEXT:           "name": "arith.mulf"
// CHECK-NEXT:         },
// CHECK-NEXT:         "location": "step.py:1:0",
// CHECK-NEXT:         "producer": "arith.mulf",
// CHECK-NEXT:         "value": "%[[#]]"
// CHECK-NEXT:       },
// CHECK:              "category": "gradients",
// CHECK:              "category": "temporaries",
// CHECK:          ],
// CHECK-NEXT:     "live_peak_bytes": 16004,
// CHECK-NEXT:     "loss": {
// CHECK-NEXT:       "operation": {
// CHECK-NEXT:         "index": 4,
// CHECK-NEXT:         "location": "step.py:2:0",
// CHECK-NEXT:         "name": "linalg.reduce"
// CHECK-NEXT:       },
// CHECK-NEXT:       "result": 1
// CHECK-NEXT:     },
// CHECK-NEXT:     "operations": 8,
// CHECK-NEXT:     "packed_peak_bytes": 16192,
// CHECK-NEXT:     "peak_operation": {
// CHECK-NEXT:       "index": 5,
// CHECK-NEXT:       "location": "step.py:5:0",
// CHECK-NEXT:       "name": "arith.mulf"
// CHECK-NEXT:     },
// CHECK-NEXT:     "producers_at_peak": [
// CHECK-NEXT:       {
// CHECK-NEXT:         "bytes": 8000,
// CHECK-NEXT:         "producer": "argument",
// CHECK-NEXT:         "storages": 2
// CHECK-NEXT:       },
// CHECK:          ],
// CHECK-NEXT:     "result_bytes": 4004,
// CHECK-NEXT:     "scope": "total",
// CHECK-NEXT:     "timeline": [
// CHECK-NEXT:       {
// CHECK-NEXT:         "begin": 0,
// CHECK-NEXT:         "bytes": 12000,
// CHECK-NEXT:         "end": 1
// CHECK-NEXT:       },
// CHECK:              "begin": 7,
// CHECK-NEXT:         "bytes": 12004,
// CHECK-NEXT:         "end": 8
// CHECK-NEXT:       }
// CHECK-NEXT:     ],
// CHECK-NEXT:     "unknown_sizes": {
// CHECK-NEXT:       "count": 0,
// CHECK-NEXT:       "first": ""
// CHECK-NEXT:     },
// CHECK-NEXT:     "version": 1,
// CHECK-NEXT:     "working_set_bytes": 16128,
// CHECK-NEXT:     "workspace_bytes": 0
// CHECK-NEXT:   },
func.func @step(%w: tensor<1000xf32>, %x: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<f32>) {
  %a = arith.mulf %w, %x : tensor<1000xf32> loc("step.py":1:0)
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf }
      ins(%a : tensor<1000xf32>) outs(%f : tensor<f32>) dimensions = [0] loc("step.py":2:0)
  %g = arith.mulf %a, %x : tensor<1000xf32> loc("step.py":5:0)
  %new = arith.subf %w, %g : tensor<1000xf32>
  return %new, %loss : tensor<1000xf32>, tensor<f32>
}

// Sizes that are not known count as nothing, and are named.

// CHECK-NEXT:   {
// CHECK:          "function": "unknown",
// CHECK:          "loss": null,
// CHECK:          "unknown_sizes": {
// CHECK-NEXT:       "count": 1,
// CHECK-NEXT:       "first": "%arg0"
// CHECK-NEXT:     },
// CHECK:      ]
func.func @unknown(%x: tensor<?xf32>) -> index {
  %zero = arith.constant 0 : index
  %d = tensor.dim %x, %zero : tensor<?xf32>
  return %d : index
}
