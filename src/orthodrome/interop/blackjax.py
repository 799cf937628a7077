"""Our samplers in BlackJAX's loops, and our posteriors under BlackJAX's samplers.

Both keep one contract, `init(position)` and `step(key, state)`, so only the wrapping differs. Positions are embedded:
on `Simplex`, `LogPositive` and the other manifolds with coordinates of their own, `manifold.to_user` takes them back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.samplers.contract import Sampler
from orthodrome.targets import Posterior


def as_blackjax(sampler: Sampler) -> Any:
    """Return a sampler as a `blackjax.base.SamplingAlgorithm`.

    sampler: with all its settings given; `Adapted` learns them only in `sample`
    """
    from blackjax.base import SamplingAlgorithm

    return SamplingAlgorithm(lambda position, key=None: sampler.init(position, key), sampler.step)


def blackjax_gradient(posterior: Posterior) -> Callable[[Tree, Tree], Tree]:
    """Return the function `(position, minibatch) -> gradient` that BlackJAX's stochastic gradient samplers call.

    The gradient of the embedded log density: the prior and the measure once, the likelihood of n rows times N / n.

    posterior: on any manifold; BlackJAX's steps are correct on flat ones only
    """

    def logdensity(x: Tree, batch: Tree) -> Array:
        share = posterior.num_data / jax.tree.leaves(batch)[0].shape[0]
        return posterior.embedded_prior(x) + share * posterior.embedded_likelihood(x, batch)

    return jax.grad(logdensity)
