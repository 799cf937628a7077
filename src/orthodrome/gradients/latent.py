"""Gradients of models with latents of their own for every datum, by Fisher's identity.

    grad log p(row | x) = E[ grad log p(row, z | x) ],     z ~ p(z | row, x),

so the gradient of a batch is an average over draws of its latents, at fixed draws (Liu et al. 2016, section 4;
erratum 000-1: the sign is that of the log density). The user gives two functions of a whole batch, so that each may
be written as matrix products, and z may be any tree with a leading axis for the kept draws and then one for the
batch:

    sample_latents(key, parameters, rows, current) -> (kept draws, last)
    complete(parameters, rows, kept draws)         -> log p(rows, z | parameters), summed over rows, averaged over draws

With `store` (a tree of arrays with one row of latents per datum) the latents of a datum are kept between its visits:
`current` are those of the batch, and `last` is written back. Without it `current` is None and `last` is ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.minibatch import RowGradient
from orthodrome.gradients.noise_models import NoiseModel, NoNoise
from orthodrome.gradients.rows import take_rows
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import in_user


@pytree
class LatentPosterior:
    """A posterior whose likelihood has latent variables for every datum.

    manifold: the space of the parameters x
    logprior: x -> log density of the prior, in the user's coordinates
    sample_latents: (key, x, rows, current) -> (kept draws, last)
    complete: (x, rows, kept draws) -> complete-data log likelihood, summed over rows and averaged over draws
    data: arrays with one row per datum; store: arrays with the latents of every datum, or None
    """

    manifold: Manifold
    logprior: Callable[..., Array] = static()
    sample_latents: Callable[..., Any] = static()
    complete: Callable[..., Array] = static()
    data: Any = None
    store: Any = None

    @property
    def num_data(self) -> int:
        """The number N of rows."""
        return int(jax.tree.leaves(self.data)[0].shape[0])

    def embedded_prior(self, x: Tree) -> Array:
        """Return the log prior with the log measure, which are not multiplied by N/n."""
        return in_user(self.manifold, self.logprior, x) + self.manifold.log_measure(x)


class LatentMemory(NamedTuple):
    """The latents of every datum (or None), and the memory of the noise model."""

    store: Any
    noise: Memory


@pytree
class LatentGradient(RowGradient):
    """Minibatches of data with their latents drawn anew at every estimate.

    target: a `LatentPosterior`
    batch_size, replace, noise: as in `Minibatch`

    V by `EmpiricalFisher` is without the factor 1 - S/D: the draws of the latents err even for a batch of all rows.
    """

    target: LatentPosterior
    batch_size: int = static()
    replace: bool = static(default=False)
    noise: NoiseModel = NoNoise()

    def init(self, x: Tree) -> LatentMemory:
        """Return the latents as they were given, and the first memory of the noise model."""
        return LatentMemory(jax.tree.map(jnp.asarray, self.target.store), self.noise.init(self.manifold, x))

    def estimate(self, key: Key, x: Tree, memory: LatentMemory) -> tuple[Estimate, LatentMemory]:
        """Draw a batch, its latents, and differentiate the complete likelihood at them."""
        rows_key, latent_key = jax.random.split(key)
        target = self.target
        rows, batch = self.draw(rows_key)
        current = take_rows(memory.store, rows)
        z, last = target.sample_latents(latent_key, self.manifold.to_user(x), batch, current)
        last = last if target.store is not None else None
        estimate, noise = self._at(x, batch, jax.lax.stop_gradient(z), memory.noise)
        store = jax.tree.map(lambda everything, new: everything.at[rows].set(new), memory.store, last)
        return estimate, LatentMemory(store, noise)

    def _at(self, x: Tree, batch: Tree, z: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        target, ratio = self.target, self.target.num_data / self.batch_size

        def estimated(y: Tree) -> Array:
            likelihood = in_user(self.manifold, lambda p: target.complete(p, batch, z), y)
            return target.embedded_prior(y) + jnp.asarray(ratio, likelihood.dtype) * likelihood

        each = self._each(x, batch, z) if self.noise.per_datum else None
        v, memory = self.noise.update(memory, self.manifold, x, each, target.num_data**2 / self.batch_size)
        return Estimate(*jax.value_and_grad(estimated)(x), v), memory

    def _each(self, x: Tree, batch: Tree, z: Tree) -> Tree:
        """Return the gradient of each datum, taken as a batch of one."""

        def one(row: Tree, latents: Tree) -> Tree:
            rows = jax.tree.map(lambda leaf: jnp.expand_dims(leaf, 0), row)
            kept = jax.tree.map(lambda leaf: jnp.expand_dims(leaf, 1), latents)
            return jax.grad(lambda y: in_user(self.manifold, lambda p: self.target.complete(p, rows, kept), y))(x)

        return jax.vmap(one, in_axes=(0, 1))(batch, z)
