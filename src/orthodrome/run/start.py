"""From `start` to the first state of every chain, in one compiled program that also computes what the doors check.

`start` is one chain's position in the user's coordinates (all chains share it), a list with one per chain, or a tree of
`jax.ShapeDtypeStruct` that asks for random points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.programs import QUICK_TO_COMPILE, compiled_with
from orthodrome.core.types import State, Tree
from orthodrome.doors.settings import Probe
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf
from orthodrome.run.loop import start_keys
from orthodrome.samplers.contract import Sampler
from orthodrome.targets import Posterior, Target


class Look(NamedTuple):
    """What the doors check at the start of one chain.

    distance: of each leaf from its manifold
    logdensity, gradient: at the start (gradient: whether each leaf's is finite); None if the sampler shows no density
    moves: whether each leaf can leave the start along a geodesic (None where the flow is exact)
    """

    distance: Tree
    logdensity: Any
    gradient: Any
    moves: Tree


def first_states(
    sampler: Sampler, probe: Probe, key: Array, chains: Any, positions: Tree, *, random: bool, with_state: bool = True
) -> tuple[Tree, State, Look]:
    """Return the embedded position, the state and the `Look` of each chain; `probe` evaluates the density.

    Without `with_state` the key of `init` stands for the state: the sampler is not compiled, and Python calls `init`.
    """
    program = _compiled()
    found: tuple[Tree, State, Look] = program(
        sampler, probe, key, chains, positions, random=random, with_state=with_state
    )
    return found


def _first_states(
    sampler: Sampler, probe: Probe, key: Array, chains: Array, positions: Tree, *, random: bool, with_state: bool
) -> tuple[Tree, State, Look]:
    def one(chain: Array, p: Tree) -> tuple[Tree, State, Look]:
        point_key, init_key, look_key = start_keys(key, chain)
        x = sampler.manifold.random_point(point_key, p) if random else sampler.manifold.from_user(p)
        state = jax.tree.map(_strong, sampler.init(x, init_key)) if with_state else init_key
        seen = look(sampler.manifold, probe, look_key, x)
        return x, state, seen if random else seen._replace(distance=_with_gap(sampler.manifold, seen.distance, x, p))

    return jax.vmap(one, axis_name="chains")(chains, positions)


_compiled = compiled_with(QUICK_TO_COMPILE, _first_states, static_argnames=("random", "with_state"))


def look(manifold: Manifold, probe: Probe, key: Array, x: Tree) -> Look:
    """Return what the doors check at one embedded start."""
    ask_key, move_key = jax.random.split(key)
    logdensity, gradient = _ask(probe, ask_key, x)
    finite = jax.tree.map(lambda g: jnp.all(jnp.isfinite(g)), gradient)
    return Look(per_leaf(manifold, lambda m, a: m.distance(a), x), logdensity, finite, _moves(manifold, move_key, x))


def _with_gap(manifold: Manifold, distance: Tree, x: Tree, p: Tree) -> Tree:
    """Return the distance, or the gap to the given start if `from_user` changed it (weights that do not sum to 1)."""
    gap = jax.tree.map(lambda user, given: jnp.max(jnp.abs(user - given), initial=0), manifold.to_user(x), p)
    return jax.tree.map(jnp.maximum, distance, gap)


def _ask(probe: Probe, key: Array, x: Tree) -> tuple[Any, Any]:
    if isinstance(probe, Target | Posterior):  # of a sampler that follows no gradient: there may be none
        return probe.embedded_logdensity(x), None
    if isinstance(probe, GradientEstimator):
        estimate, _ = probe.estimate(key, x, probe.init(x))
        return estimate.logdensity, estimate.gradient
    return None, None


def _moves(manifold: Manifold, key: Array, x: Tree) -> Tree:
    def one_leaf(m: Manifold, a: Array, u: Array) -> Any:
        y, w = m.geodesic(a, m.project(a, u), jnp.asarray(1e-3, a.dtype)) if not m.exact_flow else (a, u)
        return None if m.exact_flow else jnp.all(jnp.isfinite(y)) & jnp.all(jnp.isfinite(w))

    return per_leaf(manifold, one_leaf, x, manifold.random_velocity(key, x))


def _strong(leaf: Any) -> Array:
    """Return the array without JAX's weak type, which the first step would drop: the loop would be compiled twice."""
    return jax.lax.convert_element_type(leaf, jnp.result_type(leaf))


def bytes_per_draw(positions: Tree) -> int:
    """Return the bytes of one draw of one chain, an upper bound."""
    return sum(leaf.nbytes // leaf.shape[0] for leaf in jax.tree.leaves(positions))
