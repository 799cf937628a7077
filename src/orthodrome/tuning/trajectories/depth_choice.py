"""The depth, the persistence, the leaves and the step of NUTS, learnt from what its transitions move per gradient.

A tree that grows until it turns back spans between one and two half periods, and its candidate is about half of that
away: good for the mean of x, which an antithetic move serves best, and poor for that of x^2, which comes back after
half a period. On nearly isotropic laws a tree of half the size is worth two to four times as much per gradient. So the
last quarter of the warm-up runs eight kinds of transitions in turn, each tree with two multiples of the step that dual
averaging found,

    as the U-turn makes it    1 and 1.25
    with a limit              1 and 1.25: one doubling less than the depth that nine tenths of the trees before had not
                              exceeded
    with it and persistent    0.7 and 1: its states are further apart, and it has no other half to make good for a step
                              that is refused
    with leaves two steps     0.85 and 1: with another doubling less, but at least one: about as many steps, and half as
    apart                     many leaves. One doubling is Hamiltonian Monte Carlo of two steps, which no tree of 1, 3,
                              7, ... steps comes near, and all that it computes may be drawn

and keeps the kind that is worth the most by gradient, as `trajectory_choice` defines worth: by the worst error of the
means of x and x^2 (and of y) over the coordinates. One doubling less halves the longest trajectory, no more: where
scales differ along directions that no coordinate shows, or from place to place, trees stay as deep as the U-turn makes
them, but for that factor. And no limit is taken that leaves less than LEAST_WORTH of a draw: one transition shows what
a coordinate forgets at once, and not that a slow part of it, along such a direction, is still there. A kind with an
acceptance rate below LEAST_ACCEPTANCE or with divergences is not taken, and none unless it gains by a twentieth; a
warm-up with fewer than LEAST_VISITS transitions of a kind decides nothing.

All of it is fixed before the first draw, so the law stays exact (`geodesic_nuts`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

import orthodrome.tuning.trajectories.taking_turns as taking_turns
from orthodrome.core.types import Info, State, Tree
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract import ExactSampler
from orthodrome.samplers.learnt import Learnt
from orthodrome.tuning.trajectories.choice import MOST_DIVERGENT, CoordinateMoments, effective, moments, stuck
from orthodrome.tuning.trajectories.length import TrajectorySums, added, coordinates, functionals, products, start
from orthodrome.tuning.trajectories.stage import Stage

FACTORS = ((1.0, 1.0, 1.0, 1.0), (1.25, 0.7, 0.85, 1.25))
"""The steps that are tried, relative to the one that dual averaging found, by (step, tree)."""
PERSISTENCE = (0.5, 0.95, 0.5, 0.5)
"""The persistence of the trees that are tried: the last one has no limit."""
LEAF_STEPS = (1, 1, 2, 1)
"""The number of leapfrog steps between leaves of the trees that are tried."""
USUAL = 0, len(PERSISTENCE) - 1
"""The numbers of the step and of the tree where nothing is learnt."""
EXCEEDING = 0.1
"""The share of trees that may be deeper than what counts as their depth: large enough that a handful of slow or fast
velocities does not decide."""
LEAST_ACCEPTANCE = 0.6
LEAST_VISITS = 10
LEAST_WORTH = 0.2
"""The least number of effective draws per draw with which a limit is taken."""
GAIN = 1.05


class DepthSums(NamedTuple):
    """Sums over transitions.

    sums: of the functionals and their changes, by (step, tree) in place of (step, length)
    depths: how often each depth was reached before the measurement
    steps, acceptance: of the leapfrog steps and of the acceptance rates, by (step, tree)
    """

    sums: TrajectorySums
    depths: Array
    steps: Array
    acceptance: Array


def begin(manifold: Manifold, position: Tree, max_depth: int) -> DepthSums:
    """Return empty sums, relative to the coordinates of a position."""
    sums = start(manifold, position, (len(FACTORS), len(PERSISTENCE)))
    zeros = jnp.zeros_like(sums.visits)
    return DepthSums(sums, jnp.zeros(max_depth + 1, zeros.dtype), zeros, zeros)


def taken(
    sampler: ExactSampler, stage: Stage, key: Array, state: State, seen: DepthSums
) -> tuple[State, Info, DepthSums]:
    """Make a transition with the kind of tree whose turn it is, and add what it shows."""
    measuring, dtype = stage.measuring, stage.log_step.dtype
    turns = zip(turn(stage.step), USUAL, strict=True)
    factor, tree = (stage.common(jnp.where(measuring, now, usual)) for now, usual in turns)
    times = jnp.minimum(jnp.asarray(FACTORS, dtype)[factor, tree], stage.room)
    learnt = Learnt(
        leaves.scaled(stage.steps, times),
        depth_limit=stage.common(limit(seen.depths, tree)),
        persistence=jnp.asarray(PERSISTENCE, dtype)[tree],
        leaf_steps=jnp.asarray(LEAF_STEPS, jnp.int32)[tree],
    )
    inner, info = sampler.tuned(learnt).step(key, state)
    seen = counted(seen, info.tree_depth, lambda x: jnp.where(stage.settled, stage.mean(x), 0))
    counts = lambda x: jnp.where(measuring, stage.mean(x), 0)
    seen = measured(sampler.manifold, seen, (factor, tree), state.position, inner.position, info, counts)
    here = stage.mean(coordinates(sampler.manifold, inner.position))
    reference = jnp.where(measuring, seen.sums.reference, here)
    return inner, info, seen._replace(sums=seen.sums._replace(reference=reference))


def turn(step: Array) -> tuple[Array, Array]:
    """Return the numbers of the step and of the tree whose turn it is at a transition of the warm-up."""
    return step % len(FACTORS), step // len(FACTORS) % len(PERSISTENCE)


def limit(depths: Any, which: Any, xp: Any = jnp) -> Any:
    """Return the limit of tree number `which`: doublings that give half of the steps of a tree, or none for the last
    kind and where nothing was seen.

    xp: the library of the arrays, JAX's or NumPy
    """
    at_most = xp.tri(depths.size, dtype=depths.dtype) @ depths
    usual = xp.sum(at_most < (1 - EXCEEDING) * xp.sum(depths))
    fewer = xp.where(xp.asarray(LEAF_STEPS)[which] > 1, 2, 1)
    less = xp.where(xp.sum(depths) > 0, xp.maximum(usual - fewer, 1), depths.size - 1)
    return xp.where(which < USUAL[1], less, depths.size - 1).astype(np.int32)


def counted(seen: DepthSums, depth: Array, counts: Callable[[Array], Array]) -> DepthSums:
    """Add the depth of a tree; `counts` as for `measured`."""
    reached = (jnp.arange(seen.depths.size, dtype=depth.dtype) == depth).astype(seen.depths.dtype)
    return seen._replace(depths=seen.depths + counts(reached))


def measured(
    manifold: Manifold,
    seen: DepthSums,
    at: tuple[Array, Array],
    before: Tree,
    after: Tree,
    info: Any,
    counts: Callable[[Array], Array],
) -> DepthSums:
    """Add a transition from one position to another to the sums of its kind.

    at: the numbers of its step and of its tree
    counts: what is added of a number: its average over chains, or 0 where nothing is measured yet
    """
    reference = seen.sums.reference
    f0, f1 = functionals(manifold, before, reference), functionals(manifold, after, reference)
    one = jnp.ones((), f0.dtype)
    middle = (f0 + f1) / 2, (products(f0) + products(f1)) / 2
    shown = products(f1 - f0), one, *middle, info.diverging.astype(f0.dtype)
    sums = (added(old, counts(new), *at) for old, new in zip(seen.sums[1:], shown, strict=True))
    return DepthSums(
        TrajectorySums(reference, *sums),
        seen.depths,
        added(seen.steps, counts(info.n_steps.astype(f0.dtype)), *at),
        added(seen.acceptance, counts(info.acceptance_rate.astype(f0.dtype)), *at),
    )


def best(seen: DepthSums) -> tuple[float, np.ndarray, float, np.ndarray]:
    """Return the factor of the step, the limit of the depth, the persistence and the steps from leaf to leaf with the
    most effective draws per gradient."""
    law, jumps, covariance, visits = moments(seen.sums)
    judged = (law.variance > taking_turns.TINY) & ~stuck(law.variance, jumps[..., 0, 0], visits)
    factor, which = USUAL
    if np.any(judged) and visits.min() >= LEAST_VISITS:
        law = CoordinateMoments(*(values[judged] for values in law))
        kinds = np.arange(1, len(PERSISTENCE) + 1)[:, None]
        worth = effective(law, jumps[:, :, judged], covariance[:, :, judged], kinds)
        steps, acceptance, share = (
            np.asarray(a, np.float64) / visits for a in (seen.steps, seen.acceptance, seen.sums.diverged)
        )
        sound = (acceptance >= LEAST_ACCEPTANCE) & (share <= max(MOST_DIVERGENT, share.min()))
        sound[:, : USUAL[1]] &= worth[:, : USUAL[1]] >= LEAST_WORTH
        scores = np.where(sound, worth / steps, 0)
        scores[factor, which] = GAIN * worth[factor, which] / steps[factor, which]
        factor, which = (int(i) for i in np.unravel_index(np.argmax(scores), scores.shape))
    deepest, apart = limit(np.asarray(seen.depths), which, np), np.asarray(LEAF_STEPS[which], np.int32)
    return FACTORS[factor][which], deepest, PERSISTENCE[which], apart
