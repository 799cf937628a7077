"""The no-U-turn sampler along geodesics, on any manifold and product.

From a state (x, v), v standard normal in the tangent space, the trajectory of geodesic leapfrogs is doubled forward
or backward at random until it turns back (`u_turn`, in the embedding), and a state is drawn from it in proportion
to q exp(-H) with q from below: uniformly within each new half, biased toward the new half between halves (Hoffman &
Gelman 2014; Betancourt 2017).

Why the law is exact. The leapfrog is reversible and keeps the volume of the tangent bundle, so the set T of states
of a trajectory of 2^j leaves is a set of points of one orbit with weights exp(-H). Given any member of T there is
exactly one sequence of j directions that builds T from it, so T is built from it with the probability q(member) of
these directions if the growth would not have stopped earlier, which is asked of every aligned subtree of T (the same
subtrees, whatever member one starts from) and of nothing else: the test is a function of the subtree's states,
symmetric in time. There is no other cap than `max_depth` and `depth_limit`, which are constants. (A leaf whose energy
is 1000 above the start's ends the growth, as everywhere in the field: the one test that looks at the start. It can
matter only between states whose weights differ by exp(-1000), which is zero in both precisions.) Drawing from T in
proportion to q exp(-H) therefore leaves exp(-H) invariant; the biased draw between halves is a Metropolis step between
the two halves of T with the same stationary weights.

Directions. With fair coins q = 2^-j is the same for all members and drops out: the usual sampler. Here each direction
may be that of the one before with the probability `persistence`, p. Then q favours members near the ends of T, of which
the draw takes the far one: on average it moves further than the half of T that is the most with equal weights, as does
Hamiltonian Monte Carlo, which p -> 1 becomes, while every length below is drawn too. A member of the left half of T was
left behind by a forward direction. So in T, if the growth ends with it,

    q(member) = (1/2) p^(equal neighbours) (1 - p)^(changes)     in the binary digits of its number in T;

and if another doubling is tried from T, in direction d, and given up, d was drawn too: q has a factor more, p for the
members of the half of T that d leads away from (their last direction was d), 1 - p for those of the other half. That
factor is in the weights of the two halves when they are joined, and then in the draw. If the doubling succeeds these
weights are those of one half of a larger T, and the digits of the new half's members have one more place, in which they
differ from the old half: each half has the weights q exp(-H) of T at any time, which is all that was asked.

Leaves. Neighbouring leaves may be several leapfrogs apart, m = `leaf_steps`. With L one leapfrog and F the reversal of
the velocity, F L F = L^-1; so M = L^m, the map from leaf to leaf, has F M F = (F L F)^m = M^-1, and it keeps the volume
as L does. All of the above uses no more of the leapfrog than this, so it holds for the orbits of M, with any
persistence, since q counts leaves. The number m must be the same everywhere: if it depended on the position, the map
from leaf to leaf would not be inverted by a step back. The states on the way to a leaf are not members of the orbit:
they have no weight, no U-turn is tested there, and only the energy of leaves counts as a divergence (a state on the way
that is not finite makes the leaf behind it non-finite, which ends the growth). The spans of the U-turn test grow by
whole leaves, so an orbit that closes within fewer than four of them may slip through: that wastes gradients, but the
law is the same. With a limit of one doubling there are two leaves, and the biased draw between them is the Metropolis
test: the sampler is then Hamiltonian Monte Carlo with m steps.

All doublings run in one flat loop, one leaf a turn, so that chains under vmap wait only for the longest trajectory and
not for the longest at every depth, and the density stands in the program once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.dynamics.u_turn as u_turn
from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import DIVERGENT_ENERGY, Point, diverges, energy, largest_step, leapfrog
from orthodrome.dynamics.u_turn import Checkpoints, End
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.samplers.contract import ExactGradientSampler
from orthodrome.samplers.learnt import Learnt


class NUTSState(NamedTuple):
    """A position with its log density and ambient gradient."""

    position: Tree
    logdensity: Array
    gradient: Tree


class NUTSInfo(NamedTuple):
    """What one transition did.

    lp: the log density
    acceptance_rate: the mean acceptance probability over the trajectory
    diverging: whether the energy error was too large or non-finite
    energy: H at the new state
    n_steps: leapfrog steps, those on the way to a leaf included
    tree_depth: the number of doublings
    step_size: the largest step of all leaves
    """

    lp: Array
    acceptance_rate: Array
    diverging: Array
    energy: Array
    n_steps: Array
    tree_depth: Array
    step_size: Array


class Candidate(NamedTuple):
    """A state drawn from a set of leaves, with the log of the set's weight relative to the start."""

    state: NUTSState
    energy: Array
    log_weight: Array


class Trajectory(NamedTuple):
    """The trajectory so far, and the half that is growing."""

    left: Point
    right: Point
    chosen: Candidate
    depth: Array
    moving: Point
    leaf: Array
    growing: Candidate
    kept: Checkpoints
    done: Array
    diverging: Array
    sum_acceptance: Array
    n_steps: Array


class Growth(NamedTuple):
    """What is drawn before a trajectory grows, and the energy of its start.

    key: of the choices between leaves
    directions: of the doublings, a bit each (1: forward)
    """

    key: Array
    directions: Array
    persistence: Array
    h: Tree
    energy: Array

    def goes(self, depth: Array) -> Array:
        """Return whether the doubling of a trajectory of this depth goes forward."""
        return (self.directions >> depth) & 1 == 1

    def forward(self, tree: Trajectory) -> Array:
        """Return whether the half that is growing goes forward."""
        return self.goes(tree.depth)

    def sign(self, tree: Trajectory) -> Array:
        """Return 1 forward and -1 backward, in the dtype of energies."""
        return jnp.where(self.forward(tree), 1, -1).astype(self.energy.dtype)

    def origin(self, tree: Trajectory) -> Point:
        """Return the state from which the next leaf is reached."""
        return trees.where(tree.leaf == 0, trees.where(self.forward(tree), tree.right, tree.left), tree.moving)


@pytree
class GeodesicNUTS(ExactGradientSampler):
    """The no-U-turn sampler along exact geodesics, which needs no trajectory length.

    gradient: an exact estimator (`FullGradient`)
    step_size: a number, or a tree with one per leaf (per element on flat leaves); None: learnt in warm-up
    max_depth: the trajectory has at most 2^max_depth leaves
    depth_limit: a smaller limit of the depth, a number; None: learnt in warm-up, if the step is
    persistence: the probability that a doubling has the direction of the one before, above 0 and below 1; None: learnt
        with the limit, else 1/2
    leaf_steps: the number of leapfrog steps between neighbouring leaves; None: learnt with the limit, else 1
    """

    gradient: GradientEstimator
    step_size: Setting = None
    max_depth: int = static(default=10)
    depth_limit: Setting = None
    persistence: Setting = None
    leaf_steps: Setting = None
    compiled: bool = static(default=True)

    @property
    def learns(self) -> frozenset[str]:
        """The step, the units and, unless it is set, the limit of the depth (with the persistence and the steps from
        leaf to leaf) if `step_size` is None."""
        return super().learns | ({"depth"} if self.step_size is None and self.depth_limit is None else set())

    def tuned(self, learnt: Learnt) -> GeodesicNUTS:
        """Return the sampler with the step and, where they were learnt and are not set, what shapes the trees."""
        limit = self.depth_limit if learnt.depth_limit is None else learnt.depth_limit
        return replace(
            self,
            step_size=learnt.step_size,
            depth_limit=limit,
            persistence=learnt.persistence if self.persistence is None else self.persistence,
            leaf_steps=learnt.leaf_steps if self.leaf_steps is None else self.leaf_steps,
        )

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if self.persistence is not None and not 0 < float(self.persistence) < 1:
            return f"persistence is {self.persistence}; it is a probability above 0 and below 1, such as 0.5"
        if self.depth_limit is not None and not float(self.depth_limit) >= 1:
            return f"depth_limit is {self.depth_limit}; a trajectory has at least 1 doubling"
        return None

    def init(self, position: Tree, key: Array | None = None) -> NUTSState:
        """Return the state at an embedded position."""
        estimate, _ = self.gradient.estimate(None, position, None)
        return NUTSState(position, estimate.logdensity, estimate.gradient)

    def step(self, key: Array, state: NUTSState) -> tuple[NUTSState, NUTSInfo]:
        """Draw a velocity, grow the tree until it turns back, keep one of its states."""
        growth, tree = self.begin(key, state)
        tree = jax.lax.while_loop(lambda tree: ~tree.done, lambda tree: self._grow(growth, tree), tree)
        return tree.chosen.state, self._info(tree)

    def begin(self, key: Array, state: NUTSState) -> tuple[Growth, Trajectory]:
        """Draw a velocity and all directions, and return them with a trajectory of one leaf."""
        velocity_key, direction_key, leaf_key = jax.random.split(key, 3)
        v = self.manifold.random_velocity(velocity_key, state.position)
        start = Point(state.position, v, state.logdensity, state.gradient)
        persistence = self._persistence(state.logdensity.dtype)
        directions = _directions(direction_key, persistence, self.max_depth)
        h = leaves.spread(self.step_size, state.position)
        return Growth(leaf_key, directions, persistence, h, energy(start)), self._single(start)

    def _single(self, start: Point) -> Trajectory:
        zero, none = jnp.zeros_like(start.logdensity), jnp.zeros((), jnp.uint32)
        state = NUTSState(start.position, start.logdensity, start.gradient)
        chosen = Candidate(state, energy(start), zero)
        no, kept = jnp.zeros((), bool), u_turn.empty(End(start.position, start.velocity), self.max_depth)
        growing = chosen._replace(log_weight=jnp.full_like(zero, -jnp.inf))
        return Trajectory(start, start, chosen, none, start, none, growing, kept, no, no, zero, none)

    def _grow(self, growth: Growth, tree: Trajectory) -> Trajectory:
        """Add the next leaf."""
        h = leaves.scaled(growth.h, growth.sign(tree))
        return self.joined(growth, tree, self._leaf_after(growth.origin(tree), h))

    def _leaf_after(self, point: Point, h: Tree) -> Point:
        """Return the state `leaf_steps` leapfrogs away."""
        if self.leaf_steps is None:
            return leapfrog(self.gradient, point, h)
        apart = self._apart
        advance = lambda _, point: leapfrog(self.gradient, point, h)
        leaf: Point = jax.lax.fori_loop(jnp.zeros_like(apart), apart, advance, point)
        return leaf

    def joined(self, growth: Growth, tree: Trajectory, point: Point) -> Trajectory:
        """Add a point as the next leaf and, when it completes the half, merge the two halves."""
        log_u = jnp.log(jax.random.uniform(jax.random.fold_in(growth.key, tree.n_steps), (2,), growth.energy.dtype))
        end, relative = End(point.position, point.velocity), growth.energy - energy(point)
        infinite = jnp.isposinf(point.logdensity)
        leaf = _leaf(point, relative + _log_persistence(growth.persistence, tree.leaf, tree.depth))
        growing = _draw(log_u[0], tree.growing, leaf, biased=False)
        turned = u_turn.turns_anywhere(growth.h, tree.kept, tree.leaf, end, growth.forward(tree))
        unusable = ~(relative > -DIVERGENT_ENERGY)
        tree = tree._replace(
            moving=point,
            leaf=tree.leaf + 1,
            growing=growing,
            kept=u_turn.keep(tree.kept, tree.leaf, end),
            done=turned | unusable | infinite,
            chosen=trees.where(infinite, leaf, tree.chosen),  # no density is infinite: the run must see it and stop
            diverging=diverges(self.manifold, relative, point),
            sum_acceptance=tree.sum_acceptance + jnp.exp(jnp.minimum(relative, 0)),
            n_steps=tree.n_steps + self._apart,
        )
        complete = (tree.leaf == jnp.uint32(1) << tree.depth) & ~tree.done
        return trees.where(complete, self._merge(log_u[1], growth, tree), tree)

    def _merge(self, log_u: Array, growth: Growth, tree: Trajectory) -> Trajectory:
        """Join the new half to the trajectory, and test whether the whole makes a U-turn."""
        forward, h = growth.forward(tree), growth.h
        inner, outer = trees.where(forward, (tree.right, tree.left), (tree.left, tree.right))
        near, far, last = (End(p.position, p.velocity) for p in (inner, outer, tree.moving))
        turned = u_turn.turns(h, far, last, forward)
        across = u_turn.turns(h, far, u_turn.first(tree.kept), forward) | u_turn.turns(h, near, last, forward)
        depth = tree.depth + 1
        done = turned | (across & (tree.depth > 0)) | (depth >= self._deepest())
        goes_on = growth.goes(depth) == forward
        chosen = _weighted(tree.chosen, growth.persistence, goes_on, done)
        growing = _weighted(tree.growing, growth.persistence, ~goes_on, done)
        return tree._replace(
            left=trees.where(forward, tree.left, tree.moving),
            right=trees.where(forward, tree.moving, tree.right),
            chosen=_draw(log_u, chosen, growing, biased=True),
            depth=depth,
            leaf=jnp.zeros_like(tree.leaf),
            growing=tree.growing._replace(log_weight=jnp.full_like(tree.growing.log_weight, -jnp.inf)),
            done=done,
        )

    def _deepest(self) -> Array:
        limit = self.max_depth if self.depth_limit is None else jnp.minimum(self.depth_limit, self.max_depth)
        return jnp.asarray(limit, jnp.uint32)

    @property
    def _apart(self) -> Array:
        """Return the number of steps from leaf to leaf."""
        return jnp.asarray(1 if self.leaf_steps is None else self.leaf_steps, jnp.uint32)

    def _persistence(self, dtype: Any) -> Array:
        return jnp.asarray(0.5 if self.persistence is None else self.persistence, dtype)

    def _info(self, tree: Trajectory) -> NUTSInfo:
        return NUTSInfo(
            lp=tree.chosen.state.logdensity,
            acceptance_rate=tree.sum_acceptance / (tree.n_steps // self._apart).astype(tree.sum_acceptance.dtype),
            diverging=tree.diverging,
            energy=tree.chosen.energy,
            n_steps=tree.n_steps.astype(jnp.int32),
            tree_depth=tree.depth.astype(jnp.int32),
            step_size=largest_step(self.step_size),
        )


def _directions(key: Array, persistence: Array, max_depth: int) -> Array:
    """Draw the directions of all doublings, a bit each (1: forward): the first at random, then a Markov chain."""
    first_key, key = jax.random.split(key)
    changes = jax.random.uniform(key, (max(1, max_depth - 1),), persistence.dtype) >= persistence
    powers = jnp.uint32(1) << jnp.arange(1, changes.size + 1, dtype=jnp.uint32)
    bits = jnp.sum(jnp.where(changes, powers, 0), dtype=jnp.uint32)
    bits = bits | (jax.random.bits(first_key, dtype=jnp.uint32) & 1)
    for shift in (1, 2, 4, 8, 16):  # each is the first and the number of changes up to it, modulo 2
        bits = bits ^ (bits << shift)
    return bits


def _log_persistence(persistence: Array, leaf: Array, depth: Array) -> Array:
    """Return the log of the probability of the directions that build the trajectory from this leaf, but for a factor.

    The half of 2^depth leaves that the leaf is number `leaf` of is on the far side: the doubling that joins the halves
    is the last direction, and the digits of leaf + 2^depth, turned round if the half is on the left, are all of them.
    """
    digits = leaf + (jnp.uint32(1) << depth)
    changes = jax.lax.population_count((digits ^ (digits >> 1)) & ((jnp.uint32(1) << depth) - 1))
    stays, changes = (depth - changes).astype(persistence.dtype), changes.astype(persistence.dtype)
    return stays * jnp.log(persistence) + changes * jnp.log1p(-persistence)


def _weighted(half: Candidate, persistence: Array, same: Array, done: Array) -> Candidate:
    """Return the half of a trajectory with the probability that its members draw the next direction, if one is drawn.

    same: whether that is the direction that its members drew last
    """
    log_probability = jnp.where(same, jnp.log(persistence), jnp.log1p(-persistence))
    return half._replace(log_weight=half.log_weight + jnp.where(done, 0, log_probability))


def _leaf(point: Point, relative: Array) -> Candidate:
    state = NUTSState(point.position, point.logdensity, point.gradient)
    return Candidate(state, energy(point), relative)


def _draw(log_u: Array, old: Candidate, new: Candidate, biased: bool) -> Candidate:
    """Draw one of two candidates: in proportion to their weights, or (biased) the new one with probability min(1,
    new/old)."""
    total = jnp.logaddexp(old.log_weight, new.log_weight)
    log_probability = new.log_weight - (old.log_weight if biased else total)
    return trees.where(log_u < log_probability, new, old)._replace(log_weight=total)
