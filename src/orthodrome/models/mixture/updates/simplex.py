"""Updates on the simplex: SCIR and SGRLD for probabilities of categories, and for the sticks of all families.

With n the estimated counts, a the prior and theta positive weights whose shares are the probabilities phi,

    SCIR     theta' by the exact transition of a CIR process over the time h with the shapes a + n (Baker et al. 2018)
    SGRLD    theta' = |theta + h (a - theta + n - phi n.) + sqrt(2 h theta) N|        (Patterson & Teh 2013)

SCIR's theta has independent shares and total given n, and the law of the total, Gamma(a d + n.), depends on n. Labels
change n, and are drawn given the shares alone; so the totals are then those of labels that are gone, and a transition
from them would not leave the law of the shares as it is. With `renew` they are drawn anew, which makes it exact at any
h.

A stick is a simplex of two, (g_0, g_1) with v = g_0 / (g_0 + g_1), a = (1, alpha) and n = (m_j, sum_{l>j} m_l). In
SGRLD's second weight the share is 1 - v (erratum 1.6 c).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.counts import advance_counts
from orthodrome.models.mixture.compiled.sticks import advance_sticks
from orthodrome.models.mixture.components.contract import Labels
from orthodrome.models.mixture.components.counts import FORGETTING, CategoricalComponents
from orthodrome.models.mixture.updates.contract import ComponentUpdate
from orthodrome.models.mixture.weights import log_gammas

LEAST = 1e-100
"""Weights of SGRLD are at least this, so that logarithms are finite."""


class ScirSticks(ComponentUpdate):
    """An update that moves sticks by SCIR, which has no discretisation error."""

    def advance_sticks(
        self, seed: int, sticks: Reals, shapes: Reals, prior: Reals, step: float, renew: bool = False
    ) -> Reals:
        """Draw the exact transition."""
        found: Reals = advance_sticks(np.uint64(seed), sticks, shapes, *transition_scales(step), renew)
        return found

    def stick_totals(self, shapes: Reals, prior: Reals) -> Reals:
        """Return the sums of the shapes: g_0 and g_1 are Gamma numbers with the shapes themselves."""
        return shapes.sum(axis=1)


@pytree
class SimplexSCIR(ScirSticks):
    """The stochastic Cox-Ingersoll-Ross process; its auxiliary numbers are log theta."""

    def num_auxiliary(self, components: CategoricalComponents) -> int:
        """One for each category."""
        return components.width

    def fresh(self, seed: int, components: CategoricalComponents, parameters: Reals, statistics: Reals) -> Reals:
        """Return log theta: shares as given, and totals of Gamma(a d + n.), which are independent of the shares."""
        sizes = components.prior * np.diff(components.bounds)
        totals = log_gammas(np.random.default_rng(seed), components.block_sums(statistics[:, 1:]) + sizes)
        return parameters + components.spread(totals)

    def open_slots(
        self, seed: int, components: CategoricalComponents, parameters: Reals, auxiliary: Reals, slots: Labels
    ) -> None:
        """Draw log theta of Gamma(a) numbers; their shares are of the base measure."""
        auxiliary[slots] = 0.0
        nothing, lines = np.zeros((1, components.num_statistics)), np.zeros(slots.shape[0], np.int32)
        self.advance_slots(seed, components, parameters, auxiliary, slots, nothing, lines, FORGETTING)

    def advance(
        self,
        seed: int,
        components: CategoricalComponents,
        parameters: Reals,
        auxiliary: Reals,
        statistics: Reals,
        step: float,
    ) -> tuple[Reals, Reals]:
        """Draw the exact transition."""
        found, moved = np.empty(auxiliary.shape), auxiliary.copy()
        slots = np.arange(auxiliary.shape[0], dtype=np.int32)
        self.advance_slots(seed, components, found, moved, slots, statistics, slots, step)
        return found, moved

    def advance_slots(
        self,
        seed: int,
        components: CategoricalComponents,
        parameters: Reals,
        auxiliary: Reals,
        slots: Labels,
        statistics: Reals,
        lines: Labels,
        step: float,
        renew: bool = False,
    ) -> None:
        """Draw the exact transition, in place."""
        facts = (transition_scales(step), np.array(components.bounds), slots)
        advance_counts(np.uint64(seed), renew, components.prior, statistics, lines, *facts, auxiliary, parameters)


@pytree
class SimplexSGRLD(ComponentUpdate):
    """Riemannian Langevin dynamics in the expanded-mean form; its auxiliary numbers are theta."""

    def num_auxiliary(self, components: CategoricalComponents) -> int:
        """One for each category."""
        return components.width

    def fresh(self, seed: int, components: CategoricalComponents, parameters: Reals, statistics: Reals) -> Reals:
        """Return theta: shares as given, and totals of Gamma(a d), which no data change."""
        sizes = components.prior * np.diff(components.bounds)
        totals = log_gammas(np.random.default_rng(seed), np.broadcast_to(sizes, (parameters.shape[0], sizes.size)))
        return np.maximum(np.exp(parameters + components.spread(totals)), LEAST)

    def advance(
        self,
        seed: int,
        components: CategoricalComponents,
        parameters: Reals,
        auxiliary: Reals,
        statistics: Reals,
        step: float,
    ) -> tuple[Reals, Reals]:
        """Take an Euler step and reflect."""
        counts = statistics[:, 1:]
        expected = np.exp(parameters) * components.spread(components.block_sums(counts))
        moved = euler(seed, auxiliary, components.prior, counts - expected, step)
        return components.normalised(np.log(moved)), moved

    def advance_sticks(
        self, seed: int, sticks: Reals, shapes: Reals, prior: Reals, step: float, renew: bool = False
    ) -> Reals:
        """Take an Euler step of every pair."""
        counts, total = shapes - prior, np.logaddexp(sticks[:, 0], sticks[:, 1])
        shares = np.exp(sticks - total[:, None])
        return np.log(euler(seed, np.exp(sticks), prior, counts - shares * counts.sum(axis=1, keepdims=True), step))

    def stick_totals(self, shapes: Reals, prior: Reals) -> Reals:
        """Return the sums of the prior: in the expanded-mean form no data change the totals."""
        return np.broadcast_to(prior.sum(), shapes.shape[:1])


def euler(seed: int, theta: Reals, prior: Reals | float, residual: Reals, h: float) -> Reals:
    """Return |theta + h (a - theta + residual) + sqrt(2 h theta) N|."""
    noise = np.random.Generator(np.random.Philox(seed)).standard_normal(theta.shape)
    return np.maximum(np.abs(theta + h * (prior - theta + residual) + np.sqrt(2 * h * theta) * noise), LEAST)


@functools.lru_cache(maxsize=64)
def transition_scales(h: float) -> tuple[float, float]:
    """Return log(exp(-h) / (1 - exp(-h))) and log(1 - exp(-h)), the scales of a CIR transition over the time h."""
    log_scale = math.log(-math.expm1(-h))
    return -h - log_scale, log_scale
