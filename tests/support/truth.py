"""Stay in the truth: the test that every exact sampler takes.

Chains start at independent exact draws and take NUM_STEPS transitions. If the kernel is right, every state on
the way has the exact law; so the mean of a functional over the last three quarters of a chain's states has the
exact mean, and its standard error comes from the chains, which are independent:

    z = (mean over chains and states - exact mean) / standard error.

No burn-in, no mixing assumption, no tolerance. `THRESHOLD` is Bonferroni over some 1,000 functionals at a level
of 1 % for the whole suite (two-sided 1e-5: 4.4). A bias of (THRESHOLD + 2) standard errors is seen with
probability 98 %; the tests assert that this is at most LARGEST_BIAS = 3 % of the functional's standard
deviation.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from support.registry.law import Law

NUM_STEPS = 20
THRESHOLD = 4.4
LARGEST_BIAS = 0.03


class Verdict(NamedTuple):
    """z-scores, standard errors over standard deviations, acceptance."""

    z: np.ndarray
    relative_error: np.ndarray
    acceptance: float

    @property
    def passes(self) -> bool:
        return bool(np.all(np.abs(self.z) < THRESHOLD))

    @property
    def smallest_bias(self) -> np.ndarray:
        """What is seen with probability 98 %, in standard deviations of the functional."""
        return (THRESHOLD + 2) * self.relative_error

    def shifted(self, bias: float) -> Verdict:
        """The verdict, had every functional been off by `bias` standard deviations."""
        sign = np.where(self.z < 0, -1, 1)
        return self._replace(z=self.z + sign * bias / self.relative_error)


@partial(jax.jit, static_argnames=("law", "num_steps"))
def run(law: Law, sampler: Any, key: jax.Array, start: Any, num_steps: int) -> tuple[jax.Array, jax.Array]:
    """Each chain's mean of the functionals over the last three quarters, and its mean acceptance."""

    def one_chain(key: jax.Array, p: Any) -> tuple[jax.Array, jax.Array]:
        def step(state: Any, t: jax.Array) -> tuple[Any, tuple[jax.Array, jax.Array]]:
            state, info = sampler.step(jax.random.fold_in(key, t), state)
            return state, (law.values(sampler.manifold.to_user(state.position)), info.acceptance_rate)

        first = jax.tree.map(
            lambda a: jax.lax.convert_element_type(a, a.dtype), sampler.init(sampler.manifold.from_user(p))
        )
        _, (values, acceptance) = jax.lax.scan(step, first, jnp.arange(num_steps))
        return jnp.mean(values[num_steps // 4 :], axis=0), jnp.mean(acceptance)

    chains = jnp.arange(jax.tree.leaves(start)[0].shape[0])
    return jax.vmap(lambda c, p: one_chain(jax.random.fold_in(key, c), p))(chains, start)


def verdict(law: Law, sampler: Any, num_chains: int, dtype: str, seed: int = 0, num_steps: int = NUM_STEPS) -> Verdict:
    """Run and compare."""
    start = jax.tree.map(lambda a: jnp.asarray(a, dtype), law.exact_draws(num_chains, 5))
    values, acceptance = jax.tree.map(np.asarray, run(law, sampler, jax.random.key(seed), start, num_steps))
    mean, mean_error, sd = law.reference()
    error = np.hypot(values.astype(np.float64).std(axis=0) / np.sqrt(num_chains), mean_error)
    return Verdict((values.mean(axis=0, dtype=np.float64) - mean) / error, error / sd, float(np.mean(acceptance)))
