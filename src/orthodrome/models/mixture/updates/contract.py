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

    def open_slots(self, seed: int, components: Any, parameters: Reals, auxiliary: Reals, slots: Labels) -> None:
        """Draw the parameters of new components from the base measure, and their auxiliary numbers, in place."""
        nothing = np.zeros((slots.shape[0], components.num_statistics))
        drawn = components.draw(seed, nothing)
        parameters[slots], auxiliary[slots] = drawn, self.fresh(seed ^ ANOTHER, components, drawn, nothing)

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
        lines: Labels,
        step: float,
        renew: bool = False,
    ) -> None:
        """Take a step of the components in some slots, in place.

        lines: where the statistics of the slots are
        renew: begin at auxiliary numbers whose law given parameters and statistics is the stationary one. An update
            whose auxiliary numbers depend on the statistics draws them anew, as these change with the labels; others
            leave them as they are
        """
        moved = self.advance(seed, components, parameters[slots], auxiliary[slots], statistics[lines], step)
        parameters[slots], auxiliary[slots] = moved

    @abc.abstractmethod
    def advance_sticks(
        self, seed: int, sticks: Reals, shapes: Reals, prior: Reals, step: float, renew: bool = False
    ) -> Reals:
        """Return sticks (log g_0, log g_1) after a step.

        shapes: (1 + m_j, alpha + sum_{l>j} m_l) of every stick; prior: (1, alpha); renew: as for parameters, begin at
            totals g_0 + g_1 of the stationary law given the shapes
        """

    @abc.abstractmethod
    def stick_totals(self, shapes: Reals, prior: Reals) -> Reals:
        """Return the shape of the Gamma law that g_0 + g_1 of every stick has."""
