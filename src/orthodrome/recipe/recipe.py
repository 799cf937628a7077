"""The complete recipe: from H, D and Q to a sampler (Ma, Chen & Fox 2015).

Any positive semidefinite D(z) and skew Q(z) give an SDE that keeps exp(-H(z)):

    dz = [-(D + Q) grad H + Gamma] dt + sqrt(2 D) dW,     Gamma_i = sum_j d/dz_j (D_ij + Q_ij)         (2), (3)

and every SDE without jumps that keeps it is one of these (Theorem 2; `completion`). A step of size h is, by Euler's
rule,

    z <- z + h [-(D + Q) grad H~ + Gamma] + N(0, h (2 D - h B)),     B = (D + Q) V (D + Q)',           (6), (9)

with the sign of Gamma as in (3) (erratum 004-1). H~ is a minibatch's, V the covariance of its gradient's error; B
takes out what the minibatch already puts in. Other integrators, better than Euler's, are in `integrators`.

z is the position alone, or (position, momentum, ...) with a momentum like the position if `auxiliary` draws the
rest; `sample` gives back the position. Walls of the position's space (`Positive`) reflect it and turn z[1] round.

Where D = 0, as in HMC, the dynamics is deterministic and stays on its level of H: a jump process must be added
(section 2.1). With `refresh_every` the momentum jumps to a new draw of `auxiliary` (see `jumps`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.dynamics.flat import MetricInfo
from orthodrome.dynamics.momentum import no_count, refreshed
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.manifolds.manifold import Manifold
from orthodrome.metrics.divergence import Divergence, ExactDivergence
from orthodrome.recipe.inspection import indefinite, matrix_problems
from orthodrome.recipe.integrators import Integrator, SemiImplicit
from orthodrome.recipe.jumps import REMEDY, momentum_problem, noiseless
from orthodrome.recipe.matrices import Matrix, MatrixFree, call
from orthodrome.recipe.motion import Motion
from orthodrome.samplers.contract import Sampler
from orthodrome.samplers.stochastic.flat import refusal


class RecipeState(NamedTuple):
    """The state of a recipe.

    position: the part of z that the user sees
    auxiliary: the rest of z, an empty tuple if there is none
    memory: of the gradient estimator
    transitions: the number of steps so far
    """

    position: Tree
    auxiliary: tuple[Tree, ...]
    memory: Any
    transitions: Array


@pytree
class Recipe(Sampler):
    """A sampler that is defined by a Hamiltonian and two matrices (Ma, Chen & Fox 2015).

        dz = [-(D + Q) grad H + Gamma] dt + sqrt(2 D) dW,     Gamma_i = sum_j d/dz_j (D_ij + Q_ij)      (2), (3)

    keeps exp(-H(z)) invariant for any positive semidefinite D(z) and skew-symmetric Q(z); the integrator discretises
    it with the step size epsilon.

    hamiltonian: H(z), where exp(-H) is kept invariant; with `gradient` only g(z), which Eq. (1) adds to U(position);
        None: nothing
    diffusion: D(z), positive semidefinite: a function z -> matrix over the ravelled z, `MatrixFree`, or None for zero
    curl: Q(z), skew-symmetric, given like D
    step_size: epsilon
    gradient: an estimator of log density and gradient at the position, U = -log density
    data: arrays that the three functions get as their last argument; None: they have one argument less
    auxiliary: (key, position) -> (momentum, ...), the rest of z at the start (without data); None: z is the position
    space: the manifold of the position if there is no `gradient` that has one
    integrator: `SemiImplicit()`, `Euler()` or `Symmetric()`
    divergence: how to compute Gamma: `ExactDivergence()`, or `ProbedDivergence()` for a large z
    refresh_every: the number of steps after which the momentum z[1] jumps to a new draw of `auxiliary`, which must
        then draw it from exp(-H) given the rest; None: never
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    hamiltonian: Callable[..., Any] | None = static()
    diffusion: Matrix = static(default=None)
    curl: Matrix = static(default=None)
    step_size: Any = None
    gradient: GradientEstimator | None = None
    data: Any = None
    auxiliary: Callable[..., Any] | None = static(default=None)
    space: Manifold = Euclidean()
    integrator: Integrator = SemiImplicit()
    divergence: Divergence = ExactDivergence()
    refresh_every: int | None = static(default=None)
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.space if self.gradient is None else self.gradient.manifold

    def supports(self, manifold: Manifold) -> str | None:
        """Return why this recipe cannot run on a manifold, or None."""
        if self.step_size is not None and jnp.ndim(self.step_size) != 0:
            return "a recipe has one step size for all of z; put others into D and Q"
        return refusal(manifold, self.step_size)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if self.step_size is None:
            return "step_size is None, and a recipe does not tune itself; set it"
        if self.refresh_every is not None and self.refresh_every < 1:
            return f"refresh_every is {self.refresh_every}; it is a number of steps, from 1 on (None: never)"
        if self.refresh_every is not None and self.auxiliary is None:
            return "refresh_every is set, but without `auxiliary` z has no momentum that could be drawn anew"
        return f"diffusion is None (D = 0){REMEDY}" if self.diffusion is None and self.refresh_every is None else None

    def problem_at(self, position: Tree) -> str | None:
        """Return what is wrong with D, Q and the jumps at the start, where and by how much, or None."""
        position = jax.tree.map(jnp.asarray, position)
        z = self.join(self.init(position, jax.random.key(0)))
        problems = matrix_problems(self, z)
        if self.refresh_every is not None:
            problems += momentum_problem(self, position)
        elif not problems and noiseless(self, z):
            problems.append(f"`diffusion` is 0 at the start and around it{REMEDY}")
        return "; ".join(problems) or None

    def init(self, position: Tree, key: Array | None = None) -> RecipeState:
        """Return the state at an embedded position; the rest of z is drawn by `auxiliary`."""
        memory = None if self.gradient is None else self.gradient.init(position)
        rest = () if self.auxiliary is None else tuple(self.auxiliary(key, position))
        return RecipeState(position, rest, memory, no_count())

    def step(self, key: Array, state: RecipeState) -> tuple[RecipeState, MetricInfo]:
        """Take one step of the integrator, after a jump of the momentum if one is due."""
        gradient_key, noise_key, probe_key, jump_key = jax.random.split(key, 4)
        state = self.jumped(jump_key, state)
        z = self.join(state)
        flat, _ = ravel_pytree(z)
        normals = jax.random.normal(noise_key, (self.integrator.num_pieces(self, z), flat.size), flat.dtype)
        return self.move(state, Motion(self, gradient_key, probe_key, state.memory), normals)

    def jumped(self, key: Array, state: RecipeState) -> RecipeState:
        """Return the state with a new momentum if the number of steps so far is a multiple of `refresh_every`."""
        if self.refresh_every is None or self.auxiliary is None:
            return state
        draw = lambda k: self.auxiliary(k, state.position)[0]
        r = refreshed(key, self.refresh_every, state.transitions, state.auxiliary[0], draw)
        return state._replace(auxiliary=(r, *state.auxiliary[1:]))

    def move(self, state: RecipeState, motion: Motion, normals: Array) -> tuple[RecipeState, MetricInfo]:
        """Take one step with given normals."""
        z = self.join(state)
        h = jnp.asarray(self.step_size, normals.dtype)
        new, force, clipped = self.integrator.advance(motion, z, h, normals)
        lp = -self.energy(z) if force.logdensity is None else force.logdensity
        size = jnp.asarray(self.step_size, jnp.float32)
        info = MetricInfo(lp, self.temperature(z, new, h), size, clipped, indefinite(self, z))
        return self.split(new, force.memory)._replace(transitions=state.transitions + 1), info

    def join(self, state: RecipeState) -> Tree:
        """Return z from a state."""
        return state.position if self.auxiliary is None else (state.position, *state.auxiliary)

    def split(self, z: Tree, memory: Any) -> RecipeState:
        """Return the state from z and the estimator's memory, before its first step."""
        position, rest = (z, ()) if self.auxiliary is None else (z[0], tuple(z[1:]))
        return RecipeState(position, rest, memory, no_count())

    def energy(self, z: Tree) -> Array:
        """Return `hamiltonian` at z: H, or the part of it that needs no data."""
        if self.hamiltonian is None:
            return jnp.zeros((), ravel_pytree(z)[0].dtype)
        return call(self.hamiltonian, self.data, z)

    def temperature(self, z: Tree, new: Tree, h: Array) -> Array:
        """Return the kinetic temperature r . dH/dr / m (1 on average), or without a momentum the squared
        displacement over 2 h tr D."""
        if self.auxiliary is not None:
            r, slope = new[1], jax.grad(self.energy)(new)[1]
            return jnp.mean(ravel_pytree(r)[0] * ravel_pytree(slope)[0])
        if self.diffusion is None or isinstance(self.diffusion, MatrixFree):
            return jnp.full((), jnp.nan, h.dtype)
        change = ravel_pytree(new)[0] - ravel_pytree(z)[0]
        return jnp.sum(change**2) / (2 * h * jnp.trace(call(self.diffusion, self.data, z)))
