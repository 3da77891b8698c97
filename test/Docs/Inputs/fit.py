"""What some budgets cost a training step."""

import sys

import remat

for budget in ("100%", "80%", "60%", "20%"):
    try:
        result = remat.optimize(sys.argv[1], budget, effort=0)
    except remat.InfeasibleError as refused:
        print(f"{budget:>4}: not below {refused.minimum_bytes} bytes")
    else:
        function = result.report.function("step")
        print(f"{budget:>4}: {function.packed_bytes} bytes, {function.overhead:.1%} more work")
