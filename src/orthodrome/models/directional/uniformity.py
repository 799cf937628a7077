"""Tests of uniformity of directions: Rayleigh's and Bingham's (Mardia & Jupp 2000, sections 10.4 and 13.2).

    Rayleigh    S = d n |mean x|^2  ~  chi-square with d degrees of freedom: detects a mean direction
    Bingham     S = d (d + 2) / 2 n (tr T^2 - 1 / d), T = mean xx'  ~  (d - 1)(d + 2) / 2 degrees: detects axes
    rotations   S = 3 n |mean X|^2  ~  9 degrees: Rayleigh's test of 3 x 3 rotation matrices

in large samples; in small ones with the corrections of Jupp (2001), whose error is of the order of 1 / n^2:

    S (1 - 1 / (2 n)) + S^2 / (2 n (d + 2)),      S [1 - (B_0 + B_1 S + B_2 S^2) / n].

With `num_simulations` the p-value is that of simulated uniform data: exact at any n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from orthodrome.models.directional.data import Reals, numbers, read_directions, read_rotations


class UniformityTest(NamedTuple):
    """The result of a test of uniformity.

    statistic: corrected for small samples
    degrees: of freedom of its chi-square law
    p_value: small if the data are not uniform
    num_rows: the sample size n
    """

    statistic: float
    degrees: int
    p_value: float
    num_rows: int


def rayleigh_test(data: Any, *, num_simulations: int = 0, seed: int = 0) -> UniformityTest:
    """Test whether directions are uniform, against laws with a mean direction (such as von Mises-Fisher).

    data: unit vectors in rows (n, d), angles (n,) in radians, or 3 x 3 rotation matrices (n, 3, 3)
    num_simulations: the number of simulated data sets; 0: the chi-square law of large samples, corrected
    seed: of the simulations
    """
    x = read_rotations(data) if numbers(data).ndim == 3 else read_directions(data)
    return _test(x, _rayleigh, x[0].size, num_simulations, seed)


def bingham_test(data: Any, *, num_simulations: int = 0, seed: int = 0) -> UniformityTest:
    """Test whether axes or directions are uniform, against laws that are the same at x and -x (such as Bingham's).

    data: unit vectors in rows (n, d), or angles (n,) in radians
    num_simulations: the number of simulated data sets; 0: the chi-square law of large samples, corrected
    seed: of the simulations
    """
    x = read_directions(data)
    d = x.shape[1]
    return _test(x, _bingham, (d - 1) * (d + 2) // 2, num_simulations, seed)


def _test(x: Reals, statistic: Callable[[Reals], Any], degrees: int, simulations: int, seed: int) -> UniformityTest:
    found = float(statistic(x[None])[0])
    p_value = float(chi2.sf(found, degrees))
    if simulations:
        rng = np.random.default_rng(seed)
        uniform = np.concatenate([statistic(_uniform(rng, x.shape)[None]) for _ in range(simulations)])
        p_value = float((1 + np.sum(uniform >= found)) / (1 + simulations))
    return UniformityTest(found, degrees, p_value, len(x))


def _rayleigh(x: Reals) -> Any:
    """Return the statistic of each data set (m, n, ...)."""
    n, size = x.shape[1], x.shape[2]
    s = size * n * np.sum(x.mean(1).reshape(len(x), -1) ** 2, axis=1)
    return s if x.ndim == 4 else s * (1 - 1 / (2 * n)) + s * s / (2 * n * (size + 2))


def _bingham(x: Reals) -> Any:
    """Return the statistic of each data set (m, n, d)."""
    n, d = x.shape[1:]
    second = np.einsum("mni,mnj->mij", x, x) / n
    s = d * (d + 2) / 2 * n * (np.sum(second**2, axis=(1, 2)) - 1 / d)
    square = d * d + d + 2
    first = (2 * d * d + 3 * d + 4) / (6 * (d + 4))
    slope = -(4 * d * d + 3 * d - 4) / (3 * (d + 4) * square)
    bend = 4 * (d * d - 4) / (3 * (d + 4) * square * (square + 4))
    return s * (1 - (first + slope * s + bend * s * s) / n)


def _uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Reals:
    """Draw uniform directions, or rotations."""
    z = rng.normal(size=shape)
    if len(shape) == 2:
        return z / np.linalg.norm(z, axis=-1, keepdims=True)
    q, r = np.linalg.qr(z)
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]
    return q * np.linalg.det(q)[:, None, None]
