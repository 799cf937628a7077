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
from orthodrome.dynamics.flat import FlatInfo
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.manifolds.manifold import Manifold
from orthodrome.metrics.divergence import Divergence, ExactDivergence
from orthodrome.recipe.inspection import matrix_problems
from orthodrome.recipe.integrators import Integrator, SemiImplicit
from orthodrome.recipe.matrices import Matrix, MatrixFree, call
from orthodrome.recipe.motion import Motion
from orthodrome.samplers.contract import Sampler
from orthodrome.samplers.stochastic.flat import refusal


class RecipeState(NamedTuple):
    """The state of a recipe.

    position: the part of z that the user sees
    auxiliary: the rest of z, an empty tuple if there is none
    memory: of the gradient estimator
    """

    position: Tree
    auxiliary: tuple[Tree, ...]
    memory: Any


@pytree
class Recipe(Sampler):
    """A sampler that is defined by a Hamiltonian and two matrices.

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
        return "step_size is None, and a recipe does not tune itself; set it" if self.step_size is None else None

    def problem_at(self, position: Tree) -> str | None:
        """Return what is wrong with D and Q at the start, where and by how much, or None."""
        z = self.join(self.init(jax.tree.map(jnp.asarray, position), jax.random.key(0)))
        return "; ".join(matrix_problems(self, z)) or None

    def init(self, position: Tree, key: Array | None = None) -> RecipeState:
        """Return the state at an embedded position; the rest of z is drawn by `auxiliary`."""
        memory = None if self.gradient is None else self.gradient.init(position)
        rest = () if self.auxiliary is None else tuple(self.auxiliary(key, position))
        return RecipeState(position, rest, memory)

    def step(self, key: Array, state: RecipeState) -> tuple[RecipeState, FlatInfo]:
        """Take one step of the integrator."""
        gradient_key, noise_key, probe_key = jax.random.split(key, 3)
        z = self.join(state)
        flat, _ = ravel_pytree(z)
        normals = jax.random.normal(noise_key, (self.integrator.num_pieces(self, z), flat.size), flat.dtype)
        return self.move(state, Motion(self, gradient_key, probe_key, state.memory), normals)

    def move(self, state: RecipeState, motion: Motion, normals: Array) -> tuple[RecipeState, FlatInfo]:
        """Take one step with given normals."""
        z = self.join(state)
        h = jnp.asarray(self.step_size, normals.dtype)
        new, force, clipped = self.integrator.advance(motion, z, h, normals)
        lp = -self.energy(z) if force.logdensity is None else force.logdensity
        info = FlatInfo(lp, self.temperature(z, new, h), jnp.asarray(self.step_size, jnp.float32), clipped)
        return self.split(new, force.memory), info

    def join(self, state: RecipeState) -> Tree:
        """Return z from a state."""
        return state.position if self.auxiliary is None else (state.position, *state.auxiliary)

    def split(self, z: Tree, memory: Any) -> RecipeState:
        """Return the state from z and the estimator's memory."""
        return RecipeState(z, (), memory) if self.auxiliary is None else RecipeState(z[0], tuple(z[1:]), memory)

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
