"""How long a trajectory should be, learnt from how fast it forgets.

One trajectory of geodesic leapfrogs shows every shorter one on its way. For a coordinate x of the user's let
f = (x, (x - m)^2), m its mean, C = cov f, and for l steps of size h, accepted with probability
a = min(1, exp(H_0 - H_l)),

    J(l, h) = E[a (f(x_l) - f(x_0)) (f(x_l) - f(x_0))'] / 2 = C - cov(f at a draw, f at the next).

If the chain keeps the span of f, the variance of an average over n draws is (2 C J^-1 C - C) / n. (For one functional
that is the familiar var (1 + rho) / (1 - rho).) The expectations are averages over the last part of warm-up and all
chains, for a few step sizes around the one that dual averaging found. The pair (h, l) wins that knows the mean and the
standard deviation best after a given number of gradients: the larger of their two errors, in the worst coordinate,
counts (the error of the standard deviation s is that of s^2 over 2 s). Unlike a rule that looks at one functional
(ChEES: the squared distance from the mean) it sees antithetic moves, which are worth having; and looking at both
together it sees the spread that an antithetic move does not mix, also where x^2 is nearly linear in x.

A coordinate between whose modes no trajectory goes (`stuck`) has no say: all lengths are equally hopeless for it, and
its noise would choose for the others.

Every transition of the warm-up is itself exact: it ends at a number of steps chosen beforehand and has its
Metropolis test there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome import steps, trees
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.samplers.geodesic_hmc import GeodesicHMC, HMCInfo, HMCState
from orthodrome.samplers.leapfrog import Point, energy, leapfrog

FACTORS = (0.7, 1.0, 1.4, 2.0)
"""The step sizes that are tried, relative to the one of dual averaging."""
LONGEST = 64
"""The longest trajectory that is tried."""
TURNS = 16
"""So many lengths take turns (with repetitions)."""
PROBES = 64
"""At most so many coordinates are looked at."""
OVERHEAD = 1.5
"""What a transition costs beside its gradients, in gradients (random numbers, the test, writing)."""
MOST = 5.0
"""Effective draws per draw that are believed at most: beyond, an estimate of an antithetic gain is noise."""
SMALLEST = 1e-150
"""A variance that is none: a coordinate that is a constant has no say."""
RIDGE = 1e-6
"""Added to J, relative to C: a coordinate that has not moved at all is very slow, not undefined."""


class Curve(NamedTuple):
    """Sums over trajectories, for each coordinate d = x - reference.

    jumps: of the products of the accepted changes of d and d^2, by (step size, length, product, coordinate)
    visits: how often a length was seen
    powers: of d, d^2, d^3, d^4 at the draws
    """

    reference: Array
    jumps: Array
    visits: Array
    powers: Array
    draws: Array


def start(manifold: Manifold, position: Tree) -> Curve:
    """An empty curve, about the coordinates of a position."""
    x = coordinates(manifold, position)
    return Curve(
        reference=x,
        jumps=jnp.zeros((len(FACTORS), LONGEST, 3, x.size), x.dtype),
        visits=jnp.zeros((len(FACTORS), LONGEST), x.dtype),
        powers=jnp.zeros((4, x.size), x.dtype),
        draws=jnp.zeros((), x.dtype),
    )


def coordinates(manifold: Manifold, position: Tree) -> Array:
    """Some of the user's coordinates, in one vector."""
    user = jax.tree.leaves(manifold.to_user(position))
    every = jnp.concatenate([leaf.ravel().astype(trees.real_dtype(position)) for leaf in user])
    return every[np.unique(np.linspace(0, every.size - 1, min(PROBES, every.size)).astype(int))]


def transition(
    sampler: GeodesicHMC, key: Array, state: HMCState, factor: Array, most: Array, length: Array, reference: Array
) -> tuple[HMCState, HMCInfo, Curve]:
    """A transition with the step times FACTORS[factor] (at `most`), and what its trajectory of `length` steps shows.

    The transition ends at a uniformly chosen one of the lengths; coordinates are taken relative to `reference`.
    """
    velocity_key, end_key, accept_key = jax.random.split(key, 3)
    manifold = sampler.manifold
    v = manifold.random_velocity(velocity_key, state.position)
    begin = Point(state.position, v, state.logdensity, state.gradient)
    h = steps.scaled(sampler.steps(state), jnp.minimum(jnp.asarray(FACTORS, most.dtype)[factor], most))
    last = jax.random.randint(end_key, (), 0, length, jnp.int32)
    d0 = coordinates(manifold, state.position) - reference
    empty = start(manifold, state.position)

    def advance(i: Array, carry: tuple[Point, Point, Curve]) -> tuple[Point, Point, Curve]:
        point, end, curve = carry
        point = leapfrog(sampler.gradient, point, h)
        accepted = jnp.exp(jnp.minimum(energy(begin) - energy(point), 0))
        d = coordinates(manifold, point.position) - reference
        by, squared = d - d0, d**2 - d0**2
        jumps = jnp.where(accepted > 0, accepted * jnp.stack([by * by, by * squared, squared * squared]), 0)
        curve = curve._replace(jumps=curve.jumps.at[factor, i].set(jumps), visits=curve.visits.at[factor, i].set(1))
        return point, trees.where(i == last, point, end), curve

    _, end, curve = jax.lax.fori_loop(0, length, advance, (begin, begin, empty))
    kept, info = sampler.decide(accept_key, state, begin, end, length.astype(jnp.int32))
    curve = curve._replace(powers=jnp.stack([d0, d0**2, d0**3, d0**4]), draws=jnp.ones_like(curve.draws))
    return kept, info, curve


def best(curve: Curve) -> tuple[float, np.ndarray]:
    """The factor of the step size and the lengths, taking turns, with the most effective draws per gradient.

    Always TURNS of them, so that every tuned sampler runs in the same compiled program. The J of a mixture of kernels
    is the mixture of their J, so every range of lengths a..b is scored from the same sums.
    """
    jumps, visits, powers = (np.asarray(a, np.float64) for a in curve[1:4])
    jumps = jumps / np.maximum(visits, 1)[..., None, None]
    mean, *covariance = _moments(powers / max(1.0, float(curve.draws)))
    judged = (covariance[0] > SMALLEST) & ~stuck(covariance[0], jumps[:, :, 0] / 2, visits)
    if not np.any(judged):  # nothing has moved
        return 1.0, np.ones(TURNS, np.int32)
    mean, covariance, jumps = mean[judged], [c[judged] for c in covariance], jumps[..., judged]
    first, last = np.array([(a, b) for a in range(LONGEST) for b in range(a, min(LONGEST, 4 * (a + 1)))]).T
    cost = 1 + (first + last) / 2 + OVERHEAD
    top, chosen = 0.0, (1.0, 0, 0)
    for factor, jump, seen in zip(FACTORS, jumps, visits, strict=True):
        sums = np.cumsum(np.concatenate([np.zeros_like(jump[:1]), jump]), axis=0)
        averages = (sums[last + 1] - sums[first]) / (last - first + 1)[:, None, None]
        score = np.where(seen[last] > 0, effective(mean, covariance, averages) / cost, 0)
        if score.max() > top:
            top, chosen = score.max(), (factor, first[score.argmax()], last[score.argmax()])
    factor, shortest, longest = chosen
    lengths = np.arange(shortest, longest + 1) + 1
    spread = lengths if lengths.size <= TURNS else np.linspace(shortest + 1, longest + 1, TURNS).round()
    return factor, np.resize(spread, TURNS).astype(np.int32)


def effective(mean: np.ndarray, covariance: list[np.ndarray], jumps: np.ndarray) -> np.ndarray:
    """Effective draws per draw: s^2 over the worse of n var(mean) and n var(standard deviation), worst coordinate.

    mean, covariance: of d, and the entries (11, 12, 22) of C; jumps: (range, product, coordinate), about the reference
    """
    c11, c12, c22 = covariance
    dd, ds, ss = np.moveaxis(jumps, 1, 0)
    j11, j12, j22 = dd / 2, (ds - 2 * mean * dd) / 2, (ss - 4 * mean * ds + 4 * mean**2 * dd) / 2
    j11, j22 = j11 + RIDGE * c11, j22 + RIDGE * c22
    determinant = np.maximum(j11 * j22 - j12**2, RIDGE * j11 * j22)
    of_mean = 2 * (c11**2 * j22 - 2 * c11 * c12 * j12 + c12**2 * j11) / determinant - c11
    of_spread = 2 * (c12**2 * j22 - 2 * c12 * c22 * j12 + c22**2 * j11) / determinant - c22
    inefficiency = np.maximum(of_mean / c11, of_spread / (4 * c11**2))
    return 1 / np.maximum(np.max(inefficiency, axis=-1), 1 / MOST)


def stuck(variance: np.ndarray, jumps: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """The coordinates that no trajectory moves by half their variance, and longer ones no further than short ones.

    jumps: (step size, length, coordinate). Where that is true of all coordinates, none is called stuck.
    """
    half = max(1, np.count_nonzero(visits.max(axis=0)) // 2)
    early, late = jumps[:, :half].max(axis=(0, 1)), jumps[:, half:].max(axis=(0, 1), initial=0)
    found = (np.maximum(early, late) < variance / 2) & (early > 0.7 * late)
    return found & ~np.all(found)


def _moments(powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """The mean of d and the covariance (11, 12, 22) of (d, (d - mean)^2), from the means of d to d^4."""
    m, m2, m3, m4 = powers
    variance = np.maximum(m2 - m**2, SMALLEST)
    third = m3 - 3 * m * m2 + 2 * m**3
    fourth = m4 - 4 * m * m3 + 6 * m**2 * m2 - 3 * m**4
    return m, variance, third, np.maximum(fourth - variance**2, 1e-6 * variance**2)


def add(one: Curve, other: Curve, pool: Any) -> Curve:
    """Sum of a curve and the chains' average of another, about the reference of the first."""
    return jax.tree.map(lambda a, b: a + pool(b), one, other)._replace(reference=one.reference)
