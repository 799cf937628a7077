"""Choosing a trajectory length: which step size and range of lengths knows the law best for its cost.

The equations are in `trajectory_length`, which measures; here its sums are read, once, on the host and in float64.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome import steps, trees
from orthodrome.manifolds.manifold import Tree
from orthodrome.samplers.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.leapfrog import Point, leapfrog
from orthodrome.samplers.trajectory_length import FACTORS, LONGEST, Curve

TURNS = 16
"""So many lengths take turns (with repetitions)."""
OVERHEAD = 1500, 100
"""What a transition costs beside its steps, in operations: for itself, and for every random number."""
MOST_OVERHEAD = 5.0
"""The same in steps, at most: for the smallest densities the estimate is rough."""
MOST = 5.0
"""Effective draws per draw that are believed at most: beyond, an estimate of an antithetic gain is noise."""
SMALLEST = 1e-150
"""A variance that is none: a coordinate that is a constant has no say."""
RIDGE = 1e-6
"""Added to J, relative to C: a coordinate that has not moved at all is very slow, not undefined."""


def overhead(sampler: GeodesicHMC, position: Tree) -> float:
    """What a transition costs beside its steps (random numbers, the test, writing), in steps, as the compiler counts.

    A count, not a clock: the same run is tuned alike on any machine. A transcendental function is worth ten operations.
    """
    point = Point(position, position, jnp.zeros((), trees.real_dtype(position)), position)
    step = jax.jit(lambda gradient, point, h: leapfrog(gradient, point, h))
    h = steps.per_leaf(sampler.step_size, position)
    counted = step.lower(sampler.gradient, point, h).cost_analysis() or {}  # a compiler that does not count
    one_step = counted.get("flops", 0.0) + 10 * counted.get("transcendentals", 0.0)
    fixed, per_number = OVERHEAD
    numbers = sum(leaf.size for leaf in jax.tree.leaves(position))
    return min(MOST_OVERHEAD, (fixed + per_number * numbers) / max(1.0, one_step))


def best(curve: Curve, overhead: float) -> tuple[float, np.ndarray]:
    """The factor of the step size and the lengths, taking turns, with the most effective draws per gradient.

    overhead: what a transition costs beside its gradients, in gradients
    Always TURNS of them, so that every tuned sampler runs in the same compiled program. The J of a mixture of kernels
    is the mixture of their J, so every range of lengths a..b is scored from the same sums.
    """
    jumps, visits, means, crossed = (np.asarray(a, np.float64) for a in curve[1:5])
    jumps = jumps / (2 * np.maximum(visits, 1)[..., None, None])
    means, crossed = (a / max(1.0, float(curve.draws)) for a in (means, crossed))
    variance = crossed[0] - means[0] ** 2
    judged = (variance > SMALLEST) & ~stuck(variance, jumps[:, :, 0], visits)
    if not np.any(judged):  # nothing has moved
        return 1.0, np.ones(TURNS, np.int32)
    means, crossed, jumps = means[:, judged], crossed[:, judged], jumps[..., judged]
    first, last = np.array([(a, b) for a in range(LONGEST) for b in range(a, min(LONGEST, 4 * (a + 1)))]).T
    cost = 1 + (first + last) / 2 + overhead
    top, chosen = 0.0, (1.0, 0, 0)
    for factor, jump, seen in zip(FACTORS, jumps, visits, strict=True):
        sums = np.cumsum(np.concatenate([np.zeros_like(jump[:1]), jump]), axis=0)
        averages = (sums[last + 1] - sums[first]) / (last - first + 1)[:, None, None]
        score = np.where(seen[last] > 0, effective(means, crossed, averages) / cost, 0)
        if score.max() > top:
            top, chosen = score.max(), (factor, first[score.argmax()], last[score.argmax()])
    factor, shortest, longest = chosen
    lengths = np.arange(shortest, longest + 1) + 1
    spread = lengths if lengths.size <= TURNS else np.linspace(shortest + 1, longest + 1, TURNS).round()
    return factor, np.resize(spread, TURNS).astype(np.int32)


def effective(means: np.ndarray, crossed: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Effective draws per draw: s^2 over the worse of n var(mean) and n var(standard deviation), worst coordinate.

    means, crossed: of f and of the products of its pairs, by coordinate; jumps: J, by (range, pair, coordinate)
    """
    covariance = _about_the_mean(_matrices(crossed, axis=0) - means[:, None] * means[None], means)
    spread = np.einsum("iin->in", covariance)
    units = np.sqrt(np.maximum(spread[:, None] * spread[None], SMALLEST))
    j = _about_the_mean(_matrices(jumps, axis=1), means) / units[:, :, None]
    j += RIDGE * np.eye(len(spread))[:, :, None, None]
    of_mean, of_variance = (spread[k] * _inefficiency(covariance[:, k] / units[:, k], j) for k in (0, 1))
    worse = np.maximum(of_mean / spread[0], of_variance / (4 * spread[0] ** 2))
    return 1 / np.maximum(np.max(worse, axis=-1), 1 / MOST)


def _about_the_mean(matrices: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The matrices of ((x - m), (x - m)^2, ...) from those of (x, x^2, ...): they are better conditioned."""
    shift = 2 * means[0::2]
    for k in range(1, len(matrices), 2):
        matrices[k] -= shift[k // 2] * matrices[k - 1]
        matrices[:, k] -= shift[k // 2] * matrices[:, k - 1]
    return matrices


def _inefficiency(c: np.ndarray, j: np.ndarray) -> np.ndarray:
    """2 c'J^-1 c - 1 by (range, coordinate), for a functional of correlations c with all; J by elimination."""
    rest, j, total = [np.broadcast_to(row, j.shape[2:]) for row in c], j.copy(), np.zeros(j.shape[2:])
    for k in range(len(rest)):
        total = total + rest[k] ** 2 / j[k, k]
        for i in range(k + 1, len(rest)):
            share = j[i, k] / j[k, k]
            rest[i] = rest[i] - share * rest[k]
            j[i, k + 1 :] -= share * j[k, k + 1 :]
    return 2 * total - 1


def _matrices(pairs: np.ndarray, axis: int) -> np.ndarray:
    """Symmetric matrices, their two axes in front, from their upper triangles along an axis."""
    pairs = np.moveaxis(pairs, axis, 0)
    size = int(np.sqrt(2 * len(pairs)))
    full = np.empty((size, size, *pairs.shape[1:]))
    first, second = np.triu_indices(size)
    full[first, second] = full[second, first] = pairs
    return full


def stuck(variance: np.ndarray, jumps: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """The coordinates that no trajectory moves by half their variance, and longer ones no further than short ones.

    jumps: (step size, length, coordinate). Where that is true of all coordinates, none is called stuck.
    """
    half = max(1, np.count_nonzero(visits.max(axis=0)) // 2)
    early, late = jumps[:, :half].max(axis=(0, 1)), jumps[:, half:].max(axis=(0, 1), initial=0)
    found = (np.maximum(early, late) < variance / 2) & (early > 0.7 * late)
    return found & ~np.all(found)
