// Functions that are reached in other ways than by a plain call, sums of costs beyond every limit,
// and a report that says what became of every function.
//
// RUN: not remat-opt %s -o %t.none --rematerialize="budget=10KB report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.err --check-prefix=ERR
// RUN: %python -c "import json; [print(f['name'], f['status'], f.get('reason', '')) for f in json.load(open('%t.json'))['functions']]" | FileCheck %s

!t = tensor<1024xf32>

// A private function whose address is taken has a budget of its own: 8 KiB and 4 KiB more.
// CHECK: addressed infeasible
// ERR:   error: function 'addressed' does not fit
func.func private @addressed(%x: !t) -> !t {
  %0 = math.exp %x : !t
  %1 = math.exp %0 : !t
  %2 = arith.addf %1, %0 : !t
  return %2 : !t
}
// CHECK: indirect unchanged
func.func @indirect(%x: !t) -> !t {
  %f = constant @addressed : (!t) -> !t
  %0 = call_indirect %f(%x) : (!t) -> !t
  return %0 : !t
}

// Trips that nobody knows, so that the cost of each nest saturates.
// CHECK: loops unchanged
func.func @loops(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %1) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %2) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %3) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %5 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %4) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %6 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %5) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %7 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %6) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  %8 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %7) -> f32 {
    %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> f32 {
      %l2 = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> f32 {
        %e = math.exp %c : f32
        scf.yield %e : f32
      }
      scf.yield %l2 : f32
    }
    scf.yield %l1 : f32
  }
  return %8 : f32
}

// CHECK: blocks skipped it cannot be planned, see the error
// ERR:   error: cannot analyze function 'blocks'
func.func @blocks(%c: i1) {
  cf.br ^next
^next:
  return
}

// CHECK: fits unchanged
func.func @fits(%x: f32) -> f32 {
  return %x : f32
}
