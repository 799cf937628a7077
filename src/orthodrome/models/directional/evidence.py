"""The marginal likelihood of a directional law, by bridge sampling from its posterior draws to a normal law.

    log Z = log int prior(p) likelihood(p) dp

With coordinates u in which the posterior is nearly normal (logs of concentrations, the logarithm map of each sphere at
the mean direction, an orthonormal basis of centred log ratios), a normal law g is fitted to one half of the draws, and
the optimal bridge of Meng & Wong (1996) compares the other half with as many draws of g; then the halves are exchanged.
On a sphere x = cos(r) m + sin(r) w / r with r = |w|, w in the tangent space at m, and dS = (sin(r) / r)^(d - 2) dw.

Priors are normalised here: 1 / area for directions, exponential, normal and Dirichlet constants. A mixture of K
components has K! copies of every mode, of which the aligned draws are one: log K! is added.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import helmert, null_space

from orthodrome.core.types import Reals
from orthodrome.diagnostics.evidence import log_bridge
from orthodrome.manifolds import LogPositive, LogRatioSimplex, Sphere
from orthodrome.manifolds.manifold import Manifold

BLOCKS = 10
"""The number of blocks of the jackknife."""


class BayesFactor(NamedTuple):
    """A Bayes factor of a law against the uniform one.

    log_bayes_factor: positive if the data favour the law
    error: its standard error
    """

    log_bayes_factor: float
    error: float


def log_marginal(target: Any, draws: dict[str, Reals], scale: float, weight: float, seed: int) -> tuple[float, float]:
    """Return log Z and its standard error, from draws (n, ...) of each parameter in the user's coordinates."""
    factors = target.manifold.factors
    charts = {name: _chart(factors[name], draws[name]) for name in factors}
    flat = np.concatenate([charts[name].read(draws[name]) for name in factors], axis=1)
    sizes = np.cumsum([charts[name].size for name in factors])[:-1]

    def height(u: Reals) -> Reals:
        parts = dict(zip(factors, np.split(u, sizes, axis=1), strict=True))
        points, logs = zip(*(charts[name].write(part) for name, part in parts.items()), strict=True)
        position = {name: jnp.asarray(point) for name, point in zip(factors, points, strict=True)}
        return np.asarray(_heights(target, position), float) + sum(logs)

    constant = sum(_log_prior_constant(factors[name], draws[name][0], scale, weight) for name in factors)
    value, error = _bridged(height, flat, np.random.default_rng(seed))
    return value + constant, error


@jax.jit
def _heights(target: Any, position: Any) -> Any:
    return jax.lax.map(target.embedded_logdensity, position)


def _bridged(height: Any, flat: Reals, rng: np.random.Generator) -> tuple[float, float]:
    """Return the log integral of exp(height), both halves in both roles, with a jackknife over blocks."""
    halves = np.array_split(flat, 2)
    found = [_half(height, fitted, held, rng) for fitted, held in (halves, halves[::-1])]
    whole = np.mean([log_bridge(below, above) for below, above in found])
    without = [
        np.mean([log_bridge(_leave(below, i), _leave(above, i)) for below, above in found]) for i in range(BLOCKS)
    ]
    return float(whole), float(np.sqrt((BLOCKS - 1) * np.var(without)))


def _half(height: Any, fitted: Reals, held: Reals, rng: np.random.Generator) -> tuple[Reals, Reals]:
    """Return log f - log g at draws of g, a normal law fitted to one half, and at the other half."""
    mean, cholesky = fitted.mean(0), np.linalg.cholesky(np.cov(fitted.T).reshape(fitted.shape[1], -1))
    drawn = mean + rng.normal(size=held.shape) @ cholesky.T
    constant = len(mean) / 2 * math.log(2 * math.pi) + np.log(np.diag(cholesky)).sum()
    log_g = lambda u: -np.sum(np.linalg.solve(cholesky, (u - mean).T) ** 2, axis=0) / 2 - constant
    return height(drawn) - log_g(drawn), height(held) - log_g(held)


def _leave(values: Reals, block: int) -> Reals:
    return np.concatenate([part for i, part in enumerate(np.array_split(values, BLOCKS)) if i != block])


def _log_prior_constant(manifold: Manifold, like: Reals, scale: float, weight: float) -> float:
    """Return the log of the constant that normalises the prior of one parameter (see `family`)."""
    if isinstance(manifold, Sphere):
        return -manifold.log_volume(like)
    if isinstance(manifold, LogRatioSimplex):
        return math.lgamma(like.size * weight) - like.size * math.lgamma(weight)
    if isinstance(manifold, LogPositive):
        return -like.size * math.log(scale)
    return -like.size * math.log(2 * math.pi * scale**2) / 2


class _Flat:
    """Coordinates of a parameter whose embedding is flat, in an orthonormal basis of the directions in which it
    varies."""

    def __init__(self, manifold: Manifold, draws: Reals) -> None:
        self.manifold, self.shape = manifold, draws.shape[1:]
        count = math.prod(self.shape)
        self.basis = helmert(count) if isinstance(manifold, LogRatioSimplex) else np.eye(count)
        self.size = len(self.basis)

    def read(self, draws: Reals) -> Reals:
        return np.asarray(self.manifold.from_user(jnp.asarray(draws)), float).reshape(len(draws), -1) @ self.basis.T

    def write(self, u: Reals) -> tuple[Reals, Any]:
        return (u @ self.basis).reshape(-1, *self.shape), 0.0


class _Directions:
    """The logarithm map of every copy of a sphere at its mean direction."""

    def __init__(self, draws: Reals) -> None:
        self.shape, d = draws.shape[1:], draws.shape[-1]
        mean = draws.mean(0).reshape(-1, d)
        self.mean = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        self.basis = np.stack([null_space(m[None]).T for m in self.mean])  # (copy, d - 1, d)
        self.size = len(mean) * (d - 1)

    def read(self, draws: Reals) -> Reals:
        x = draws.reshape(len(draws), *self.mean.shape)
        across = np.einsum("nci,cki->nck", x, self.basis)
        length = np.linalg.norm(across, axis=2)
        angle = np.arctan2(length, np.einsum("nci,ci->nc", x, self.mean))
        return (across * (angle / np.maximum(length, 1e-300))[..., None]).reshape(len(x), -1)

    def write(self, u: Reals) -> tuple[Reals, Reals]:
        w = u.reshape(len(u), *self.basis.shape[:2])
        r = np.linalg.norm(w, axis=2)
        along = np.einsum("nck,cki->nci", w, self.basis) * np.sinc(r / np.pi)[..., None]
        x = np.cos(r)[..., None] * self.mean + along
        with np.errstate(divide="ignore", invalid="ignore"):
            stretch = np.where(r < np.pi, (self.mean.shape[1] - 2) * np.log(np.abs(np.sinc(r / np.pi))), -np.inf)
        return x.reshape(-1, *self.shape), stretch.sum(axis=1)


def _chart(manifold: Manifold, draws: Reals) -> Any:
    return _Directions(draws) if isinstance(manifold, Sphere) else _Flat(manifold, draws)
