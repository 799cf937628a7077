"""One small run that the tests of the loop share, so that its program is compiled once; also run by child processes."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Sphere
from orthodrome.run import sample
from orthodrome.samplers.contract import Sampler
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.targets import Target

NORTH = np.array([1.0, 0.0, 0.0], np.float32)
TRACES: list[int] = []


def logdensity(x: jax.Array, mu: jax.Array) -> jax.Array:
    TRACES.append(1)
    return 10 * jnp.dot(mu, x)


def fisher(step_size: Any = 0.5, num_steps: Any = 5, density: Any = logdensity, mu: Any = NORTH) -> GeodesicHMC:
    """Geodesic HMC on a von Mises-Fisher law with concentration 10 on Sphere(3)."""
    return GeodesicHMC(FullGradient(Target(Sphere(), density, mu)), step_size, num_steps)


def unseen() -> Any:
    """Return the same density as a function that JAX has not met: its programs are compiled anew, and no others."""
    return lambda x, mu: logdensity(x, mu)


def draws(sampler: Any = None, start: Any = NORTH, **options: Any) -> Any:
    """A short run; returns the tree."""
    settings = {"seed": 3, "num_chains": 2, "num_warmup": 20, "num_draws": 50, "progress": False} | options
    return sample(fisher() if sampler is None else sampler, start, **settings)


class WalkState(NamedTuple):
    position: np.ndarray
    count: int


class WalkInfo(NamedTuple):
    acceptance_rate: float
    diverging: bool


@pytree
class PythonWalk(Sampler):
    """A walk on the sphere stepped from Python; `event(count)` lets a test interfere."""

    event: Any = static(default=None)
    compiled: bool = static(default=False)

    @property
    def manifold(self) -> Sphere:
        return Sphere()

    def init(self, position: Any, key: Any = None) -> WalkState:
        return WalkState(np.array(position), 0)

    def step(self, key: Any, state: WalkState) -> tuple[WalkState, WalkInfo]:
        noise = np.random.default_rng(np.asarray(jax.random.key_data(key))).normal(size=3).astype(np.float32)
        if self.event is not None:
            noise = noise + np.float32(self.event(state.count) or 0)
        x = state.position + 0.3 * noise
        return WalkState(x / np.linalg.norm(x), state.count + 1), WalkInfo(1.0, state.count % 10 == 3)


if __name__ == "__main__":  # python run_cases.py FOLDER NUM_DRAWS CHECKPOINT_EVERY [NUM_WARMUP]: a run to be killed
    folder, num_draws, every = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    print("started", flush=True)
    draws(checkpoint=folder, num_draws=num_draws, checkpoint_every=every, num_warmup=int(sys.argv[4]))
    print("finished", flush=True)
