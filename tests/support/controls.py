"""Wrong samplers that the tests must catch, next to the right one written plainly from the paper.

`PlainHMC` is Byrne & Girolami's Algorithm 1 in a dozen lines, independent of the package's leapfrog; `defect`
names what is wrong with it:

    ""                     nothing
    "no projection"        velocity and gradients keep their normal parts
    "start projection"     lines 7 and 10 as printed: the normals at the start of the trajectory (erratum 002-1)
    "no metropolis"        every proposal is taken
    "noise scale"          the velocity has standard deviation 1.2
    "full first kick"      the first kick of a trajectory has the whole step
    "no kinetic energy"    the test compares log densities only
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS, NUTSState
from orthodrome.targets import Target

DEFECTS = ("no projection", "start projection", "no metropolis", "noise scale", "full first kick", "no kinetic energy")


class PlainState(NamedTuple):
    position: Array


class PlainInfo(NamedTuple):
    acceptance_rate: Array


@pytree
class PlainHMC:
    """Algorithm 1 for one array, with a defect."""

    target: Any
    step_size: Any
    num_steps: int = static()
    defect: str = static(default="")

    @property
    def manifold(self) -> Manifold:
        return self.target.manifold

    def init(self, position: Array, key: Array | None = None) -> PlainState:
        return PlainState(position)

    def step(self, key: Array, state: PlainState) -> tuple[PlainState, PlainInfo]:
        velocity_key, accept_key = jax.random.split(key)
        x0, h = state.position, self.step_size
        v0 = self.project(x0, x0, jax.random.normal(velocity_key, x0.shape, x0.dtype))
        v0 = v0 * (1.2 if self.defect == "noise scale" else 1.0)
        x, v = x0, v0
        for i in range(self.num_steps):
            first = h if self.defect == "full first kick" and i == 0 else h / 2
            v = self.project(x0, x, v + first * jax.grad(self.target.embedded_logdensity)(x))
            x, v = self.manifold.geodesic(x, v, h)
            v = self.project(x0, x, v + h / 2 * jax.grad(self.target.embedded_logdensity)(x))
        change = self.energy(x0, v0) - self.energy(x, v)
        accepted = jnp.log(jax.random.uniform(accept_key, dtype=change.dtype)) < change
        accepted = accepted | (self.defect == "no metropolis")
        return PlainState(jnp.where(accepted, x, x0)), PlainInfo(jnp.exp(jnp.minimum(change, 0)))

    def project(self, start: Array, x: Array, u: Array) -> Array:
        if self.defect == "no projection":
            return u
        return self.manifold.project(start if self.defect == "start projection" else x, u)

    def energy(self, x: Array, v: Array) -> Array:
        kinetic = 0.0 if self.defect == "no kinetic energy" else jnp.sum(v * v) / 2
        return kinetic - self.target.embedded_logdensity(x)


class WithoutMeasure(Target):
    """A target that forgets the Jacobian between the user's measure and the surface measure."""

    def embedded_logdensity(self, x: Any) -> Array:
        return self.user_logdensity(self.manifold.to_user(x))


WithoutMeasure = jax.tree_util.register_dataclass(  # type: ignore[misc]
    WithoutMeasure, data_fields=["manifold", "data"], meta_fields=["logdensity"]
)


@pytree
class CappedByStart:
    """NUTS whose depth is capped by where it starts: short trajectories where the first coordinate is large."""

    sampler: GeodesicNUTS
    cut: Any = 0.5

    @property
    def manifold(self) -> Manifold:
        return self.sampler.manifold

    def init(self, position: Array, key: Array | None = None) -> NUTSState:
        return self.sampler.init(position)

    def step(self, key: Array, state: NUTSState) -> tuple[NUTSState, Any]:
        short_key, long_key = jax.random.split(key)
        short = GeodesicNUTS(self.sampler.gradient, self.sampler.step_size, max_depth=1).step(short_key, state)
        long = self.sampler.step(long_key, state)
        return jax.tree.map(lambda a, b: jnp.where(state.position[0] > self.cut, a, b), short, long)
