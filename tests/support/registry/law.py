"""A law with exact draws made without the package, functionals whose means are compared, and steps set by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.manifolds import Manifold
from orthodrome.targets import Target

NUM_REFERENCE = 400_000


@dataclass(frozen=True)
class Law:
    """A law with exact draws.

    manifold: a constructor, called inside the test so that its arrays have the test's precision
    logdensity: of one point, in the user's coordinates
    draw: (generator, n) -> n exact draws, a tree of NumPy arrays
    means: the exact means of the functionals; None: from NUM_REFERENCE draws
    functionals: of one point, in the user's coordinates; None: coordinates, squares and the log density
    step, num_steps, walk: step size and length for HMC (and NUTS), step of the random walk
    max_depth: for NUTS with the step of HMC
    chains, walkers: so many are enough for the gradient samplers, and the random walk, to see 3 % of a standard
        deviation
    langevin: the step of Langevin proposals with a metric
    metric, inverse_metric: G over the ravelled position, and G^-1 as a tree, for the samplers that have one
    """

    manifold: Callable[[], Manifold]
    logdensity: Callable[[Any], Array]
    draw: Callable[[np.random.Generator, int], Any]
    step: float
    num_steps: int
    walk: float
    means: Callable[[], np.ndarray] | None = None
    functionals: Callable[[Any], Array] | None = None
    max_depth: int = 3
    chains: int = 10_000
    walkers: int = 52_000
    langevin: float = 0.7
    metric: Callable[[Any], Array] | None = None
    inverse_metric: Callable[[Any], Any] | None = None

    def target(self) -> Target:
        return Target(self.manifold(), self.logdensity)

    def values(self, p: Any) -> Array:
        """The functionals of one point."""
        if self.functionals is not None:
            return self.functionals(p)
        every = jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(p)])
        return jnp.concatenate([every, every**2, jnp.reshape(self.logdensity(p), (1,))])

    @cache  # noqa: B019
    def exact_draws(self, n: int, seed: int) -> Any:
        return self.draw(np.random.default_rng(seed), n)

    @cache  # noqa: B019
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, its standard error, and standard deviation of every functional under the exact law."""
        n = NUM_REFERENCE if self.means is None else 40_000
        with jax.enable_x64(True):
            f = np.asarray(jax.jit(jax.vmap(self.values))(self.draw(np.random.default_rng(99), n)))
        sd = f.std(axis=0)
        return (f.mean(axis=0), sd / np.sqrt(n), sd) if self.means is None else (self.means(), 0 * sd, sd)
