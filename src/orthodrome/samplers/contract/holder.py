"""The contract of samplers that hold another sampler."""

from __future__ import annotations

from jax import Array

from orthodrome.core.types import Number, Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract.sampler import Sampler


class Holder(Sampler):
    """A sampler that holds another one and passes on its facts; the holder sets or learns the settings of that one
    itself."""

    sampler: Sampler

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.sampler.manifold

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution of the sampler inside is exact."""
        return self.sampler.adjusted

    @property
    def target_acceptance(self) -> float | None:
        """The mean acceptance rate that what it holds should have."""
        return self.sampler.target_acceptance

    @property
    def held(self) -> tuple[str, ...]:
        """The variables that what it holds does not move."""
        return self.sampler.held

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the expected temperature of the sampler inside."""
        return self.sampler.expected_temperature(position, done)
