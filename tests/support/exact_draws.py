"""Exact draws for the tests, in NumPy: rejection, inverse distribution functions on grids and known
parametrisations.

Nothing here uses the package: a mistake in its own exact draws cannot hide a mistake in a sampler. Every
function takes a `numpy.random.Generator` and the number of draws, and returns float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

Floats = npt.NDArray[np.float64]
Generator = np.random.Generator


def rejection(
    rng: Generator, n: int, propose: Callable[[int], Floats], log_accept: Callable[[Floats], Floats]
) -> Floats:
    """The proposals that are kept, n of them."""
    kept: list[Floats] = []
    while sum(map(len, kept)) < n:
        x = propose(2 * n)
        kept.append(x[np.log(rng.random(len(x))) < log_accept(x)])
    return np.concatenate(kept)[:n]


def uniform_directions(rng: Generator, n: int, d: int) -> Floats:
    """Uniform unit vectors."""
    z = rng.normal(size=(n, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def von_mises_fisher_cosine(d: int, kappa: float, size: int = 200_001) -> tuple[Floats, Floats]:
    """A grid of cosines w and their weights: density (1 - w^2)^((d - 3) / 2) exp(kappa w), by the angle to stay
    finite at d = 2.
    """
    angle = (np.arange(size) + 0.5) * np.pi / size
    log_weight = (d - 2) * np.log(np.sin(angle)) + kappa * np.cos(angle)
    weight = np.exp(log_weight - log_weight.max())
    return np.cos(angle), weight / weight.sum()


def von_mises_fisher(rng: Generator, n: int, d: int, kappa: float) -> Floats:
    """Mean direction e_0: the cosine by its distribution function on a grid, the rest uniform."""
    cosines, weights = von_mises_fisher_cosine(d, kappa)
    w = np.interp(rng.random(n), np.cumsum(weights), cosines)
    rest = uniform_directions(rng, n, d - 1)
    return np.concatenate([w[:, None], np.sqrt(1 - w**2)[:, None] * rest], axis=1)


def bingham_von_mises_fisher(rng: Generator, n: int, a: Floats, c: float, tangency: float = 1.0) -> Floats:
    """exp(sum a_i x_i^2 + c x_0), by an angular central Gaussian envelope (Kent, Ganeiber & Mardia 2018).

    c x_0 <= c (x_0^2 / (2 t) + t / 2) gives a Bingham law above it, and that has an envelope exp(-x'Bx) <=
    const (x'Wx)^(-q/2).
    """
    q, above = len(a), np.array(a, float)
    above[0] += c / (2 * tangency)
    b = above.max() - above
    root = optimize.brentq(lambda s: np.sum(1 / (s + 2 * b)) - 1, 1e-9, q)
    w = 1 + 2 * b / root
    constant = -(q - root) / 2 + q / 2 * np.log(q / root)

    def propose(m: int) -> Floats:
        y = rng.normal(size=(m, q)) / np.sqrt(w)
        return y / np.linalg.norm(y, axis=1, keepdims=True)

    def log_accept(x: Floats) -> Floats:
        envelope = constant - q / 2 * np.log(x**2 @ w)
        linear = c * x[:, 0] - c * (x[:, 0] ** 2 / (2 * tangency) + tangency / 2)
        return linear - x**2 @ b - envelope

    return rejection(rng, n, propose, log_accept)


def uniform_rotations(rng: Generator, n: int) -> Floats:
    """Haar on SO(3), from uniform quaternions."""
    w, x, y, z = uniform_directions(rng, n, 4).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def uniform_pairs(rng: Generator, n: int, d: int) -> Floats:
    """Haar on Stiefel(d, 2), by Gram-Schmidt."""
    first = uniform_directions(rng, n, d)
    second = rng.normal(size=(n, d))
    second -= first * np.sum(first * second, axis=1, keepdims=True)
    return np.stack([first, second / np.linalg.norm(second, axis=1, keepdims=True)], axis=-1)


def matrix_von_mises_fisher(rng: Generator, n: int, f: Floats, uniform: Callable[[Generator, int], Floats]) -> Floats:
    """exp(tr F'X) with respect to the uniform law of frames or rotations."""
    most = np.linalg.svd(f, compute_uv=False).sum()
    return rejection(rng, n, lambda m: uniform(rng, m), lambda x: np.einsum("ij,nij->n", f, x) - most)


def log_dirichlet(rng: Generator, n: int, concentration: Floats) -> Floats:
    """The logs of Dirichlet draws at any concentration: log Gamma(a) = log Gamma(a + 1) + log(U) / a."""
    a = np.asarray(concentration, float)
    logs = np.log(rng.gamma(a + 1, size=(n, len(a)))) + np.log(rng.random((n, len(a)))) / a
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def torus(rng: Generator, n: int, tilt: float, radii: tuple[float, float] = (1.0, 0.4)) -> Floats:
    """exp(tilt x_0) with respect to the area of the torus around the third axis, (R + r cos t) r dp dt."""
    big, small = radii

    def log_accept(angles: Floats) -> Floats:
        ring = big + small * np.cos(angles[:, 1])
        return np.log(ring / (big + small)) + tilt * (ring * np.cos(angles[:, 0]) - big - small)

    angles = rejection(rng, n, lambda m: 2 * np.pi * rng.random((m, 2)), log_accept)
    ring = big + small * np.cos(angles[:, 1])
    return np.stack([ring * np.cos(angles[:, 0]), ring * np.sin(angles[:, 0]), small * np.sin(angles[:, 1])], axis=1)


def truncated_normal_in_ball(rng: Generator, n: int, mean: Floats, sd: float) -> Floats:
    """N(mean, sd^2) inside the unit ball."""
    inside = lambda x: np.where(np.sum(x**2, axis=1) <= 1, 0.0, -np.inf)
    return rejection(rng, n, lambda m: mean + sd * rng.normal(size=(m, len(mean))), inside)


def truncated_normal_in_box(rng: Generator, n: int, mean: Floats, sd: Floats, lower: Floats, upper: Floats) -> Floats:
    """Independent truncated normals."""
    return stats.truncnorm.rvs(
        (lower - mean) / sd, (upper - mean) / sd, mean, sd, size=(n, len(mean)), random_state=rng
    )


def conditional_normal(rng: Generator, n: int, mean: Floats, sd: Floats, a: Floats, b: Floats) -> Floats:
    """N(mean, diag sd^2) given a x = b: a free draw corrected along the covariance (conditioning by kriging)."""
    x = mean + sd * rng.normal(size=(n, len(mean)))
    gain = (sd**2)[:, None] * a.T @ np.linalg.inv(a * sd**2 @ a.T)
    return x - (x @ a.T - b) @ gain.T
