"""The gradient from some rows of the data.

    grad log prior(x) + grad log measure(x) + (N / n) sum over the batch of grad log likelihood(x, row)

is unbiased, at a cost that does not depend on N. N/n stands here, once, and multiplies the likelihood only.
"""

from __future__ import annotations

import abc
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.noise_models import NoiseModel, NoNoise
from orthodrome.gradients.rows import draw_rows, take_rows
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import LawOfData, Posterior, in_user


class RowGradient(abc.ABC):
    """The base of all estimators that draw rows of the data from the key."""

    target: LawOfData
    batch_size: int
    replace: bool
    noise: NoiseModel

    @property
    def manifold(self) -> Manifold:
        """The manifold of the target."""
        return self.target.manifold

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return batch_problem(self.batch_size, self.target.num_data, self.noise)

    def draw(self, key: Key) -> tuple[Array, Tree]:
        """Draw a batch; return the numbers of its rows, and the rows."""
        rows = draw_rows(key, self.target.num_data, self.batch_size, self.replace)
        return rows, take_rows(self.target.data, rows)

    @abc.abstractmethod
    def init(self, x: Tree) -> Memory:
        """Return the memory before the first estimate."""

    @abc.abstractmethod
    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return an estimate at x and the next memory."""


@pytree
class Minibatch(RowGradient):
    """The unbiased estimate from a batch of n rows of N, drawn from the key at every estimate.

        grad log prior(x) + (N / n) sum over the batch of grad log likelihood(x, row)

    target: a `Posterior`
    batch_size: n (S in Liu et al.); replace: whether a row may be drawn twice
    noise: how V(x) is known: `NoNoise()`, `GivenNoise(V)`, `NoiseFunction(f)`, `EmpiricalFisher(...)`
    """

    target: Posterior
    batch_size: int = static()
    replace: bool = static(default=False)
    noise: NoiseModel = NoNoise()

    def init(self, x: Tree) -> Memory:
        """Return the first memory of the noise model."""
        return self.noise.init(self.manifold, x)

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return an estimate from a new batch."""
        _, batch = self.draw(key)
        return batch_estimate(self.target, self.noise, batch, x, memory, self.replace)


def batch_estimate(
    target: Posterior,
    noise: NoiseModel,
    batch: Tree,
    x: Tree,
    memory: Memory,
    replace: bool,
    num_data: int | None = None,
) -> tuple[Estimate, Memory]:
    """Return the estimate from a batch that stands for `num_data` rows, and the noise model's next memory."""
    n = jax.tree.leaves(batch)[0].shape[0]
    num_data = target.num_data if num_data is None else num_data
    if noise.per_datum:
        total, gradient, each = _each(target, x, batch, num_data / n)
    else:
        total, gradient = _summed(target, x, batch, num_data / n)
        each = None
    v, memory = noise.update(memory, target.manifold, x, each, population_factor(num_data, n, replace))
    return Estimate(total, gradient, v), memory


def population_factor(num_data: int, n: int, replace: bool) -> float:
    """Return (D^2 / S) (1 - S / D), which times the covariance of one row's gradient is V; without the second factor
    for draws with replacement."""
    return num_data**2 / n * (1.0 if replace else 1 - n / num_data)


# The inner jits keep the traces: what meets the same shapes again does not trace the user's function again.
@keeps_programs
@jax.jit
def _summed(target: Posterior, x: Tree, batch: Tree, ratio: Array) -> tuple[Array, Tree]:
    def estimated(x: Tree) -> Array:
        likelihood = target.embedded_likelihood(x, batch)
        return target.embedded_prior(x) + jnp.asarray(ratio, likelihood.dtype) * likelihood

    return jax.value_and_grad(estimated)(x)


@keeps_programs
@jax.jit
def _each(target: Posterior, x: Tree, batch: Tree, ratio: Array) -> tuple[Array, Tree, Tree]:
    values, each = each_row(target, x, batch)
    prior, gradient = jax.value_and_grad(target.embedded_prior)(x)
    total = prior + jnp.asarray(ratio, values.dtype) * jnp.sum(values)
    scaled = lambda g, e: g + jnp.asarray(ratio, e.dtype) * jnp.sum(e, axis=0)
    return total, jax.tree.map(scaled, gradient, each), each


def each_row(target: Posterior, x: Tree, batch: Tree) -> tuple[Array, Tree]:
    """Return the log likelihood of every row and its ambient gradient, stacked."""
    one = lambda y, row: in_user(target.manifold, lambda p: target.loglikelihood(p, row), y)
    return jax.vmap(jax.value_and_grad(one), in_axes=(None, 0))(x, batch)


def batch_problem(batch_size: Any, num_data: int, noise: NoiseModel) -> str | None:
    """Return why a batch size is invalid, or None."""
    if not (isinstance(batch_size, int) and batch_size >= 1):
        return f"batch_size is {batch_size!r}; it must be a whole number of at least 1"
    if batch_size > num_data:
        return f"batch_size is {batch_size}, but the data has {num_data} rows; take at most that many"
    if noise.per_datum and batch_size < 2:
        return "EmpiricalFisher needs a batch of at least 2 rows for a covariance; raise batch_size or use NoNoise()"
    return None
