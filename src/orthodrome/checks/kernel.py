"""Stay in the truth: does a transition keep the law that it should?

Chains start at independent exact draws and take `num_steps` transitions. If the kernel keeps the law, every state
on the way has it; so for each functional the mean over the second half of a chain has the exact mean, and since
chains are independent

    z = mean over chains of [mean over the second half of f - f at the start] / standard error

is standard normal. No burn-in, no mixing assumption, no tolerance. With exact `means` given, f at the start is
replaced by them. A bias of threshold + 2 standard errors is found with probability 98 %: the smallest bias that the
test detects, reported in standard deviations of the functional. A chain that hardly moves in `num_steps` hides a
bias: the report says how far the chains got.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from scipy.stats import norm

from orthodrome.core.types import Tree
from orthodrome.errors import BadInput

Functionals = Callable[[Tree], Array]


@dataclasses.dataclass(frozen=True)
class KernelReport:
    """What `check_kernel` found.

    z: one z-score per functional
    bias: the measured bias of each, in its standard deviations
    smallest_bias: the bias that would be found with probability 98 %, in standard deviations
    moved: one minus the correlation of start and end, per functional: 0 for a chain that stood still, 1 for one
        that forgot
    """

    ok: bool
    z: np.ndarray
    bias: np.ndarray
    smallest_bias: np.ndarray
    moved: np.ndarray
    threshold: float
    num_chains: int
    num_steps: int

    @property
    def worst(self) -> int:
        """The functional with the largest |z|."""
        return int(np.argmax(np.abs(self.z)))

    def __str__(self) -> str:
        i = self.worst
        verdict = "keeps the law" if self.ok else "does NOT keep the law"
        return (
            f"the kernel {verdict}: {self.num_chains} chains of {self.num_steps} steps, {self.z.size} functionals, the "
            f"worst is number {i} with z = {self.z[i]:.1f} (threshold {self.threshold:.1f}), a bias of "
            f"{self.bias[i]:+.3f} sd; a bias of {self.smallest_bias.max():.3f} sd would have been found; "
            f"the chains moved by {self.moved.min():.2f} to {self.moved.max():.2f}"
        )


def check_kernel(
    sampler: Any,
    exact_draws: Tree,
    *,
    functionals: Functionals | None = None,
    means: Any = None,
    num_steps: int = 20,
    seed: int = 0,
    level: float = 0.01,
) -> KernelReport:
    """Whether the sampler keeps the law of `exact_draws`.

    exact_draws: independent draws in the user's coordinates, stacked along a leading axis; one chain starts at each
    functionals: parameters -> a vector whose means are compared; None: every coordinate and its square
    means: their exact means, if known (a sharper test)
    level: the probability of a false alarm, shared among the functionals
    """
    exact_draws = jax.tree.map(jnp.asarray, exact_draws)
    lengths = {leaf.shape[:1] for leaf in jax.tree.leaves(exact_draws)}
    if len(lengths) != 1 or lengths == {()} or min(lengths)[0] < 100:
        raise BadInput(
            f"`exact_draws` needs at least 100 draws along the first axis of every leaf; the lengths are {lengths}"
        )
    values = functionals or coordinates_and_squares
    start, later, last = map(_read, _run(sampler, values, exact_draws, jax.random.key(seed), num_steps))
    if not np.isfinite(later).all():
        raise BadInput("the chains left the numbers (a functional is not finite): the step size may be far too large")
    change = later - (start if means is None else np.asarray(means, float))
    sd, error = start.std(axis=0), change.std(axis=0) / np.sqrt(len(change))
    z = change.mean(axis=0) / np.maximum(error, np.finfo(float).tiny)
    threshold = float(norm.isf(level / 2 / z.size))
    return KernelReport(
        ok=bool(np.all(np.abs(z) < threshold)),
        z=z,
        bias=change.mean(axis=0) / sd,
        smallest_bias=(threshold + 2) * error / sd,
        moved=1 - _correlation(start, last),
        threshold=threshold,
        num_chains=len(change),
        num_steps=num_steps,
    )


def coordinates_and_squares(parameters: Tree) -> Array:
    """Every coordinate and its square."""
    flat, _ = ravel_pytree(parameters)
    return jnp.concatenate([flat, flat**2])


@partial(jax.jit, static_argnames=("values", "num_steps"))
def _run(sampler: Any, values: Functionals, draws: Tree, key: Array, num_steps: int) -> tuple[Array, Array, Array]:
    """The functionals at the start, averaged over the second half, and at the end, for every chain."""
    manifold = sampler.manifold

    def one_chain(key: Array, parameters: Tree) -> tuple[Array, Array, Array]:
        init_key, step_key = jax.random.split(key)

        def step(state: Any, t: Array) -> tuple[Any, Array]:
            state, _ = sampler.step(jax.random.fold_in(step_key, t), state)
            return state, values(manifold.to_user(state.position))

        first = sampler.init(manifold.from_user(parameters), init_key)
        first = jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype), first)
        _, rows = jax.lax.scan(step, first, jnp.arange(num_steps))
        return values(parameters), jnp.mean(rows[num_steps // 2 :], axis=0), rows[-1]

    num_chains = jax.tree.leaves(draws)[0].shape[0]
    return jax.vmap(one_chain)(jax.random.split(key, num_chains), draws)


def _read(values: Array) -> np.ndarray:
    return np.asarray(values, np.float64)


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    return (a * b).mean(axis=0) / np.maximum(a.std(axis=0) * b.std(axis=0), np.finfo(float).tiny)
