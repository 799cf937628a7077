"""Two faults of the authors' code for section 4.2 of Baker et al. (2018), put back in (errata, 1.6 b and c).

b    The step of the parameters takes counts by positions inside the minibatch: position p, whose user S_p has the label
     z, adds the counts of user p of the whole data instead of those of user S_p. So every component is moved towards
     the mean of the first n users.
c    SGRLD's second stick weight has -v n. where -(1 - v) n. is right, n. being the counts of both weights.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.models.mixture.assigning import Batch
from orthodrome.models.mixture.sampler import MixtureState, places_of
from orthodrome.models.mixture.stochastic import StochasticMixture
from orthodrome.models.mixture.updates.simplex import SimplexSGRLD, euler


@pytree
class WrongRows(StochasticMixture):
    """The minibatched slice sampler with fault b."""

    def estimated(self, state: MixtureState, held: NDArray[np.int32], batch: Batch) -> Reals:
        """Return the sizes of the batch's clusters, with the counts of the first users of all."""
        found = super().estimated(state, held, batch)
        places = places_of(state, held, state.labels[batch.rows])
        first = np.arange(batch.rows.shape[0])
        counts = self.given.components.statistics(self.given.data, first, places, held.shape[0])
        found[:, 1:] = counts[:, 1:] * (self.given.total / first.shape[0])
        return found


@pytree
class WrongSticks(SimplexSGRLD):
    """SGRLD with fault c."""

    def advance_sticks(
        self, seed: int, sticks: Reals, shapes: Reals, prior: Reals, step: float, renew: bool = False
    ) -> Reals:
        """Take an Euler step of every pair, both weights with the share v of the first."""
        counts = shapes - prior
        v = np.exp(sticks[:, :1] - np.logaddexp(sticks[:, :1], sticks[:, 1:]))
        return np.log(euler(seed, np.exp(sticks), prior, counts - v * counts.sum(axis=1, keepdims=True), step))


def with_faults(sampler: Any, faults: str) -> Any:
    """Return a sampler with the faults of these letters put in."""
    fields = {field.name: getattr(sampler, field.name) for field in dataclasses.fields(sampler)}
    if "c" in faults:
        fields["update"] = WrongSticks()
    return WrongRows(**fields) if "b" in faults else type(sampler)(**fields)
