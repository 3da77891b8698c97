// One sentence says whether recomputation can help, and if not, what can.
//
// RUN: remat-opt %s -allow-unregistered-dialect -remat-print-memory=output=%t.txt -o /dev/null
// RUN: FileCheck %s --input-file=%t.txt

// T1000 takes 4000 bytes, 4032 with alignment. At the peak, the sum: two arguments,
// the gradient and the new moment, and 40 + 4 bytes; 16256 with alignment.

// CHECK-LABEL: memory of function 'state'
// CHECK: Activations take only 0 B of the packed peak of 16.3 KB (0.0 %), so recomputation cannot help much; parameters and optimizer state take 12.0 KB (73.8 %), which a smaller batch does not change: donate these arguments so that they are updated in place (saves up to 8.00 KB), keep them in bf16, shard them over devices, or offload the optimizer state.
func.func @state(%w: tensor<1000xf32>, %m: tensor<1000xf32>, %x: tensor<10xf32>)
    -> (tensor<1000xf32>, tensor<1000xf32>, f32) {
  %loss = "t.loss"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> f32
  %g = "t.grad"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %m1 = "t.sum"(%m, %g) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %w1 = "t.sub"(%w, %m1) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %w1, %m1, %loss : tensor<1000xf32>, tensor<1000xf32>, f32
}

// Two large operands and a large result: 12096 bytes of 12224.

// CHECK-LABEL: memory of function 'operation'
// CHECK: Activations take only 0 B of the packed peak of 12.2 KB (0.0 %), so recomputation cannot help much; 't.mul' (operation 2) alone needs 12.1 KB (99.0 %) for its operands, results and workspace: fuse it with its neighbours or split it into parts.
func.func @operation(%w: tensor<10xf32>, %x: tensor<10xf32>) -> (tensor<10xf32>, f32) {
  %a = "t.grow"(%w, %x) : (tensor<10xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %b = "t.grow"(%a) : (tensor<1000xf32>) -> tensor<1000xf32>
  %c = "t.mul"(%a, %b) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %loss = "t.loss"(%c) : (tensor<1000xf32>) -> f32
  %g = "t.grad"(%w, %x) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %w1 = "t.sub"(%w, %g) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %w1, %loss : tensor<10xf32>, f32
}

// The loop's operand and result, 4032 each with alignment, the three values of one
// iteration, 12032, and 128 of arguments. Only the result is an activation.

// CHECK-LABEL: memory of function 'loop'
// CHECK: Activations take 4.00 KB of the packed peak of 20.2 KB (19.8 %), but recomputation can free at most 0 B of them, because the arguments and 'scf.for' (operation 4) need 20.2 KB in any plan; 'scf.for' (operation 4) alone needs 20.1 KB (99.4 %) for its operands, results and workspace: let it keep less (recompute inside its body, update in place what a loop carries, or make its iterations smaller).
func.func @loop(%w: tensor<10xf32>, %x: tensor<10xf32>) -> (tensor<10xf32>, f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %empty = "t.zeros"() : () -> tensor<1000xf32>
  %stack = scf.for %i = %zero to %ten step %one iter_args(%s = %empty) -> (tensor<1000xf32>) {
    %a = "t.layer"(%s, %w, %x)
        : (tensor<1000xf32>, tensor<10xf32>, tensor<10xf32>) -> tensor<1000xf32>
    %b = "t.layer"(%a) : (tensor<1000xf32>) -> tensor<1000xf32>
    %c = "t.layer"(%a, %b) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
    scf.yield %c : tensor<1000xf32>
  }
  %loss = "t.loss"(%stack) : (tensor<1000xf32>) -> f32
  %g = "t.grad"(%stack) : (tensor<1000xf32>) -> tensor<10xf32>
  %w1 = "t.sub"(%w, %g) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %w1, %loss : tensor<10xf32>, f32
}

// CHECK-LABEL: memory of function 'batch'
// CHECK: so recomputation cannot help much; inputs (arguments that are not returned) take 4.00 KB ({{9[0-9.]+}} %): use a smaller batch, or keep frozen parameters in fewer bits.
func.func @batch(%w: tensor<10xf32>, %x: tensor<1000xf32>) -> (tensor<10xf32>, f32) {
  %loss = "t.loss"(%w, %x) : (tensor<10xf32>, tensor<1000xf32>) -> f32
  %g = "t.grad"(%w, %x) : (tensor<10xf32>, tensor<1000xf32>) -> tensor<10xf32>
  %w1 = "t.sub"(%w, %g) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %w1, %loss : tensor<10xf32>, f32
}

// 64 bytes of data, one argument of 4 bytes.

// CHECK-LABEL: memory of function 'data'
// CHECK: so recomputation cannot help much; constants of the program take 64 B ({{[0-9.]+}} %): compute them or pass them in fewer bits.
func.func @data(%x: f32) -> f32 {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf64>
  %loss = "t.loss"(%x, %c) : (f32, tensor<8xf64>) -> f32
  return %loss : f32
}

// The gradients of five microbatches and the sum of two of them beside the
// parameter: seven times 4032, and 128.

// CHECK-LABEL: memory of function 'gradients'
// CHECK: Activations take only 0 B of the packed peak of 28.4 KB (0.0 %), so recomputation cannot help much; gradients take 24.0 KB (84.7 %): update each parameter as soon as its gradient is there.
func.func @gradients(%w: tensor<1000xf32>, %x: tensor<10xf32>) -> (tensor<1000xf32>, f32) {
  %loss = "t.loss"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> f32
  %g1 = "t.grad"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %g2 = "t.grad"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %g3 = "t.grad"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %g4 = "t.grad"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %g5 = "t.grad"(%w, %x) : (tensor<1000xf32>, tensor<10xf32>) -> tensor<1000xf32>
  %s1 = "t.sum"(%g1, %g2) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %s2 = "t.sum"(%s1, %g3) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %s3 = "t.sum"(%s2, %g4) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %s4 = "t.sum"(%s3, %g5) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %w1 = "t.sub"(%w, %s4) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %w1, %loss : tensor<1000xf32>, f32
}

// Four temporaries that no single operation needs at once.

// CHECK-LABEL: memory of function 'temporaries'
// CHECK: so recomputation cannot help much; temporaries and workspace at 't.mul' (operation 4) take 20.0 KB ({{9[0-9.]+}} %): fuse the operations there or split them into parts.
func.func @temporaries(%w: tensor<10xf32>, %x: tensor<10xf32>) -> (tensor<10xf32>, f32) {
  %a = "t.grow"(%w) : (tensor<10xf32>) -> tensor<1000xf32>
  %b = "t.grow"(%w) : (tensor<10xf32>) -> tensor<1000xf32>
  %c = "t.grow"(%w) : (tensor<10xf32>) -> tensor<1000xf32>
  %d = "t.grow"(%x) : (tensor<10xf32>) -> tensor<1000xf32>
  %e = "t.mul"(%d) : (tensor<1000xf32>) -> tensor<1000xf32>
  %la = "t.norm"(%a) : (tensor<1000xf32>) -> f32
  %lb = "t.norm"(%b) : (tensor<1000xf32>) -> f32
  %lc = "t.norm"(%c) : (tensor<1000xf32>) -> f32
  %le = "t.norm"(%e) : (tensor<1000xf32>) -> f32
  %loss = "t.add"(%la, %lb, %lc, %le) : (f32, f32, f32, f32) -> f32
  %g = "t.grad"(%w, %x) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %w1 = "t.sub"(%w, %g) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %w1, %loss : tensor<10xf32>, f32
}
