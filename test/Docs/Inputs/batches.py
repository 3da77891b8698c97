"""The largest batch of the perceptron 1024 - 4096 - 1024 in 1 GB."""

from remat import examples
from remat.jax import largest_batch


def make_step(batch):
    model = examples.get("perceptron", size="real", batch=batch)
    return model.step, (model.state_shapes(), model.batch_shapes())


print(largest_batch(make_step, "1GB", 1024, 32768, 1024, donate_argnums=0, device="h100", effort=0))
