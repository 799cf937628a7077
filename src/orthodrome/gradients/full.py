"""The exact gradient, from all of the data, by automatic differentiation."""

from __future__ import annotations

import jax
from jax import Array

from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree
from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import EmbeddedLaw


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
        logdensity, gradient = _value_and_gradient(self.target, x)
        return Estimate(logdensity, gradient), None


# The inner jit keeps the trace: warm-up, draws and doors that meet the same shapes share it.
@keeps_programs
@jax.jit
def _value_and_gradient(target: EmbeddedLaw, x: Tree) -> tuple[Array, Tree]:
    return jax.value_and_grad(target.embedded_logdensity)(x)
