"""The contract of an update: parameters of K components move by one step, given estimated statistics of all rows.

The statistics are those of a minibatch times N / n. Where these are exact, the stationary law of an update is that of
the parameters given the statistics, up to the discretisation. Momenta and the like are auxiliary numbers.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.mixture.components.contract import Labels

ANOTHER = 0x5851F42D4C957F2D
"""What makes a second seed of one."""


class ComponentUpdate(abc.ABC):
    """A rule that moves the parameters of components."""

    @abc.abstractmethod
    def num_auxiliary(self, components: Any) -> int:
        """Return the length of a line of auxiliary numbers."""

    @abc.abstractmethod
    def fresh(self, seed: int, components: Any, parameters: Reals, statistics: Reals) -> Reals:
        """Draw the auxiliary numbers of components whose parameters were drawn given these statistics."""

    def opened(self, seed: int, components: Any, count: int) -> tuple[Reals, Reals]:
        """Draw the parameters of new components from the base measure, and their auxiliary numbers."""
        nothing = np.zeros((count, components.num_statistics))
        parameters = components.draw(seed, nothing)
        return parameters, self.fresh(seed ^ ANOTHER, components, parameters, nothing)

    @abc.abstractmethod
    def advance(
        self, seed: int, components: Any, parameters: Reals, auxiliary: Reals, statistics: Reals, step: float
    ) -> tuple[Reals, Reals]:
        """Return parameters and auxiliary numbers after a step."""

    def advance_slots(
        self,
        seed: int,
        components: Any,
        parameters: Reals,
        auxiliary: Reals,
        slots: Labels,
        statistics: Reals,
        step: float,
    ) -> None:
        """Take a step of the components in some slots, in place; statistics: theirs, in the same order."""
        moved = self.advance(seed, components, parameters[slots], auxiliary[slots], statistics, step)
        parameters[slots], auxiliary[slots] = moved

    def renewed(self, seed: int, components: Any, parameters: Reals, auxiliary: Reals, statistics: Reals) -> Reals:
        """Return auxiliary numbers whose law given parameters and statistics is the stationary one; here as they are.

        An update whose auxiliary numbers depend on the statistics draws them anew, as these change with the labels.
        """
        return auxiliary

    def renewed_sticks(self, seed: int, sticks: Reals, shapes: Reals) -> Reals:
        """Return sticks with the same shares, whose totals have the stationary law given the shapes; here as they
        are."""
        return sticks

    @abc.abstractmethod
    def advance_sticks(self, seed: int, sticks: Reals, shapes: Reals, prior: Reals, step: float) -> Reals:
        """Return sticks (log g_0, log g_1) after a step.

        shapes: (1 + m_j, alpha + sum_{l>j} m_l) of every stick; prior: (1, alpha)
        """

    @abc.abstractmethod
    def stick_totals(self, shapes: Reals, prior: Reals) -> Reals:
        """Return the shape of the Gamma law that g_0 + g_1 of every stick has."""
