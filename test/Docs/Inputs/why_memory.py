"""Where the memory of the perceptron 1024 - 4096 - 1024 goes: `why_memory.py BATCH [donate]`."""

import sys

from remat import examples
from remat.jax import explain

model = examples.get("perceptron", size="real", batch=int(sys.argv[1]))
donated = 0 if "donate" in sys.argv else None
print(
    explain(
        model.step,
        model.state_shapes(),
        model.batch_shapes(),
        donate_argnums=donated,
        device="h100",
    )
)
