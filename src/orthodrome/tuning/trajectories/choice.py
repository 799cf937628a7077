"""The choice of the trajectory length: the step size and the range of lengths, taking turns, that are most efficient.

What counts is the worst, over the user's coordinates x, of the errors of the means of x and x^2 relative to their
standard deviations, and of the relative error of the standard deviation, which may be twice as large. Where the
embedded coordinate y is another one (a log, a root), the error of its mean counts too: quantiles of x, and the
rank-normalised effective sample size, are those of y, and the mean of a weight says little of its small values. The
sums come from `trajectory_length`, the variance of an average from `taking_turns`; they are computed once, on the host
and in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

import orthodrome.tuning.trajectories.taking_turns as taking_turns
from orthodrome.core import trees
from orthodrome.core.types import Tree
from orthodrome.dynamics.leapfrog import Point, leapfrog
from orthodrome.linear import leaves
from orthodrome.samplers.contract import TrajectorySampler
from orthodrome.tuning.trajectories.length import FACTORS, LONGEST, TrajectorySums

TURNS = 16
"""The number of lengths that take turns (with repetitions)."""
OVERHEAD = 1500, 100
"""The cost of a transition besides its steps, in operations: for itself, and for every random number."""
MOST_OVERHEAD = 5.0
"""The largest overhead in steps: for the smallest densities the estimate is rough."""
MOST = 5.0
"""The largest number of effective draws per draw: beyond it an estimate of an antithetic gain is noise."""
MOST_DIVERGENT = 0.002
"""The largest acceptable share of diverging trajectories: the draws would miss the region where they diverge."""
SPREAD_COUNTS = 2.0
"""The relative error that the standard deviation may have, in multiples of that of the mean."""


def overhead(sampler: TrajectorySampler, position: Tree) -> float:
    """Return the cost of a transition besides its steps (random numbers, the test, writing), in steps.

    It is the compiler's count of operations, not a time: the same run is tuned alike on any machine. A transcendental
    function counts as ten operations.
    """
    zero: Any = np.zeros((), trees.real_dtype(position))  # of NumPy, so that nothing is compiled for it
    point = Point(position, position, zero, position)
    step = jax.jit(lambda gradient, point, h: leapfrog(gradient, point, h))
    h = leaves.spread(sampler.step_size, position)
    counted = step.lower(sampler.gradient, point, h).cost_analysis() or {}  # a compiler that does not count
    one_step = counted.get("flops", 0.0) + 10 * counted.get("transcendentals", 0.0)
    fixed, per_number = OVERHEAD
    numbers = sum(leaf.size for leaf in jax.tree.leaves(position))
    return min(MOST_OVERHEAD, (fixed + per_number * numbers) / max(1.0, one_step))


def candidates() -> np.ndarray:
    """Return the lengths that take turns, by (candidate, turn): 1 alone, or a range a..b with b up to 4 a, in order.

    There are always TURNS of them, so that every tuned sampler runs in the same compiled program. A constant number of
    several steps can resonate: orbits of some energies return to their start for many draws, which functionals of x do
    not show.
    """
    starts = np.unique(np.geomspace(1, LONGEST, 32).round().astype(int))
    ends = {(a, b) for a in starts for b in (a + 1, 3 * a // 2, 2 * a, 3 * a, 4 * a) if a < b <= LONGEST}
    return np.array([_turns(np.arange(a, b + 1)) for a, b in sorted({(1, 1), *ends})])


def _turns(lengths: np.ndarray) -> np.ndarray:
    spread = lengths if lengths.size <= TURNS else np.linspace(lengths[0], lengths[-1], TURNS).round()
    return np.resize(spread, TURNS).astype(np.int32)


def best(curve: TrajectorySums, overhead: float) -> tuple[float, np.ndarray]:
    """Return the factor of the step size and the lengths, taking turns, with the most effective draws per gradient.

    overhead: the cost of a transition besides its gradients, in gradients
    """
    law, jumps, covariance, visits = moments(curve)
    judged = (law.variance > taking_turns.TINY) & ~stuck(law.variance, jumps[..., 0, 0], visits)
    if not np.any(judged):  # nothing has moved
        return 1.0, np.ones(TURNS, np.int32)
    turns = candidates()
    law = CoordinateMoments(*(values[judged] for values in law))
    worth = effective(law, jumps[:, :, judged], covariance[:, :, judged], turns)
    share = (np.asarray(curve.diverged) / np.maximum(visits, 1))[:, turns - 1].mean(axis=-1)
    taken = (visits[:, turns.max(axis=1) - 1] > 0) & (share <= max(MOST_DIVERGENT, share.min()))
    scores = np.where(taken, worth / (turns.mean(axis=1) + overhead), 0)
    factor, winner = np.unravel_index(np.argmax(scores), scores.shape)
    return FACTORS[factor], turns[winner]


class CoordinateMoments(NamedTuple):
    """The mean of x, and the covariance of f about the mean, by coordinate, from all trajectories together."""

    mean: np.ndarray
    covariance: np.ndarray

    @property
    def variance(self) -> np.ndarray:
        """The variance of x."""
        return self.covariance[:, 0, 0]


def moments(curve: TrajectorySums) -> tuple[CoordinateMoments, np.ndarray, np.ndarray, np.ndarray]:
    """Return the moments of x, J and C by (step size, length, coordinate, ., .) for f about the mean, and the
    visits."""
    reference, jumps, visits, means, products = (np.asarray(a, np.float64) for a in curve[:5])
    center, second = (sums.sum(axis=(0, 1)) / max(1.0, visits.sum()) for sums in (means, products))
    seen = np.maximum(visits, 1)[..., None, None]
    law = CoordinateMoments(reference[0] + center[0], _covariance(center, second, center))
    covariance = np.where(visits[..., None, None, None] > 0, _covariance(means / seen, products / seen, center), law[1])
    return law, _about(center, _matrices(jumps / (2 * seen))), covariance, visits


def effective(law: CoordinateMoments, jumps: np.ndarray, covariance: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return effective draws per draw, by (step size, candidate), for the worst of x, x^2, the spread and y in the
    worst coordinate.

    jumps, covariance: J and C, by (step size, length, coordinate, ., .)
    turns: lengths, by (candidate, turn)
    """
    kernels = taking_turns.kernels(jumps, covariance)
    wanted = np.swapaxes(taking_turns.root(law.covariance), -1, -2) @ _wanted(law.mean, law.covariance.shape[-1])
    draws = np.stack([taking_turns.inefficiency(of_step, turns - 1, wanted) for of_step in kernels])
    if draws.shape[-1] > 3:
        draws[..., 3] *= law.covariance[:, 2, 2] > taking_turns.TINY  # a leaf without a y has a constant there
    # the error of s^2 over 2 s is that of s
    draws[..., 2] *= law.covariance[:, 1, 1] / (2 * law.variance) ** 2 / SPREAD_COUNTS**2
    return 1 / np.maximum(np.max(draws, axis=(-2, -1)), 1 / MOST)


def _wanted(mean: np.ndarray, num_functionals: int) -> np.ndarray:
    """Return x, x^2, (x - m)^2 and y, if there is one, in terms of f about the mean, by (coordinate, functional,
    wanted)."""
    c = np.zeros((mean.size, num_functionals, 3 + num_functionals // 4))
    c[:, 0, 0] = c[:, 1, 1] = c[:, 1, 2] = 1
    c[:, 0, 1] = 2 * mean
    c[:, 2:3, 3:] = 1
    return c


def _covariance(means: np.ndarray, products: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Return the covariance of f about the center, from the means of f and of the products of its pairs."""
    means = np.swapaxes(means, -1, -2)
    return _about(center, _matrices(products) - means[..., :, None] * means[..., None, :])


def _about(center: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Return the matrices of ((d - m), (d - m)^2, ...), which are better conditioned, from those of (d, d^2, ...)."""
    turn = np.broadcast_to(np.eye(len(center)), (*center.T.shape, len(center))).copy()
    for square in range(1, len(center), 2):
        turn[:, square, square - 1] = -2 * center[square - 1]
    return turn @ matrices @ np.swapaxes(turn, -1, -2)


def _matrices(pairs: np.ndarray) -> np.ndarray:
    """Return symmetric matrices (..., coordinate, ., .) from their upper triangles (..., pair, coordinate)."""
    pairs = np.swapaxes(pairs, -1, -2)
    size = int(np.sqrt(2 * pairs.shape[-1]))
    full = np.empty((*pairs.shape[:-1], size, size))
    first, second = np.triu_indices(size)
    full[..., first, second] = full[..., second, first] = pairs
    return full


def stuck(variance: np.ndarray, jumps: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """Return a mask of the coordinates that no trajectory moves by a tenth of their variance, long ones no further than
    short.

    If that is true of all coordinates, none is called stuck.

    jumps: by (step size, length, coordinate)
    """
    half = max(1, np.count_nonzero(visits.max(axis=0)) // 2)
    early, late = jumps[:, :half].max(axis=(0, 1)), jumps[:, half:].max(axis=(0, 1), initial=0)
    found = (np.maximum(early, late) < variance / 10) & (early > 0.7 * late)
    return found & ~np.all(found)
