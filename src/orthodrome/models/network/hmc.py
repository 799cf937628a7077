"""Geodesic Hamiltonian Monte Carlo of the network eigenmodel in compiled loops, which sets its own steps.

The law is that of `law`, the algorithm `GeodesicHMC`'s; whole trajectories run in `kernels.trajectory`, where a
gradient over all pairs costs a third and the motion of a frame a tenth of what they cost in a program of JAX. The
frame, the eigenvalues L and the intercept c each have a step: a common h times a scale, the conditional standard
deviation of the stiffest coordinate of the frame and of each flat one (`scales`), from the information averaged over
states of the warm-up; h follows the acceptance by dual averaging. The length of a trajectory is drawn anew for every
transition, independently of the state, so that no period of the motion is met for ever.

Tempered, log pi^e with a kinetic energy |v|^2 / 2 is e (log pi - |w|^2 / 2) in w = v / sqrt(e): the paths are those of
log pi itself, with velocities w ~ N(0, 1 / e), run through sqrt(e) times as fast. So the compiled loops know no e.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.dynamics.leapfrog import DIVERGENT_ENERGY
from orthodrome.manifolds.manifold import Manifold
from orthodrome.models.network.kernels.frames import project
from orthodrome.models.network.kernels.pair_sums import PairTable, pair_table
from orthodrome.models.network.kernels.trajectory import fly, log_posterior
from orthodrome.models.network.law import SPACE
from orthodrome.models.network.scales import information
from orthodrome.random.keys import seed_of
from orthodrome.samplers.contract import PythonSampler
from orthodrome.samplers.exact.geodesic_hmc import HMCInfo
from orthodrome.tuning import dual_averaging
from orthodrome.tuning.dual_averaging import DualAveraging

TARGET = 0.8
"""The acceptance rate that dual averaging aims at."""
FIRST_STEP, LARGEST_STEP = 0.1, 1.0
"""h at the start, and at most: beyond half of the stability limit nothing is gained."""
LOOK_EVERY, MEMORY = 8, 0.1
"""Transitions of the warm-up between two looks at the information, and the share of the latest look at least."""
SPREAD = 0.4
"""Lengths are uniform within this share of the mean."""


class EigenmodelState(NamedTuple):
    """A state: U' (p, m) with its gradient, (L, c) with theirs, and what the warm-up has learnt.

    scales: of the frame, of each eigenvalue, and of the intercept
    """

    frame: Reals
    flat: Reals
    slopes: Reals
    flat_slopes: Reals
    logdensity: float
    scales: Reals
    step: DualAveraging
    taken: int

    @property
    def position(self) -> dict[str, Reals]:
        """The frame, the eigenvalues and the intercept."""
        return {"frame": self.frame.T, "eigenvalues": self.flat[:-1], "intercept": self.flat[-1]}


@pytree
class EigenmodelHMC(PythonSampler):
    """Geodesic Monte Carlo of the network eigenmodel.

    pairs: the table of the pairs; known: (m, m), 1 where an edge is known, else 0
    link: 'probit' or 'logit'
    step_size: {"frame": ..., "eigenvalues": ..., "intercept": ...}; None: learnt in warm-up
    num_steps: leapfrog steps of a trajectory, on average if the step is learnt
    """

    pairs: PairTable
    known: Reals
    link: str = static(default="probit")
    step_size: Any = None
    num_steps: int = static(default=10)
    num_warmup: int = static(default=500)
    dtype: str = static(default="float32")
    compiled: bool = static(default=False)

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return SPACE

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact: by a Metropolis test."""
        return True

    @property
    def target_acceptance(self) -> float | None:
        """The acceptance rate that the warm-up aims at."""
        return TARGET if self.step_size is None else None

    @property
    def one_core(self) -> bool:
        """Whether chains may be stepped side by side: trajectories run on one core, without the interpreter."""
        return True

    def init(self, position: Any, key: Any = None) -> EigenmodelState:
        """Return the state at a position."""
        frame = np.array(np.asarray(position["frame"]).T, float, order="C")
        flat = np.append(np.asarray(position["eigenvalues"], float), float(position["intercept"]))
        slopes, flat_slopes = np.zeros_like(frame), np.zeros_like(flat)
        height = log_posterior(*self._law, frame, flat[:-1], flat[-1], slopes, flat_slopes, True)
        scales = self._information(frame, flat) ** -0.5
        step = dual_averaging.start(np.float64(math.log(FIRST_STEP)), np)
        return EigenmodelState(frame, flat, slopes, flat_slopes, height + self._constant, scales, step, 0)

    def step(self, key: Any, state: EigenmodelState) -> tuple[EigenmodelState, HMCInfo]:
        """Draw velocities and a length, follow the dynamics, accept or stay; learn, in the warm-up."""
        return self.moved(np.random.default_rng(seed_of(key)), state)

    def moved(
        self, rng: np.random.Generator, state: EigenmodelState, exponent: float = 1.0
    ) -> tuple[EigenmodelState, HMCInfo]:
        """Make one transition, of the posterior to the power of `exponent`; a step that is set is in the time of w."""
        scale = exponent**-0.5
        v, flat_v = rng.normal(0, scale, state.frame.shape), rng.normal(0, scale, state.flat.shape)
        project(state.frame, v)
        steps, length = self._steps(state), self._length(rng)
        before = state.logdensity - _kinetic(v, flat_v)
        new = state._replace(**{name: getattr(state, name).copy() for name in EigenmodelState._fields[:4]})
        height = self._constant + fly(
            *self._law, new.frame, new.flat, v, flat_v, new.slopes, new.flat_slopes, steps[0], steps[1:], length
        )
        change = exponent * (height - _kinetic(v, flat_v) - before)
        rate = math.exp(min(change, 0.0)) if math.isfinite(change) else 0.0
        accepted = rng.random() < rate
        kept = new._replace(logdensity=height) if accepted else state
        info: Any = HMCInfo._make  # of NumPy's numbers, where `GeodesicHMC` has arrays of JAX
        energy = -(exponent * before + change if accepted else exponent * before)
        diverging = not change > -DIVERGENT_ENERGY
        numbers = kept.logdensity, rate, np.bool_(diverging), energy, np.int32(length), steps.max()
        return self._learnt(kept, rate), info(numbers)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if self.step_size is None and self.num_warmup < 1:
            return "step_size is not set, and num_warmup is 0: there is no warm-up to learn it in; set one of them"
        return None

    def draw(self, state: EigenmodelState) -> dict[str, Reals]:
        """Return the position in the dtype of the draws."""
        return {name: np.asarray(value, self.dtype) for name, value in state.position.items()}

    def distance(self, state: EigenmodelState) -> Any:
        """Return the largest entry of |U'U - I|."""
        return np.max(np.abs(state.frame @ state.frame.T - np.eye(len(state.frame))))

    @property
    def _law(self) -> tuple[Any, ...]:
        return self.link == "probit", self.pairs.signs, self.pairs.first

    @property
    def _constant(self) -> float:
        """What the lanes without a pair take away: log F(0) each."""
        return math.log(2) * (self.pairs.signs.size - int(self.pairs.num_known))

    def _information(self, frame: Reals, flat: Reals) -> Reals:
        return information(self.link, self.known, frame, flat)

    def _steps(self, state: EigenmodelState) -> Reals:
        """Return the steps of the frame, of each eigenvalue, and of the intercept."""
        if self.step_size is not None:
            frame, values, intercept = (self.step_size[name] for name in ("frame", "eigenvalues", "intercept"))
            return np.concatenate([[frame], np.broadcast_to(values, state.flat.size - 1), [intercept]]).astype(float)
        tuning = state.taken < self.num_warmup
        return math.exp(state.step.log_step if tuning else state.step.log_average) * state.scales

    def _length(self, rng: np.random.Generator) -> int:
        if self.step_size is not None:
            return self.num_steps
        return max(1, round(self.num_steps * rng.uniform(1 - SPREAD, 1 + SPREAD)))

    def _learnt(self, state: EigenmodelState, rate: float) -> EigenmodelState:
        """Return the state with another transition taken and, in the warm-up, what it teaches."""
        taken = state.taken + 1
        if self.step_size is not None or taken > self.num_warmup:
            return state._replace(taken=taken)
        scales = state.scales
        if taken % LOOK_EVERY == 0:
            share = max(MEMORY, 1 / (1 + taken // LOOK_EVERY))
            scales = ((1 - share) * scales**-2 + share * self._information(state.frame, state.flat)) ** -0.5
        step = dual_averaging.update(state.step, np.float64(TARGET - rate), math.log(LARGEST_STEP), np)
        return state._replace(scales=scales, step=step, taken=taken)


def eigenmodel_hmc(
    edges: Reals, link: str, step_size: Any, num_steps: int, num_warmup: int, dtype: str
) -> EigenmodelHMC:
    """Return the sampler of an adjacency matrix with the entries 1, 0 and NaN (unknown)."""
    known = (np.isfinite(edges) & ~np.eye(len(edges), dtype=bool)).astype(np.float32)
    return EigenmodelHMC(pair_table(edges), known, link, step_size, num_steps, num_warmup, dtype)


def _kinetic(v: Reals, flat_v: Reals) -> float:
    return float(np.vdot(v, v) + np.vdot(flat_v, flat_v)) / 2
