"""Minibatch gradients of differences from a fixed point (Baker, Fearnhead, Fox & Nemeth 2019).

At a centre c near the mode the gradient of the whole likelihood is computed once; then

    grad log prior(x) + grad log L(c) + (N / n) sum over the batch of [grad l(x, row) - grad l(c, row)]

is unbiased, and its error shrinks with the distance of x from c. The difference is taken in ambient space, where
vectors at x and at c can be subtracted, and the sampler projects the sum once. The noise V is that of the
differences.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.minibatch import RowGradient, each_row, population_factor
from orthodrome.gradients.noise_models import NoiseModel, NoNoise
from orthodrome.targets import Posterior


class Anchor(NamedTuple):
    """A point, and the log likelihood of all rows there with its gradient."""

    position: Tree
    loglikelihood: Array
    gradient: Tree


class ControlMemory(NamedTuple):
    """The centre with its full gradient, and the memory of the noise model."""

    anchor: Anchor
    noise: Memory


@pytree
class ControlVariate(RowGradient):
    """Minibatches of differences from a fixed centre c, which reduce the variance near the mode.

        grad log prior(x) + grad log L(c) + (N / n) sum over the batch of [grad l(x, row) - grad l(c, row)]

    target: a `Posterior`
    center: a point near the mode, in the user's coordinates (the mean of a short run of any sampler will do)
    batch_size, replace, noise: as in `Minibatch`

    `init` computes the gradient of all rows at the centre, once for all chains.
    """

    target: Posterior
    center: Tree
    batch_size: int = static()
    replace: bool = static(default=False)
    noise: NoiseModel = NoNoise()

    def init(self, x: Tree) -> ControlMemory:
        """Compute the full gradient at the centre."""
        center = jax.tree.map(lambda c, a: jnp.asarray(c, a.dtype), self.manifold.from_user(self.center), x)
        return ControlMemory(anchor_at(self.target, center), self.noise.init(self.manifold, x))

    def estimate(self, key: Key, x: Tree, memory: ControlMemory) -> tuple[Estimate, ControlMemory]:
        """Return an estimate from a new batch, whose gradients are taken at x and at the centre."""
        _, batch = self.draw(key)
        estimate, noise = difference_estimate(
            self.target, self.noise, batch, x, memory.anchor, memory.noise, self.replace
        )
        return estimate, ControlMemory(memory.anchor, noise)


@keeps_programs
@jax.jit
def anchor_at(target: Posterior, x: Tree) -> Anchor:
    """Return a point with the log likelihood of all rows there and its ambient gradient."""
    return Anchor(x, *target.likelihood_with_gradient(x))


def difference_estimate(
    target: Posterior, noise: NoiseModel, batch: Tree, x: Tree, anchor: Anchor, memory: Memory, replace: bool
) -> tuple[Estimate, Memory]:
    """Return the estimate from the differences between x and an anchor, and the noise model's next memory."""
    n = jax.tree.leaves(batch)[0].shape[0]
    ratio = target.num_data / n
    if noise.per_datum:
        here, there = each_row(target, x, batch), each_row(target, anchor.position, batch)
        values, each = trees.subtract(here, there)
        change, gradient = jnp.sum(values), jax.tree.map(lambda e: jnp.sum(e, axis=0), each)
    else:
        change, gradient = trees.subtract(_batch(target, x, batch), _batch(target, anchor.position, batch))
        each = None
    prior, prior_gradient = jax.value_and_grad(target.embedded_prior)(x)
    logdensity = prior + anchor.loglikelihood + jnp.asarray(ratio, change.dtype) * change
    gradient = trees.add(trees.axpy(ratio, gradient, anchor.gradient), prior_gradient)
    v, memory = noise.update(memory, target.manifold, x, each, population_factor(target.num_data, n, replace))
    return Estimate(logdensity, gradient, v), memory


@keeps_programs
@jax.jit
def _batch(target: Posterior, x: Tree, batch: Tree) -> tuple[Array, Tree]:
    return jax.value_and_grad(target.embedded_likelihood)(x, batch)
