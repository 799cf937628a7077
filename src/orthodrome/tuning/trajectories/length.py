"""How long a trajectory should be, learnt from how fast it forgets.

One trajectory of geodesic leapfrogs shows every shorter one on its way. For a coordinate x of the user's let f = (x,
x^2), and where the embedded coordinate y is another one (a log, a root), f = (x, x^2, y, y^2). Let C = cov f, and for
l steps of size h, accepted with probability a = min(1, exp(H_0 - H_l)),

    J(l, h) = E[a (f(x_l) - f(x_0)) (f(x_l) - f(x_0))'] / 2 = C - cov(f at a draw, f at the next).

`taking_turns` says what follows for the error of an average, `trajectory_choice` which pairs (h, l) are best. Unlike a
rule that looks at one functional (ChEES: the squared distance from the mean) it sees antithetic moves, which are worth
having; looking at both together it sees the spread that an antithetic move does not mix, also where x^2 is nearly
linear in x; and y remembers what x forgets: a weight that is nearly 0 stays so for as long as its log is far down.

The expectations are averages over the last part of warm-up and all chains, for a few step sizes around the one that
dual averaging found. C is taken from the same trajectories, from their accepted ends too, E[a f f'(x_l) + (2 - a) f
f'(x_0)] / 2: then J C^-1, of which an antithetic gain is a steep function, has little noise where it has most weight.

A coordinate between whose modes no trajectory goes (`stuck`) is left out: all lengths are equally bad for it, and its
noise would decide for the others.

Every transition of the warm-up is itself exact: it ends at a number of steps chosen beforehand and has its
Metropolis test there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Info, State, Tree
from orthodrome.dynamics.leapfrog import Point, diverges, energy, leapfrog
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf
from orthodrome.samplers.contract import TrajectorySampler
from orthodrome.tuning.trajectories.stage import Stage

FACTORS = (0.7, 1.0, 1.4)
"""The step sizes that are tried, relative to the one that dual averaging found."""
LONGEST = 64
"""The longest trajectory that is tried, in steps."""
PROBES = 64
"""The largest number of coordinates that are measured."""


class TrajectorySums(NamedTuple):
    """Sums over trajectories of f = (d, d^2) for each coordinate d = x - reference, and of the same for y if it is not
    x.

    reference: what coordinates are taken relative to
    jumps: of the products of the accepted changes of f, by (step size, length, pair of functionals, coordinate)
    visits: how often a length was seen
    means, products: of f and of its products, by (step size, length, functional or pair, coordinate)
    diverged: how often a trajectory diverged
    """

    reference: Array
    jumps: Array
    visits: Array
    means: Array
    products: Array
    diverged: Array


def start(manifold: Manifold, position: Tree, kinds: tuple[int, int] = (len(FACTORS), LONGEST)) -> TrajectorySums:
    """Return empty sums for so many step sizes and lengths, relative to the coordinates of a position."""
    z = coordinates(manifold, position)
    num_functionals, n = 2 * z.shape[0], z.shape[1]
    num_pairs = num_functionals * (num_functionals + 1) // 2
    zeros = lambda *shape: jnp.zeros((*kinds, *shape), z.dtype)
    return TrajectorySums(z, zeros(num_pairs, n), zeros(), zeros(num_functionals, n), zeros(num_pairs, n), zeros())


def coordinates(manifold: Manifold, position: Tree) -> Array:
    """Return some of the user's coordinates as one row, and their embedded ones as another if some leaf's differ."""
    user = _some(manifold.to_user(position), position)
    others = per_leaf(manifold, lambda m, a: a if _renamed(m, a) else jnp.zeros_like(m.to_user(a)), position)
    renamed = jax.tree.leaves(per_leaf(manifold, _renamed, position))
    return jnp.stack([user, _some(others, position)] if any(renamed) else [user])


def _renamed(manifold: Manifold, x: Array) -> bool:
    """Return whether the user's coordinates are functions, other than the identity, of single embedded ones."""
    same = type(manifold).to_user is Manifold.to_user
    return not same and jax.eval_shape(manifold.to_user, x).shape == x.shape


def _some(tree: Tree, position: Tree) -> Array:
    every = jnp.concatenate([leaf.ravel().astype(trees.real_dtype(position)) for leaf in jax.tree.leaves(tree)])
    return every[np.unique(np.linspace(0, every.size - 1, min(PROBES, every.size)).astype(int))]


def functionals(manifold: Manifold, position: Tree, reference: Array) -> Array:
    """Return f, by (functional, coordinate)."""
    d = coordinates(manifold, position) - reference
    return jnp.concatenate([jnp.stack([row, row**2]) for row in d])


def products(f: Array) -> Array:
    """Return the products of all pairs of functionals."""
    first, second = np.triu_indices(f.shape[0])
    return f[first] * f[second]


def taken(
    sampler: TrajectorySampler, stage: Stage, key: Array, state: State, curve: TrajectorySums
) -> tuple[State, Info, TrajectorySums]:
    """Make a transition with the step size and the length whose turn it is, and measure it if it is time."""
    measuring, common = stage.measuring, stage.common
    reach = jnp.where(measuring, 12.0, 2.0).astype(stage.log_step.dtype)
    length = common(jnp.clip(jnp.ceil(reach / jnp.exp(stage.log_step)), 1, LONGEST).astype(jnp.int32))
    factor = common(jnp.where(measuring, stage.step % len(FACTORS), FACTORS.index(1.0)))
    counts = lambda seen: jnp.where(measuring, stage.mean(seen), 0)
    inner, info, added = transition(sampler, key, state, factor, stage.room, length, curve, counts)
    here = stage.mean(coordinates(sampler.manifold, inner.position))
    return inner, info, added._replace(reference=jnp.where(measuring, curve.reference, here))


def transition(
    sampler: TrajectorySampler,
    key: Array,
    state: State,
    factor: Array,
    most: Array,
    length: Array,
    curve: TrajectorySums,
    counts: Callable[[Array], Array],
) -> tuple[State, Info, TrajectorySums]:
    """Make a transition with the step times FACTORS[factor] (at `most`), and add what its trajectory shows to a curve.

    factor, length: the same for all chains; the transition ends at a uniformly chosen one of `length` steps
    counts: what is added of a number that a step shows: its average over chains, or 0 where nothing is measured yet.
        Added to the sums of this step size and length in place, it costs no more than the step, however many sums
        there are
    """
    velocity_key, end_key, accept_key = jax.random.split(key, 3)
    manifold, reference = sampler.manifold, curve.reference
    v = manifold.random_velocity(velocity_key, state.position)
    begin = Point(state.position, v, state.logdensity, state.gradient)
    h = leaves.scaled(sampler.steps(state), jnp.minimum(jnp.asarray(FACTORS, most.dtype)[factor], most))
    last = jax.random.randint(end_key, (), 0, length, jnp.int32)
    f0 = functionals(manifold, state.position, reference)

    def advance(i: Array, carry: tuple[Point, Point, TrajectorySums]) -> tuple[Point, Point, TrajectorySums]:
        point, end, curve = carry
        point = leapfrog(sampler.gradient, point, h)
        change = energy(begin) - energy(point)
        a = jnp.exp(jnp.minimum(change, 0))
        f1 = jnp.where(a > 0, functionals(manifold, point.position, reference), f0)
        middle = lambda before, after: (a * after + (2 - a) * before) / 2
        moved = a * products(f1 - f0), jnp.ones_like(a), middle(f0, f1), middle(products(f0), products(f1))
        seen = *moved, diverges(manifold, change, point).astype(a.dtype)
        sums = (added(old, counts(new), factor, i) for old, new in zip(curve[1:], seen, strict=True))
        return point, trees.where(i == last, point, end), TrajectorySums(reference, *sums)

    _, end, curve = jax.lax.fori_loop(0, length, advance, (begin, begin, curve))
    kept, info = sampler.decide(accept_key, state, begin, end, length.astype(jnp.int32))
    return kept, info, curve


def added(sums: Array, new: Array, factor: Array, i: Array) -> Array:
    """Return the sums with a number added to that of one step size and length."""
    at = (factor, i, *[jnp.zeros_like(i)] * new.ndim)
    old = jax.lax.dynamic_slice(sums, at, (1, 1, *new.shape))
    return jax.lax.dynamic_update_slice(sums, old + new[None, None], at)
