"""NUTS: the tree against a plain recursion that looks at every aligned subtree, and closed orbits."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.dynamics import u_turn
from orthodrome.dynamics.u_turn import End
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Sphere
from orthodrome.samplers.exact import geodesic_nuts
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.targets import Target
from support.exact_draws import uniform_directions
from support.quick import quick
from support.registry import TARGETS
from support.tilted_sphere import plain_orbit, tilted_sphere
from support.truth import LARGEST_BIAS, THRESHOLD, verdict

MAX_DEPTH = 6


# --- the plain recursion ---------------------------------------------------------------------------------------------


def span_turns(x: np.ndarray, v: np.ndarray, i: int, j: int) -> np.ndarray:
    """States i < j in time of each orbit (n, leaves, d): moving either end outward would shorten the chord."""
    chord = x[:, j] - x[:, i]
    return (np.sum(chord * v[:, i], axis=1) <= 0) | (np.sum(chord * v[:, j], axis=1) <= 0)


def whole_turns(x: np.ndarray, v: np.ndarray, i: int, j: int) -> np.ndarray:
    """The span i..j of one subtree, and the two that reach across its middle."""
    turned, middle = span_turns(x, v, i, j), (i + j + 1) // 2
    if j - i > 1:
        turned = turned | span_turns(x, v, i, middle) | span_turns(x, v, middle - 1, j)
    return turned


def completed(last: int) -> list[tuple[int, int]]:
    """The aligned subtrees of a half that its leaf number `last` completes."""
    sizes = [2**k for k in range(1, 20) if (last + 1) % 2**k == 0]
    return [(last - size + 1, last) for size in sizes]


def first_stop(x: np.ndarray, v: np.ndarray, turns: Any = whole_turns, trees: Any = completed) -> np.ndarray:
    """The leaf at which a half built of these states, in this order, is given up; their number if it never is."""
    stop = np.full(len(x), x.shape[1])
    for last in reversed(range(x.shape[1])):
        for i, j in trees(last):
            stop = np.where(turns(x, v, i, j), last, stop)
    return stop


# --- the bookkeeping -------------------------------------------------------------------------------------------------


def first_stop_of_package(x: jax.Array, v: jax.Array, forward: Any) -> jax.Array:
    def feed(kept: u_turn.Checkpoints, leaf: jax.Array) -> tuple[u_turn.Checkpoints, jax.Array]:
        end = End(x[leaf], v[leaf])
        turned = u_turn.turns_anywhere(jnp.asarray(1.0, x.dtype), kept, leaf, end, forward)
        return u_turn.keep(kept, leaf, end), turned

    kept = u_turn.empty(End(x[0], v[0]), MAX_DEPTH + 1)
    _, turned = jax.lax.scan(feed, kept, jnp.arange(len(x), dtype=jnp.uint32))
    return jnp.where(jnp.any(turned), jnp.argmax(turned), len(x))


def wandering(rng: np.random.Generator, leaves: int) -> tuple[np.ndarray, np.ndarray]:
    """Orbits that bend at every rate, with noise, so that they first turn in any of the subtrees."""
    bend, noise = 10 ** rng.uniform(-2.5, 0.3), 10 ** rng.uniform(-3, 0)
    angle = bend * np.arange(leaves) + rng.uniform(0, 6)
    v = np.stack([np.cos(angle), np.sin(angle), np.full(leaves, rng.normal() * 0.3)], axis=1)
    v += noise * rng.normal(size=v.shape)
    return np.cumsum(v, axis=0) + noise * rng.normal(size=v.shape), v


def wandering_orbits(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    orbits = [wandering(rng, 2**MAX_DEPTH) for _ in range(count)]
    return np.stack([x for x, _ in orbits]), np.stack([v for _, v in orbits])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("forward", quick([True, False], True))
def test_every_aligned_subtree_is_looked_at(forward: bool) -> None:
    """A forgotten, mistaken or additional subtree at any depth to 6 changes where some of 3,000 random orbits stop.

    Backward in time the states are met in the same order, with their velocities turned round.
    """
    x, v = wandering_orbits(int(forward), 3000)
    wanted = first_stop(x, v)
    time = jnp.asarray(1.0 if forward else -1.0)
    found = jax.jit(jax.vmap(lambda a, b: first_stop_of_package(a, time * b, time > 0)))(x, v)
    np.testing.assert_array_equal(found, wanted)
    sizes = [int((n + 1) & -(n + 1)) for n in wanted if n < 2**MAX_DEPTH]
    assert all(sizes.count(2**k) > 20 for k in range(1, MAX_DEPTH + 1)), (
        "the orbits must stop at subtrees of every size"
    )


def test_the_recursion_sees_what_a_whole_span_alone_would_miss() -> None:
    """The control: without the spans across the middle, or without the inner subtrees, the answers differ."""
    x, v = wandering_orbits(3, 1000)
    every = first_stop(x, v)
    assert np.mean(every != first_stop(x, v, turns=span_turns)) > 0.01
    assert np.mean(every != first_stop(x, v, trees=lambda last: completed(last)[-1:])) > 0.01


# --- the whole tree --------------------------------------------------------------------------------------------------

PERSISTENCE = 0.7


def plain_tree(x: np.ndarray, v: np.ndarray, directions: int) -> tuple[int, int]:
    """(depth, leapfrogs) of NUTS on one orbit (1, leaves, 3) that is known far enough on either side of its middle."""
    left = right = 2**MAX_DEPTH
    leapfrogs = 0
    for depth in range(MAX_DEPTH):
        size, forward = 2**depth, (directions >> depth) & 1
        new = slice(right + 1, right + size + 1) if forward else slice(left - size, left)
        half = (x[:, new], v[:, new]) if forward else (x[:, new][:, ::-1], -v[:, new][:, ::-1])
        stop = int(first_stop(*half)[0])
        if stop < size:
            return depth, leapfrogs + stop + 1
        leapfrogs += size
        left, right = (left, right + size) if forward else (left - size, right)
        if whole_turns(x, v, left, right)[0]:
            return depth + 1, leapfrogs
    return MAX_DEPTH, leapfrogs


@jax.jit
def transitions(sampler: GeodesicNUTS, x0: jax.Array) -> Any:
    step = lambda i, x: sampler.step(jax.random.fold_in(jax.random.key(4), i), sampler.init(x))[1]
    return jax.vmap(step)(jnp.arange(len(x0)), x0)


@jax.jit
def its_choices(x0: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The velocity and the directions that a transition draws first."""

    def one(i: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        velocity_key, direction_key, _ = jax.random.split(jax.random.fold_in(jax.random.key(4), i), 3)
        directions = geodesic_nuts._directions(direction_key, jnp.asarray(PERSISTENCE, x.dtype), MAX_DEPTH)
        return Sphere().random_velocity(velocity_key, x), directions

    return jax.vmap(one)(jnp.arange(len(x0)), x0)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("apart", [1, 3])
def test_the_tree_is_the_recursions(apart: int) -> None:
    """Depth and number of leapfrogs, one for one, of 150 transitions at steps that make trees of every depth.

    apart: the leapfrogs from leaf to leaf; the recursion sees the leaves only
    """
    x0 = uniform_directions(np.random.default_rng(1), 150, 3)
    v0, directions = (np.asarray(a) for a in its_choices(x0))
    depths = set()
    for h in (0.9, 0.35, 0.12, 0.03):
        gradient = FullGradient(Target(Sphere(), tilted_sphere))
        settings = {"max_depth": MAX_DEPTH, "persistence": PERSISTENCE, "leaf_steps": np.int32(apart)}
        info = transitions(GeodesicNUTS(gradient, h / apart, **settings), x0)
        every = [plain_orbit(x0, v0, s * h / apart, apart * 2**MAX_DEPTH) for s in (1, -1)]
        ahead, behind = ([a[:, apart - 1 :: apart] for a in states] for states in every)
        x, v = (
            np.concatenate([b[:, ::-1], o[:, None], a], axis=1) for a, b, o in zip(ahead, behind, (x0, v0), strict=True)
        )
        trees = [plain_tree(x[i : i + 1], v[i : i + 1], int(directions[i])) for i in range(len(x0))]
        wanted = [(depth, apart * leapfrogs) for depth, leapfrogs in trees]
        found = list(zip(info.tree_depth.tolist(), info.n_steps.tolist(), strict=True))
        assert found == wanted
        depths |= {depth for depth, _ in wanted}
    assert depths >= set(range(1, MAX_DEPTH + 1))


@pytest.mark.usefixtures("x64")
def test_a_limit_of_the_depth_is_a_smaller_tree_in_the_same_room() -> None:
    """Transition for transition what `max_depth` does, whose law the tests of every law hold; another limit differs."""
    x0 = uniform_directions(np.random.default_rng(1), 150, 3)
    gradient = FullGradient(Target(Sphere(), tilted_sphere))
    limited = lambda limit: GeodesicNUTS(gradient, 0.12, MAX_DEPTH, np.int32(limit))
    found = {limit: transitions(limited(limit), x0) for limit in (2, 3, MAX_DEPTH + 5)}
    for limit, depth in ((2, 2), (MAX_DEPTH + 5, MAX_DEPTH)):
        wanted = transitions(GeodesicNUTS(gradient, 0.12, depth), x0)
        for a, b in zip(found[limit], wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    assert int(found[2].tree_depth.max()) == 2 and int(found[3].tree_depth.max()) == 3


# --- persistent directions ------------------------------------------------------------------------------------------


def directions_from(member: int, depth: int) -> list[bool]:
    """Of the doublings that build the trajectory of 2^depth leaves 0, 1, ... from one of them; True: forward."""
    return [member >> k & 1 == 0 for k in range(depth)]


def chain(directions: list[bool], p: float) -> float:
    """The probability of these directions."""
    return 0.5 * float(np.prod([p if a == b else 1 - p for a, b in itertools.pairwise(directions)]))


@pytest.mark.usefixtures("x64")
def test_leaves_have_the_probability_of_the_directions_that_lead_from_them() -> None:
    """The new half is the right one, or, counted from the boundary and so turned round, the left one."""
    p = 0.8
    for depth in range(5):
        leaves = np.arange(2**depth)
        found = geodesic_nuts._log_persistence(jnp.asarray(p), jnp.asarray(leaves, "uint32"), jnp.uint32(depth))
        for member in (leaves + 2**depth, 2**depth - 1 - leaves):
            wanted = [chain(directions_from(int(m), depth + 1), p) for m in member]
            np.testing.assert_allclose(np.exp(found) / 2, wanted, rtol=1e-12)


def test_directions_are_a_chain() -> None:
    """Equal neighbours with the probability p, at every depth, and each direction as often as the other."""
    draw = jax.vmap(lambda i: geodesic_nuts._directions(jax.random.fold_in(jax.random.key(2), i), jnp.float32(0.8), 8))
    bits = np.asarray(draw(jnp.arange(20_000)))[:, None] >> np.arange(8) & 1
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(20_000)
    same = bits[:, 1:] == bits[:, :-1]
    assert np.abs(same.mean(axis=0) - 0.8).max() < 5 * 0.4 / np.sqrt(20_000)
    assert np.abs(np.corrcoef(same.T) - np.eye(7)).max() < 5 / np.sqrt(20_000)


def persistent(law: Any, limit: int, max_depth: int = 5) -> GeodesicNUTS:
    return GeodesicNUTS(FullGradient(law.target()), law.step, max_depth, np.int32(limit), np.float32(0.85))


@pytest.mark.parametrize("limit", quick([2, 5], 2, 5))
def test_persistent_trees_keep_the_law(limit: int) -> None:
    """At a limit of two doublings, and as the U-turn ends them."""
    law = TARGETS["vmf-3"]
    found = verdict(law, persistent(law, limit), 20_000, "float32")
    assert found.passes, found


@pytest.mark.parametrize("defect", ["leaves", "halves"])
def test_a_forgotten_probability_of_directions_is_caught(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: leaves that all weigh the same in q, or halves that forget the direction that was given up.

    Each has a `max_depth` of its own, as JAX would take the compiled transitions of another test.
    """
    if defect == "leaves":
        none = lambda persistence, leaf, depth: jnp.zeros_like(persistence)
        monkeypatch.setattr(geodesic_nuts, "_log_persistence", none)
    else:
        monkeypatch.setattr(geodesic_nuts, "_weighted", lambda half, persistence, same, done: half)
    law = TARGETS["vmf-3"]
    found = verdict(law, persistent(law, 5, 6 if defect == "leaves" else 7), 20_000, "float32")
    assert np.abs(found.z).max() > 2 * THRESHOLD, found


# --- closed orbits ---------------------------------------------------------------------------------------------------


def nearly_uniform(p: jax.Array) -> jax.Array:
    return 0.05 * jnp.sum(p[:, 0])


@pytest.mark.slow
def test_twenty_spheres_near_the_uniform_law() -> None:
    """Orbits close at incommensurate times; half a turn is 2.2 long, 8 leaves. Deep trees are rare, and the law is
    right.

    E p_0 = 0.05 / 3 and E p_i^2 = 1/3 per sphere (to 1e-4). Seen with 98 %: 2 % of a standard deviation of
    each, because the twenty spheres are alike.
    """
    sampler = GeodesicNUTS(FullGradient(Target(Sphere(), nearly_uniform)), 0.3, max_depth=7)
    chains, steps, like = 420, 10, jax.ShapeDtypeStruct((20, 3), "float32")

    def one(chain: jax.Array) -> Any:
        key = jax.random.fold_in(jax.random.key(8), chain)

        def step(state: Any, t: jax.Array) -> tuple[Any, Any]:
            state, info = sampler.step(jax.random.fold_in(key, t), state)
            return state, (state.position, info.tree_depth, info.diverging)

        first = sampler.init(Sphere().random_point(jax.random.fold_in(key, 1000), like))
        return jax.lax.scan(step, first, jnp.arange(steps))[1]

    p, depth, diverging = (np.asarray(a) for a in jax.jit(jax.vmap(one))(jnp.arange(chains)))
    assert 3 <= depth.mean() <= 4.5 and np.mean(depth > 5) < 0.05 and np.mean(depth == 7) < 0.02
    assert not diverging.any()
    f = np.stack([p[..., 0] - 0.05 / 3, p[..., 1], p[..., 2], p[..., 0] ** 2 - 1 / 3, p[..., 1] ** 2 - 1 / 3])
    means, sd = f.mean(axis=(2, 3)), np.sqrt([1 / 3, 1 / 3, 1 / 3, 4 / 45, 4 / 45])
    error = means.std(axis=1) / np.sqrt(chains)
    assert np.abs(means.mean(axis=1) / error).max() < THRESHOLD
    assert ((THRESHOLD + 2) * error / sd).max() < LARGEST_BIAS
