"""Words with a moving thermostat on a Gaussian: the law that they keep, by a spectral method without Monte Carlo error.

The state is (x, v, xi), the reference its exact law N(0, 1) x N(0, 1) x N(C, 1/mass). A letter takes a function f of
the state to E f(letter(state)), which in the basis of normalised Hermite polynomials e_i of total degree DEGREE or less
(even in (x, v) together, as everything here is) is a matrix K_ij = E [e_i K e_j], by Gauss-Hermite quadrature. The law
mu of a word with the matrix K satisfies mu K = mu and mu(1) = 1. What the truncation leaves out is of order h^DEGREE.

    A   x <- x + t v,   xi <- xi + t (v^2 - 1) / mass        B   v <- exp(-xi t) v
    O   v <- v - t x + N(0, 2 C t)                           E   v <- v - t x - t xi v + N(0, 2 C t), Euler's step

so gSGNHT is ABOBA, and SGNHT is EA.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss, hermeval
from scipy.special import factorial
from threadpoolctl import threadpool_limits

from orthodrome.core.types import Reals

FRICTION, MASS = 1.5, 4.0
DEGREE, NODES, NOISE_NODES = 10, 16, 8
INDICES = [i for i in itertools.product(range(DEGREE + 1), repeat=3) if sum(i) <= DEGREE and (i[0] + i[1]) % 2 == 0]


def thermostat_bias(order: str, h: float) -> float:
    """Return the largest bias of E x^2, E x v and E v^2 under a word."""
    found = kept(order, h)
    second = {(2, 0, 0): np.sqrt(2), (1, 1, 0): 1.0, (0, 2, 0): np.sqrt(2)}
    return max(abs(scale * found[INDICES.index(index)]) for index, scale in second.items())


def kept(order: str, h: float) -> Reals:
    """Return the mean of every basis function under the law that a word keeps; those but the first are 0 if exact."""
    with threadpool_limits(1):
        matrices = {name: _matrix(LETTERS[name], h / order.count(name)) for name in set(order)}
    word = np.eye(len(INDICES))
    for name in order:
        word = word @ matrices[name]
    rest = np.linalg.solve(np.eye(len(INDICES) - 1) - word[1:, 1:].T, word[0, 1:])
    return np.concatenate([[1.0], rest])


def _matrix(letter: Callable[..., tuple[Reals, Reals, Reals]], t: float) -> Reals:
    """Return K of a letter."""
    nodes, weights = _gauss(NODES)
    x, v, s = (a.ravel() for a in np.meshgrid(nodes, nodes, nodes, indexing="ij"))
    weight = np.prod(np.meshgrid(weights, weights, weights, indexing="ij"), axis=0).ravel()
    left = _basis(x, v, s) * weight
    noise = zip(*_gauss(NOISE_NODES), strict=True)
    after = sum(w * _basis(*letter(x, v, s, t, z)) for z, w in noise)
    return left @ np.asarray(after).T


def _gauss(count: int) -> tuple[Reals, Reals]:
    """Return nodes and weights for expectations under a standard normal law."""
    nodes, weights = hermegauss(count)
    return nodes, weights / weights.sum()


def _basis(x: Reals, v: Reals, s: Reals) -> Reals:
    """Return every basis function (rows) at the points."""
    one = np.eye(DEGREE + 1) / np.sqrt(factorial(np.arange(DEGREE + 1)))[:, None]
    values = [hermeval(a, one.T) for a in (x, v, s)]
    return np.stack([values[0][i] * values[1][j] * values[2][k] for i, j, k in INDICES])


def _drift(x: Reals, v: Reals, s: Reals, t: float, z: float) -> tuple[Reals, Reals, Reals]:
    return x + t * v, v, s + t * (v**2 - 1) / np.sqrt(MASS)


def _damp(x: Reals, v: Reals, s: Reals, t: float, z: float) -> tuple[Reals, Reals, Reals]:
    return x, v * np.exp(-t * _friction(s)), s


def _kick(x: Reals, v: Reals, s: Reals, t: float, z: float) -> tuple[Reals, Reals, Reals]:
    return x, v - t * x + np.sqrt(2 * FRICTION * t) * z, s


def _euler(x: Reals, v: Reals, s: Reals, t: float, z: float) -> tuple[Reals, Reals, Reals]:
    return x, v - t * x - t * _friction(s) * v + np.sqrt(2 * FRICTION * t) * z, s


def _friction(s: Reals) -> Reals:
    """Return xi from its standardised value."""
    return FRICTION + s / np.sqrt(MASS)


LETTERS = {"A": _drift, "B": _damp, "O": _kick, "E": _euler}
