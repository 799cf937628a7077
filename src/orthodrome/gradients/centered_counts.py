"""Control variates for conjugate counts, the further work of Baker et al. (2018): differences from those at a centre.

Where the counts of a row depend on the parameters through expectations (the responsibilities of a mixture), those of
the whole data at a centre c are computed once, and

    a_hat = prior + sum over all rows of counts(c) + (N / n) sum over the batch of [counts(x) - counts(c)]

is unbiased, with a variance that shrinks with the distance of x from c. SCIR inflates the variance of its draws by
tanh(h / 2) Var[a_hat], so a smaller Var[a_hat] allows steps longer by the same factor.

**Shapes that are not positive.** The difference may be negative, and a_hat of a Dirichlet or Gamma leaf below 0. Then
it is raised to FLOOR times the prior. That biases it upwards by E[max(0, FLOOR prior - a_hat)], which vanishes as x
stays near c or the batch grows; the number of raised entries is in `statistics.floored`, and SCIR reports it.

Counts that are drawn with the key are no use here: the draws at the centre would be a fixed error of all estimates.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Tree
from orthodrome.gradients.conjugate import ConjugatePosterior
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.minibatch import RowGradient
from orthodrome.gradients.noise_models import NoNoise
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf

FLOOR = 1e-3
"""The least shape, as a share of the prior: low, because whatever is raised is biased by what it was raised."""


class CountsAtCenter(NamedTuple):
    """The embedded centre, and the summed counts of all rows there."""

    position: Tree
    counts: Tree


@pytree
class CenteredCounts(RowGradient):
    """Counts of batches as differences from those at a fixed centre, for counts that ignore their key.

    target: a `ConjugatePosterior`
    center: a point in the user's coordinates near the mode, such as the mean of a short run
    batch_size: n; replace: whether a row may be drawn twice
    """

    noise = NoNoise()

    target: ConjugatePosterior
    center: Tree
    batch_size: int = static()
    replace: bool = static(default=False)

    def init(self, x: Tree) -> CountsAtCenter:
        """Count all rows at the centre."""
        center = jax.tree.map(lambda a, c: jnp.asarray(c, a.dtype), x, self.manifold.from_user(self.center))
        return CountsAtCenter(center, self.target.counts_at(jax.random.key(0), center, self.target.data))

    def estimate(self, key: Key, x: Tree, memory: CountsAtCenter) -> tuple[Estimate, CountsAtCenter]:
        """Return the estimate from a new batch, counted at x and at the centre."""
        rows_key, counts_key = jax.random.split(key)
        _, batch = self.draw(rows_key)
        here = self.target.counts_at(counts_key, x, batch)
        there = self.target.counts_at(jax.random.clone(counts_key), memory.position, batch)
        ratio, priors = self.target.num_data / self.batch_size, self.target.priors(x)
        shapes = jax.tree.map(
            lambda p, f, a, b: p + f + jnp.asarray(ratio, f.dtype) * (a - b), priors, memory.counts, here, there
        )
        raised = per_leaf(self.manifold, raised_to_floor, shapes, priors)
        floored = jax.tree.reduce(jnp.add, jax.tree.map(lambda a, b: jnp.sum(a < b), shapes, raised))
        return self.target.estimate_with(x, raised, floored.astype(jnp.int32)), memory


def raised_to_floor(manifold: Manifold, shapes: Array, prior: Array) -> Array:
    """Return the shapes, raised to FLOOR times the prior if the conditional needs them positive."""
    return shapes if allows_any_sign(manifold) else jnp.maximum(shapes, FLOOR * prior)


def allows_any_sign(manifold: Manifold) -> bool:
    """Return whether the statistic may have any sign: that of a normal conditional may."""
    return manifold.flat and manifold.smooth
