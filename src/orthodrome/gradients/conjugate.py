"""Parameters whose conditional law is Dirichlet, Gamma or normal given summed counts, which a minibatch estimates.

Many models are built so that, given what each row of the data says (its category, or a latent that a Gibbs step draws),
the law of a parameter is known in closed form and depends on the data through a sum over rows alone:

    Simplex       Dirichlet(a),           a = prior + sum_i counts_i
    Positive      Gamma(a, rate),         a = prior + sum_i counts_i
    Euclidean     N(a / rate, 1 / rate),  a = prior + sum_i counts_i     (rate: the precision of the conditional)
    LogPositive   the logarithm has the law N(a / rate, 1 / rate): a lognormal law

From a batch of n of the N rows, a_hat = prior + (N / n) sum over the batch is unbiased. It is what SCIR and SOU need
(`Estimate.statistics`). The log density of the conditional and its gradient are filled too, with a_hat held fixed, so
that every stochastic-gradient sampler can use the same estimator: by Fisher's identity the mean of that gradient is the
gradient of the posterior with the latents summed out, if the counts are conditional draws or expectations of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Setting, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.minibatch import RowGradient
from orthodrome.gradients.noise_models import NoNoise
from orthodrome.linear import leaves
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.manifolds.log_positive import LogPositive
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.positive import Positive
from orthodrome.manifolds.product import per_leaf
from orthodrome.manifolds.simplex import Simplex


class ConjugateStatistics(NamedTuple):
    """What a batch says of the conditional law.

    shapes: a_hat, a tree like the position; rates: one entry per leaf
    floored: how many entries of a_hat were not positive and had to be raised (control variates only)
    """

    shapes: Tree
    rates: Tree
    floored: Array


@pytree
class ConjugatePosterior:
    """A law whose conditionals are Dirichlet, Gamma, normal or lognormal given summed counts.

    manifold: `Simplex`, `Positive`, `Euclidean`, `LogPositive`, or a `Product` of them
    prior: of each leaf, a number or an array: the concentrations of a Dirichlet prior, the shape of a Gamma prior, the
        precision times the mean of a normal prior
    counts: (key, parameters, rows) -> the counts of a batch of rows, summed over them, a tree like the parameters
        (of a normal leaf: precision times observation). Counts that follow from the rows ignore the key; a Gibbs step
        for the latents of these rows draws with it
    data: arrays with one row per datum
    rate: of each leaf: the rate of the Gamma conditional, the precision of the normal one (prior and all rows
        together); it must not depend on latents. A simplex has none
    """

    manifold: Manifold
    prior: Setting
    counts: Callable[..., Tree] = static()
    data: Any = None
    rate: Setting = 1.0

    @property
    def num_data(self) -> int:
        """The number N of rows."""
        return int(jax.tree.leaves(self.data)[0].shape[0])

    def counts_at(self, key: Key, x: Tree, rows: Tree) -> Tree:
        """Return the summed counts of some rows at an embedded position, in its precision."""
        counts = self.counts(key, self.manifold.to_user(x), rows)
        return jax.tree.map(lambda a, c: jnp.asarray(c, a.dtype), x, counts)

    def priors(self, x: Tree) -> Tree:
        """Return the prior of every element."""
        return jax.tree.map(lambda a, p: jnp.broadcast_to(p, a.shape), x, leaves.spread(self.prior, x))

    def estimate_with(self, x: Tree, shapes: Tree, floored: Array) -> Estimate:
        """Return the log density of the conditional at x, its gradient, and the statistics, for shapes held fixed."""
        shapes, rates = jax.lax.stop_gradient(shapes), leaves.spread(self.rate, x)
        logdensity = lambda y: conditional_logdensity(self.manifold, y, shapes, rates)
        return Estimate(*jax.value_and_grad(logdensity)(x), None, ConjugateStatistics(shapes, rates, floored))


@pytree
class ConjugateCounts(RowGradient):
    """Counts of a batch drawn from the key at every estimate; with as many rows as the data has, all of them.

    target: a `ConjugatePosterior`
    batch_size: n; replace: whether a row may be drawn twice
    """

    noise = NoNoise()

    target: ConjugatePosterior
    batch_size: int = static()
    replace: bool = static(default=False)

    def init(self, x: Tree) -> None:
        """Return None: counts need no memory."""

    def estimate(self, key: Key, x: Tree, memory: None = None) -> tuple[Estimate, None]:
        """Return the estimate from a new batch."""
        rows_key, counts_key = jax.random.split(key)
        _, batch = self.draw(rows_key)
        counts, ratio = self.target.counts_at(counts_key, x, batch), self.target.num_data / self.batch_size
        shapes = jax.tree.map(lambda p, c: p + jnp.asarray(ratio, c.dtype) * c, self.target.priors(x), counts)
        return self.target.estimate_with(x, shapes, jnp.zeros((), jnp.int32)), None


def conditional_logdensity(manifold: Manifold, x: Tree, shapes: Tree, rates: Tree) -> Array:
    """Return log pi_H of the conditional law at an embedded position, without its constant."""
    each = per_leaf(manifold, lambda m, a, s, b: LOGDENSITIES[type(m)](a, s, b), x, shapes, rates)
    return jax.tree.reduce(jnp.add, each)


def _dirichlet(x: Array, shape: Array, rate: Array) -> Array:
    return jnp.sum((shape - 1) * jnp.log(x * x)) + Simplex().log_measure(x)


def _gamma(x: Array, shape: Array, rate: Array) -> Array:
    return jnp.sum((shape - 1) * jnp.log(x) - rate * x)


def _normal(x: Array, shape: Array, rate: Array) -> Array:
    return jnp.sum(shape * x - rate * x**2 / 2)


LOGDENSITIES: dict[type[Manifold], Callable[[Array, Array, Array], Array]] = {
    Simplex: _dirichlet,
    Positive: _gamma,
    Euclidean: _normal,
    LogPositive: _normal,
}
"""log pi_H of each conditional law, of the embedded leaf."""
