"""How long a trajectory should be, learnt from how fast it forgets.

One trajectory of geodesic leapfrogs shows every shorter one on its way. For a functional f (each coordinate of the
user's, and its square) and l steps of size h, accepted with probability a_l = min(1, exp(H_0 - H_l)), the lag-one
correlation of the chain would be

    rho(l, h) = 1 - E[a_l (f(x_l) - f(x_0))^2] / (2 var f),

so its effective draws per gradient are about (1 - rho) / (1 + rho) / l. The expectations are averages over the last
part of warm-up and all chains, for a few step sizes around the one that dual averaging found; the pair (h, l) whose
slowest functional is fastest wins. Unlike a rule that looks at one functional (ChEES: the squared distance from the
mean) it sees antithetic moves, which are worth having, and squares that an antithetic move does not mix.

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


class Curve(NamedTuple):
    """Sums over trajectories: accepted squared jumps by step size, length and functional; moments about a reference."""

    reference: Array
    jump: Array
    visits: Array
    sum_f: Array
    sum_ff: Array
    draws: Array


def start(manifold: Manifold, position: Tree) -> Curve:
    """An empty curve, its moments about the functionals of a position."""
    f = functionals(manifold, position)
    zero = jnp.zeros_like(f)
    return Curve(
        reference=f,
        jump=jnp.zeros((len(FACTORS), LONGEST, f.size), f.dtype),
        visits=jnp.zeros((len(FACTORS), LONGEST), f.dtype),
        sum_f=zero,
        sum_ff=zero,
        draws=jnp.zeros((), f.dtype),
    )


def functionals(manifold: Manifold, position: Tree) -> Array:
    """Some of the user's coordinates and their squares, in one vector."""
    user = jax.tree.leaves(manifold.to_user(position))
    every = jnp.concatenate([leaf.ravel().astype(trees.real_dtype(position)) for leaf in user])
    chosen = every[np.unique(np.linspace(0, every.size - 1, min(PROBES, every.size)).astype(int))]
    return jnp.concatenate([chosen, chosen**2])


def transition(
    sampler: GeodesicHMC, key: Array, state: HMCState, factor: Array, most: Array, length: Array, reference: Array
) -> tuple[HMCState, HMCInfo, Curve]:
    """A transition with the step times FACTORS[factor] (at `most`), and what its trajectory of `length` steps shows.

    The transition ends at a uniformly chosen one of the lengths; functionals are taken relative to `reference`.
    """
    velocity_key, end_key, accept_key = jax.random.split(key, 3)
    manifold = sampler.manifold
    v = manifold.random_velocity(velocity_key, state.position)
    begin = Point(state.position, v, state.logdensity, state.gradient)
    h = steps.scaled(sampler.steps(state), jnp.minimum(jnp.asarray(FACTORS, most.dtype)[factor], most))
    last = jax.random.randint(end_key, (), 0, length, jnp.int32)
    f0 = functionals(manifold, state.position) - reference
    empty = start(manifold, state.position)

    def advance(i: Array, carry: tuple[Point, Point, Curve]) -> tuple[Point, Point, Curve]:
        point, end, curve = carry
        point = leapfrog(sampler.gradient, point, h)
        accepted = jnp.exp(jnp.minimum(energy(begin) - energy(point), 0))
        jump = jnp.where(accepted > 0, accepted * (functionals(manifold, point.position) - reference - f0) ** 2, 0)
        curve = curve._replace(jump=curve.jump.at[factor, i].set(jump), visits=curve.visits.at[factor, i].set(1))
        return point, trees.where(i == last, point, end), curve

    _, end, curve = jax.lax.fori_loop(0, length, advance, (begin, begin, empty))
    kept, info = sampler.decide(accept_key, state, begin, end, length.astype(jnp.int32))
    curve = curve._replace(sum_f=f0, sum_ff=f0**2, draws=jnp.ones_like(curve.draws))
    return kept, info, curve


def best(curve: Curve) -> tuple[float, np.ndarray]:
    """The factor of the step size and the lengths, taking turns, with the most effective draws per gradient.

    Always TURNS of them, so that every tuned sampler runs in the same compiled program. The correlation of a mixture of
    kernels is the mixture of their correlations, so every range of lengths a..b is scored from the same sums.
    """
    jump, visits, sum_f, sum_ff = (np.asarray(a, np.float64) for a in curve[1:5])
    draws = max(1.0, float(curve.draws))
    variance = np.maximum(sum_ff / draws - (sum_f / draws) ** 2, 1e-300)
    correlation = 1 - jump / np.maximum(visits, 1)[..., None] / (2 * variance)
    candidates = [
        (_score(correlation[i], first, last), factor, first, last)
        for i, factor in enumerate(FACTORS)
        for first in range(LONGEST)
        for last in range(first, min(LONGEST, 4 * (first + 1)))
        if visits[i, last] > 0
    ]
    _, factor, first, last = max(candidates, default=(0.0, 1.0, 0, 0))
    lengths = np.arange(first, last + 1) + 1
    spread = lengths if lengths.size <= TURNS else np.linspace(first + 1, last + 1, TURNS).round()
    return factor, np.resize(spread, TURNS).astype(np.int32)


def _score(correlation: np.ndarray, first: int, last: int) -> float:
    """Effective draws of the slowest functional per gradient, for lengths that range from index `first` to `last`."""
    slowest = np.clip(np.max(correlation[first : last + 1].mean(axis=0)), -0.9, 1 - 1e-6)
    cost = 1 + (first + last) / 2 + OVERHEAD
    return float((1 - slowest) / (1 + slowest) / cost)


def add(one: Curve, other: Curve, pool: Any) -> Curve:
    """Sum of a curve and the chains' average of another, about the reference of the first."""
    return jax.tree.map(lambda a, b: a + pool(b), one, other)._replace(reference=one.reference)
