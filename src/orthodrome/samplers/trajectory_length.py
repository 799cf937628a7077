"""How long a trajectory should be, learnt from how fast it forgets.

One trajectory of geodesic leapfrogs shows every shorter one on its way. For a coordinate x of the user's let f = (x,
x^2), and where the embedded coordinate y is another one (a log, a root), f = (x, x^2, y, y^2). Let C = cov f, and for
l steps of size h, accepted with probability a = min(1, exp(H_0 - H_l)),

    J(l, h) = E[a (f(x_l) - f(x_0)) (f(x_l) - f(x_0))'] / 2 = C - cov(f at a draw, f at the next).

If the chain keeps the span of f, the variance of the average of c'f over n draws is c'(2 C J^-1 C - C) c / n. (For one
functional that is the familiar var (1 + rho) / (1 - rho).) The expectations are averages over the last part of warm-up
and all chains, for a few step sizes around the one that dual averaging found. The pair (h, l) wins that knows the mean
and the standard deviation of x best after a given number of gradients: the larger of their two errors, in the worst
coordinate, counts (the error of the standard deviation s is that of s^2 over 2 s). Unlike a rule that looks at one
functional (ChEES: the squared distance from the mean) it sees antithetic moves, which are worth having; looking at
both together it sees the spread that an antithetic move does not mix, also where x^2 is nearly linear in x; and y
remembers what x forgets: a weight that is nearly 0 stays so for as long as its log is far down.

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
from orthodrome.manifolds.product import per_leaf
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


class Curve(NamedTuple):
    """Sums over trajectories. f: d and d^2 for each coordinate d = x - reference, and the same of y if it is another.

    jumps: of the products of the accepted changes of f, by (step size, length, pair of functionals, coordinate)
    visits: how often a length was seen
    means, products: of f and of its products at the draws, by (functional or pair, coordinate)
    """

    reference: Array
    jumps: Array
    visits: Array
    means: Array
    products: Array
    draws: Array


def start(manifold: Manifold, position: Tree) -> Curve:
    """An empty curve, about the coordinates of a position."""
    z = coordinates(manifold, position)
    num_functionals, n = 2 * z.shape[0], z.shape[1]
    num_pairs = num_functionals * (num_functionals + 1) // 2
    return Curve(
        reference=z,
        jumps=jnp.zeros((len(FACTORS), LONGEST, num_pairs, n), z.dtype),
        visits=jnp.zeros((len(FACTORS), LONGEST), z.dtype),
        means=jnp.zeros((num_functionals, n), z.dtype),
        products=jnp.zeros((num_pairs, n), z.dtype),
        draws=jnp.zeros((), z.dtype),
    )


def coordinates(manifold: Manifold, position: Tree) -> Array:
    """Some of the user's coordinates, one row; and a row of their embedded ones if some leaf's are not the same."""
    user = _some(manifold.to_user(position), position)
    others = per_leaf(manifold, lambda m, a: a if _renamed(m, a) else jnp.zeros_like(m.to_user(a)), position)
    renamed = jax.tree.leaves(per_leaf(manifold, _renamed, position))
    return jnp.stack([user, _some(others, position)] if any(renamed) else [user])


def _renamed(manifold: Manifold, x: Array) -> bool:
    """Whether the user's coordinates are other functions, one by one, of the embedded ones."""
    same = type(manifold).to_user is Manifold.to_user
    return not same and jax.eval_shape(manifold.to_user, x).shape == x.shape


def _some(tree: Tree, position: Tree) -> Array:
    every = jnp.concatenate([leaf.ravel().astype(trees.real_dtype(position)) for leaf in jax.tree.leaves(tree)])
    return every[np.unique(np.linspace(0, every.size - 1, min(PROBES, every.size)).astype(int))]


def functionals(manifold: Manifold, position: Tree, reference: Array) -> Array:
    """f, by (functional, coordinate)."""
    d = coordinates(manifold, position) - reference
    return jnp.concatenate([jnp.stack([row, row**2]) for row in d])


def products(f: Array) -> Array:
    """The products of all pairs of functionals."""
    first, second = np.triu_indices(f.shape[0])
    return f[first] * f[second]


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
    f0 = functionals(manifold, state.position, reference)
    empty = start(manifold, state.position)

    def advance(i: Array, carry: tuple[Point, Point, Curve]) -> tuple[Point, Point, Curve]:
        point, end, curve = carry
        point = leapfrog(sampler.gradient, point, h)
        accepted = jnp.exp(jnp.minimum(energy(begin) - energy(point), 0))
        by = functionals(manifold, point.position, reference) - f0
        jumps = jnp.where(accepted > 0, accepted * products(by), 0)
        curve = curve._replace(jumps=curve.jumps.at[factor, i].set(jumps), visits=curve.visits.at[factor, i].set(1))
        return point, trees.where(i == last, point, end), curve

    _, end, curve = jax.lax.fori_loop(0, length, advance, (begin, begin, empty))
    kept, info = sampler.decide(accept_key, state, begin, end, length.astype(jnp.int32))
    curve = curve._replace(means=f0, products=products(f0), draws=jnp.ones_like(curve.draws))
    return kept, info, curve


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


def add(one: Curve, other: Curve, pool: Any) -> Curve:
    """Sum of a curve and the chains' average of another, about the reference of the first."""
    return jax.tree.map(lambda a, b: a + pool(b), one, other)._replace(reference=one.reference)
