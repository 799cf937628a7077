"""The no-U-turn sampler with steps that adapt within the orbit, along geodesics: WALNUTS on any manifold and product.

A leaf of the tree of `GeodesicNUTS` is reached by one macro step, of length h: 2^l micro steps, geodesic leapfrogs of
length h / 2^l, with the smallest level l along which the energy stays within `max_error`,

    max H - min H <= max_error    over the 2^l + 1 states of the macro step,

or `max_halvings` if none does (Bou-Rabee, Carpenter, Kleppe & Liu 2025, "The within-orbit adaptive leapfrog no-U-turn
sampler", arXiv 2506.18746, with the level that is smallest chosen with certainty). So a funnel's neck is met with short
steps and the rest with long ones, in one trajectory.

Beside a wall, where densities go like w^c, H does not stay within any bound, however short the micro steps: where a
trajectory crosses, its state nearest to the wall lands anywhere within a micro step e of it, and at the distance w < e
H is higher than at its neighbours by some c log(e / w). Whether a level passes is then chance; from the other end
another one passes, and the step cannot be reversed. But forces are softened over one micro step
(`dynamics.soft_walls`), and the energy of the potential that they belong to is kept as it is where the density is
smooth. So a level passes too if that energy stays within the bound along it. Where there is no wall the two are the
same.

Why the law is exact. Whether a level passes is a function of the set of states of its micro steps. Let G_l be the 2^l
micro steps of level l, which is reversible (F G_l F G_l = 1, F turns the velocity round) and keeps the volume, and l(z)
the level chosen at z. From z one comes to z' = G_l(z), l = l(z). Back from z', with its velocity turned round, the
states of level l are the same ones in the other order, so l passes there too, and l(F z') <= l: it is l unless a lower
level passes from z', as happens where the lower level's errors differ between the two ways. If the orbit is drawn with
the weights of its growth, a state z' behind such a step has the weight exp(-H(z')) P(l | F z') / P(l | z) = 0 relative
to z: nothing behind it can be drawn. Here the half that is growing is given up at such a step, as it is where it turns
back; which of its steps can be reversed is a function of the half's states alone, the same from either end. The steps
that remain can all be reversed, so that on them "one macro step on" and "one macro step back" are inverse bijections
that keep the volume, and the trajectory is a set of states of one orbit of these. From there on the proof is that of
`geodesic_nuts`, word for word.

(Left out, the test of the way back gives states whose step cannot be reversed a weight that they do not have: the
tests see it.) A step at level 0 needs no test, so where the density is smooth a leaf costs one gradient, as it does in
NUTS; at level l it costs at most 2^(l + 1) - 1 forward and 2^l - 1 to see that no lower level passes on the way back,
and mostly far fewer, since a level is given up at its first state beyond `max_error`. One loop takes all micro steps,
one gradient a turn.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import DIVERGENT_ENERGY, Point, energy, largest_step, leapfrog
from orthodrome.dynamics.soft_walls import raised
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.samplers.contract import ExactGradientSampler
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS, Growth, NUTSState, Trajectory
from orthodrome.samplers.exact.macro_step import Macro, first, following
from orthodrome.samplers.learnt import Learnt

MOST_HALVINGS = 23
"""The largest number of halvings: micro steps then have the size of a step's rounding error in float32."""


class WALNUTSInfo(NamedTuple):
    """What one transition did.

    lp: the log density
    acceptance_rate: the mean acceptance probability over the trajectory, had every leaf been reached by one step
    diverging: whether the energy error was too large or non-finite, at the last level too
    energy: H at the new state
    n_steps: micro steps, those of levels that were given up and of ways back included
    tree_depth: the number of doublings
    finest: the largest level of a step that was taken
    irreversible: whether a step that cannot be reversed ended the growth
    step_size: the largest macro step of all leaves
    """

    lp: Array
    acceptance_rate: Array
    diverging: Array
    energy: Array
    n_steps: Array
    tree_depth: Array
    finest: Array
    irreversible: Array
    step_size: Array


class Orbit(NamedTuple):
    """The trajectory, the macro step under way (`waiting`: none is), and sums over macro steps for `info`."""

    tree: Trajectory
    macro: Macro
    waiting: Array
    n_steps: Array
    sum_acceptance: Array
    tried: Array
    finest: Array
    irreversible: Array


@pytree
class GeodesicWALNUTS(ExactGradientSampler):
    """The no-U-turn sampler along exact geodesics whose steps adapt within each trajectory (WALNUTS).

    For funnels; where steps need not change, at walls and poles of the density too, `GeodesicNUTS` takes fewer
    gradients.

    gradient: an exact estimator (`FullGradient`)
    step_size: h, of a macro step: a number, or a tree with one per leaf (per element on flat leaves); None: learnt in
        warm-up
    max_error: delta in the paper, by how much the energy (H, or that of softened forces) may vary along a macro step
    max_depth: the trajectory has at most 2^max_depth leaves
    max_halvings: the largest level: micro steps are at least h / 2^max_halvings
    """

    gradient: GradientEstimator
    step_size: Setting = None
    max_error: Setting = 0.3
    max_depth: int = static(default=10)
    max_halvings: int = static(default=8)
    compiled: bool = static(default=True)

    def tuned(self, learnt: Learnt) -> GeodesicWALNUTS:
        """Return the sampler with the step."""
        return replace(self, step_size=learnt.step_size)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if not float(self.max_error) > 0:
            return f"max_error is {self.max_error}; it must be above 0, such as 0.3"
        if self.max_halvings > MOST_HALVINGS:
            return f"max_halvings is {self.max_halvings}; give at most {MOST_HALVINGS}: no step can be finer in float32"
        return None

    def init(self, position: object, key: Array | None = None) -> NUTSState:
        """Return the state at an embedded position."""
        return self._nuts.init(position)

    def step(self, key: Array, state: NUTSState) -> tuple[NUTSState, WALNUTSInfo]:
        """Draw a velocity, grow the tree by macro steps until it turns back, keep one of its states."""
        growth, tree = self._nuts.begin(key, state)
        orbit = self._begin(growth, tree)
        orbit = jax.lax.while_loop(lambda orbit: ~orbit.tree.done, lambda orbit: self._turn(growth, orbit), orbit)
        return orbit.tree.chosen.state, self._info(orbit)

    @property
    def _nuts(self) -> GeodesicNUTS:
        return GeodesicNUTS(self.gradient, self.step_size, self.max_depth)

    def _begin(self, growth: Growth, tree: Trajectory) -> Orbit:
        start, zero = tree.moving, jnp.zeros_like(growth.energy)
        none, no = jnp.zeros((), jnp.uint32), jnp.zeros((), bool)
        both = jnp.zeros((2,), zero.dtype)
        macro = Macro(start, start, start, both, both, none, none, no)
        return Orbit(tree, macro, ~no, none, zero, none, none, no)

    def _turn(self, growth: Growth, orbit: Orbit) -> Orbit:
        """Take one micro step, and what follows from it: go on, another level, the way back, or a leaf."""
        m = trees.where(orbit.waiting, first(growth.origin(orbit.tree), orbit.macro), orbit.macro)
        micro = leaves.scaled(growth.h, _share(growth, orbit.tree, m))
        m = trees.where(m.taken == 0, m.seen(self._energies(m.at, micro)), m)
        point = leapfrog(self.gradient, m.at, micro)
        m = m.seen(self._energies(point, micro))._replace(at=point, taken=m.taken + 1)
        over, last = m.varies(self.max_error), m.level == self.max_halvings
        whole, relative = m.taken == jnp.uint32(1) << m.level, growth.energy - energy(m.at)
        arrived = ~m.back & whole & (~over | last)
        irreversible = m.back & whole & ~over
        lost = ~m.back & ((last & ~(relative > -DIVERGENT_ENERGY)) | jnp.isposinf(m.at.logdensity))
        leaf = lost | (arrived & ~_needs_way_back(m.level)) | (m.back & over & (m.level == 0))
        single = ~m.back & (m.level == 0)
        tree = orbit.tree._replace(n_steps=orbit.n_steps)
        tree = trees.where(leaf, self._nuts.joined(growth, tree, trees.where(m.back, m.end, m.at)), tree)
        return Orbit(
            tree._replace(done=tree.done | irreversible),
            following(m, arrived, over & ~(last & ~m.back)),
            leaf,
            orbit.n_steps + 1,
            orbit.sum_acceptance + jnp.where(single, jnp.exp(jnp.minimum(relative, 0)), 0),
            orbit.tried + single.astype(orbit.tried.dtype),
            jnp.where(arrived, jnp.maximum(orbit.finest, m.level), orbit.finest),
            orbit.irreversible | irreversible,
        )

    def _energies(self, point: Point, micro: Tree) -> Array:
        """Return H and the energy of the forces softened for micro steps of this size: they differ beside walls."""
        h = energy(point)
        return jnp.stack([h, h - raised(self.gradient.manifold, point.position, point.gradient, micro)])

    def _info(self, orbit: Orbit) -> WALNUTSInfo:
        chosen = orbit.tree.chosen
        return WALNUTSInfo(
            lp=chosen.state.logdensity,
            acceptance_rate=orbit.sum_acceptance / orbit.tried.astype(orbit.sum_acceptance.dtype),
            diverging=orbit.tree.diverging,
            energy=chosen.energy,
            n_steps=orbit.n_steps.astype(jnp.int32),
            tree_depth=orbit.tree.depth.astype(jnp.int32),
            finest=orbit.finest.astype(jnp.int32),
            irreversible=orbit.irreversible,
            step_size=largest_step(self.step_size),
        )


def _share(growth: Growth, tree: Trajectory, m: Macro) -> Array:
    """Return the next micro step as a share of the macro step, negative backward in time."""
    size = 1 / (jnp.uint32(1) << m.level).astype(growth.energy.dtype)
    return growth.sign(tree) * jnp.where(m.back, -size, size)


def _needs_way_back(level: Array) -> Array:
    """Return whether a step of this level must be shown to be the one that would be taken back: no level is lower than
    0."""
    return level > 0
