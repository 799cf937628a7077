"""The exact gradient, from all of the data, by automatic differentiation.

`Target` and `Posterior` estimate their own gradient in the same way, so a sampler takes them bare; `FullGradient` says
it in words, and serves any other law with an `embedded_logdensity`.
"""

from __future__ import annotations

from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import EmbeddedLaw, value_and_gradient


@pytree
class FullGradient:
    """The exact log density log pi_H and its ambient gradient; needs no key and keeps no memory.

    target: a `Target` or a `Posterior`
    """

    target: EmbeddedLaw

    @property
    def manifold(self) -> Manifold:
        """The manifold of the target."""
        return self.target.manifold

    def init(self, x: Tree) -> None:
        """Return None: the exact gradient has no memory."""

    def estimate(self, key: Array | None, x: Tree, memory: None = None) -> tuple[Estimate, None]:
        """Return the exact log density and gradient."""
        return Estimate(*value_and_gradient(self.target, x)), None
