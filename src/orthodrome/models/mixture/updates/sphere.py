"""SGGMC and gSGNHT (Liu, Zhu & Song 2016) for von Mises-Fisher components.

A component has the mean direction m on the sphere and t = log k on an interval, at whose ends it is reflected. Given
the statistics n and s, log p = n log c(e^t) + e^t m . s. Velocities are measured in units of the curvatures, which are
1 + n k A(k) for m and 1 + n (V - 1) / 2 for t (its limit for large k); as the first does not depend on m nor the second
on t, the law is unchanged. In the paper's letters, with g the gradient in these units and C the friction 1,

    A half a geodesic and a straight line;  B  v e^(-C h / 2);  O  v + h g + sqrt(2 C h) N;  B;  A,

velocities of m staying tangent. In gSGNHT the friction of each component is a thermostat that adapts,
C' = C + h (v.v / dimension - 1), half before O and half after.
"""

from __future__ import annotations

import abc

import numpy as np

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.kernels.bessel_arrays import mean_lengths
from orthodrome.models.mixture.components.sphere import VonMisesFisherComponents
from orthodrome.models.mixture.updates.simplex import ScirSticks

FRICTION = 1.0
"""C of SGGMC, and where the thermostats of gSGNHT start."""


class GeodesicUpdate(ScirSticks):
    """What both methods share: the motion along geodesics, and the gradient."""

    @abc.abstractmethod
    def rub(self, velocity: Reals, thermostat: Reals, h: float) -> Reals:
        """Return the velocities after half a step of friction; thermostats change in place."""

    def num_auxiliary(self, components: VonMisesFisherComponents) -> int:
        """A velocity for each parameter, and a thermostat."""
        return components.num_parameters + 1

    def fresh(self, seed: int, components: VonMisesFisherComponents, parameters: Reals, statistics: Reals) -> Reals:
        """Draw tangent velocities."""
        found = np.random.default_rng(seed).standard_normal((parameters.shape[0], self.num_auxiliary(components)))
        found[:, :-2] = tangent(parameters[:, :-1], found[:, :-2])
        found[:, -1] = FRICTION
        return found

    def advance(
        self,
        seed: int,
        components: VonMisesFisherComponents,
        parameters: Reals,
        auxiliary: Reals,
        statistics: Reals,
        step: float,
    ) -> tuple[Reals, Reals]:
        """Take a step A B O B A."""
        rng = np.random.Generator(np.random.Philox(seed))
        n, x, v = statistics[:, 0], parameters.copy(), auxiliary[:, :-1].copy()
        heat = auxiliary[:, -1].copy()
        drift(components, x, v, n, step / 2)
        v = self.rub(v, heat, step / 2)
        v += step * gradient(components, x, statistics) + np.sqrt(2 * FRICTION * step) * rng.standard_normal(v.shape)
        v[:, :-1] = tangent(x[:, :-1], v[:, :-1])
        v = self.rub(v, heat, step / 2)
        drift(components, x, v, n, step / 2)
        return x, np.concatenate([v, heat[:, None]], axis=1)


@pytree
class SphereSGGMC(GeodesicUpdate):
    """Geodesic dynamics with a fixed friction."""

    def rub(self, velocity: Reals, thermostat: Reals, h: float) -> Reals:
        """Return v e^(-C h)."""
        return velocity * np.exp(-FRICTION * h)


@pytree
class SphereGSGNHT(GeodesicUpdate):
    """Geodesic dynamics whose frictions are thermostats, which absorb the noise of minibatches."""

    def rub(self, velocity: Reals, thermostat: Reals, h: float) -> Reals:
        """Adapt the friction to the temperature, and apply it."""
        thermostat += h * (np.sum(velocity**2, axis=1) / (velocity.shape[1] - 1) - 1)
        return velocity * np.exp(-thermostat * h)[:, None]


def tangent(m: Reals, v: Reals) -> Reals:
    """Return v without its part along m."""
    return v - m * np.sum(m * v, axis=1, keepdims=True)


def units(components: VonMisesFisherComponents, x: Reals, n: Reals) -> tuple[Reals, Reals]:
    """Return the roots of the curvatures of m and of t."""
    k, n = np.exp(x[:, -1]), np.maximum(n, 0.0)
    return np.sqrt(1 + n * k * mean_lengths(components.width, k)), np.sqrt(1 + n * (components.width - 1) / 2)


def gradient(components: VonMisesFisherComponents, x: Reals, statistics: Reals) -> Reals:
    """Return the gradient of log p in the units of the velocities, tangent to the sphere."""
    n, sums, k = statistics[:, 0], statistics[:, 1:], np.exp(x[:, -1])
    first, second = units(components, x, n)
    along = k * (np.sum(x[:, :-1] * sums, axis=1) - n * mean_lengths(components.width, k))
    turn = tangent(x[:, :-1], sums) * (k / first)[:, None]
    return np.concatenate([turn, (along / second)[:, None]], axis=1)


def drift(components: VonMisesFisherComponents, x: Reals, v: Reals, n: Reals, h: float) -> None:
    """Move x along geodesics and v with it, in place; t is reflected at the ends of its interval."""
    first, second = units(components, x, n)
    m, w = x[:, :-1].copy(), v[:, :-1].copy()
    speed = np.maximum(np.sqrt(np.sum(w**2, axis=1, keepdims=True)), 1e-300)
    angle = speed * (h / first)[:, None]
    x[:, :-1] = m * np.cos(angle) + w / speed * np.sin(angle)
    v[:, :-1] = w * np.cos(angle) - m * speed * np.sin(angle)
    x[:, :-1] /= np.sqrt(np.sum(x[:, :-1] ** 2, axis=1, keepdims=True))
    low, high = components.interval
    folded = np.mod(x[:, -1] + h * v[:, -1] / second - low, 2 * (high - low))
    back = folded > high - low
    x[:, -1] = low + np.where(back, 2 * (high - low) - folded, folded)
    v[:, -1] = np.where(back, -v[:, -1], v[:, -1])
