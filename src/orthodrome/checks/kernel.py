"""Stay in the truth: does a transition kernel keep the distribution that it should?

Chains start at independent exact draws and take `num_steps` transitions. If the kernel keeps the distribution, every
state on the way has it; so for each functional the mean over the second half of a chain has the exact mean, and since
chains are independent

    z = mean over chains of [mean over the second half of f - f at the start] / standard error

is standard normal. No burn-in, no mixing assumption, no tolerance. With exact `means` given, f at the start is
replaced by them. A bias of threshold + 2 standard errors is found with probability 98 %: the smallest bias that the
test detects, reported in standard deviations of the functional. A chain that hardly moves in `num_steps` hides a
bias: the report says how far the chains got.

A functional that is constant under the distribution (a pinned coordinate, the last weight of two that are fixed) must
stay constant, to rounding: it has no standard error, and its z is 0 if it does and infinite if it does not.
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

from orthodrome.core import programs, trees
from orthodrome.core.programs import keeps_programs
from orthodrome.core.types import Tree
from orthodrome.errors import BadInput
from orthodrome.manifolds.product import per_leaf

Functionals = Callable[[Tree], Array]
TUNED = ("step_size", "num_steps", "friction", "ladder")
"""The settings that a warm-up would learn if they are None."""
ROUNDING = 1e3
"""The number of units in the last place by which a constant functional may move."""


@dataclasses.dataclass(frozen=True)
class KernelReport:
    """The result of `check_kernel`.

    ok: whether no |z| exceeds the threshold
    z: one z-score per functional
    bias: the measured bias of each, in its standard deviations
    smallest_bias: the bias that would be found with probability 98 %, in standard deviations
    moved: one minus the correlation of start and end, per functional: 0 for a chain that stood still, 1 for one that
        forgot its start
    threshold: for |z|, from the level and the number of functionals
    num_chains, num_steps: chains, and transitions of each
    constant: which functionals are constant under the distribution; they have no standard deviation, and their bias is
        absolute
    """

    ok: bool
    z: np.ndarray
    bias: np.ndarray
    smallest_bias: np.ndarray
    moved: np.ndarray
    threshold: float
    num_chains: int
    num_steps: int
    constant: np.ndarray

    @property
    def worst(self) -> int:
        """The number of the functional with the largest |z|."""
        return int(np.argmax(np.abs(self.z)))

    def __str__(self) -> str:
        i = self.worst
        verdict = "keeps the law" if self.ok else "does NOT keep the law"
        if self.constant.all() or self.constant[i]:
            left = f"functional {i}, constant under the law, moved by {self.bias[i]:+.2g}"
            stayed = f"all {self.z.size} functionals are constant under the law and stayed where they were"
            return f"the kernel {verdict}: {stayed if self.ok else left}"
        varying = ~self.constant
        constant = f"; {self.constant.sum()} constant functionals stayed" if self.constant.any() else ""
        return (
            f"the kernel {verdict}: {self.num_chains} chains of {self.num_steps} steps, {self.z.size} functionals, the "
            f"worst is number {i} with z = {self.z[i]:.1f} (threshold {self.threshold:.1f}), a bias of "
            f"{self.bias[i]:+.3f} sd; a bias of {self.smallest_bias[varying].max():.3f} sd would have been found; "
            f"the chains moved by {self.moved[varying].min():.2f} to {self.moved[varying].max():.2f}{constant}"
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
    """Test whether the sampler keeps the distribution of `exact_draws`.

    sampler: with all settings fixed; a warm-up would not keep any distribution
    exact_draws: independent draws in the user's coordinates, stacked along a leading axis; one chain starts at each
    functionals: parameters -> a vector whose means are compared; None: every coordinate and its square
    means: their exact means, if known (a sharper test)
    num_steps: transitions of each chain
    seed: of the transitions
    level: the probability of a false alarm, shared among the functionals
    """
    exact_draws = jax.tree.map(jnp.asarray, exact_draws)
    _check_sampler(sampler, exact_draws, num_steps)
    lengths = {leaf.shape[:1] for leaf in jax.tree.leaves(exact_draws)}
    if len(lengths) != 1 or lengths == {()} or min(lengths)[0] < 100:
        raise BadInput(
            f"`exact_draws` needs at least 100 draws along the first axis of every leaf; the lengths are {lengths}"
        )
    values = functionals or coordinates_and_squares
    programs.remember(sampler, values, exact_draws, num_steps)
    start, later, last = map(_read, _run(sampler, values, exact_draws, jax.random.key(seed), num_steps))
    if not np.isfinite(later).all():
        raise BadInput("a functional is non-finite: the chains have diverged; the step size may be far too large")
    change = later - (start if means is None else _check_means(means, start.shape[1]))
    rounding = ROUNDING * float(jnp.finfo(trees.real_dtype(exact_draws)).eps) * np.maximum(1, np.abs(start).max(axis=0))
    constant = start.std(axis=0) <= rounding
    sd = np.where(constant, 1, start.std(axis=0))
    error = np.where(constant, rounding, change.std(axis=0) / np.sqrt(len(change)))
    off = change[np.abs(change).argmax(axis=0), np.arange(change.shape[1])]
    bias = np.where(constant, np.where(np.abs(off) > rounding, off, 0), change.mean(axis=0))
    z = np.where(constant, np.where(bias == 0, 0, np.copysign(np.inf, bias)), bias / np.where(error > 0, error, 1))
    threshold = float(norm.isf(level / 2 / max(1, int((~constant).sum()))))
    return KernelReport(
        ok=bool(np.all(np.abs(z) < threshold)),
        z=z,
        bias=bias / sd,
        smallest_bias=(threshold + 2) * error / sd,
        moved=1 - _correlation(start, last),
        threshold=threshold,
        num_chains=len(change),
        num_steps=num_steps,
        constant=constant,
    )


def _check_means(means: Any, count: int) -> np.ndarray:
    """Return the exact means of the functionals as an array, or raise if their number is wrong."""
    values = np.asarray(means, float)
    if values.shape != (count,):
        raise BadInput(f"`means` has the shape {values.shape}, but there are {count} functionals; give one for each")
    return values


def _check_sampler(sampler: Any, draws: Tree, num_steps: int) -> None:
    """Raise if something is left to tune, the sampler is not compiled, or the draws are of another tree."""
    if num_steps < 2:
        raise BadInput(f"num_steps is {num_steps}; the second half of a chain needs at least 2")
    if unset := _unset(sampler):
        raise BadInput(
            f"{type(sampler).__name__} has no {' and no '.join(unset)}: check_kernel has no warm-up to learn it, and "
            "a kernel that tunes itself keeps no law; set it by hand, or check what `Adapted.freeze` returns"
        )
    if not sampler.compiled:
        raise BadInput(f"{type(sampler).__name__} is not compiled (`compiled = False`); check_kernel needs one that is")
    factors = per_leaf(sampler.manifold, lambda m: 0)
    if str(jax.tree.structure(factors)) != str(jax.tree.structure(draws)):
        raise BadInput(
            f"`exact_draws` is a tree {jax.tree.structure(draws)}, but the sampler's position is "
            f"{jax.tree.structure(factors)}; give one array of draws for each leaf"
        )


def _unset(sampler: Any) -> list[str]:
    """Return the settings of a sampler, or of the one it holds, that a warm-up would have to learn."""
    names = {field.name for field in dataclasses.fields(sampler)} if dataclasses.is_dataclass(sampler) else set()
    unset = [name for name in TUNED if name in names and getattr(sampler, name) is None]
    return unset or (_unset(sampler.sampler) if "sampler" in names else [])


def coordinates_and_squares(parameters: Tree) -> Array:
    """Return every coordinate and its square."""
    flat, _ = ravel_pytree(parameters)
    return jnp.concatenate([flat, flat**2])


@keeps_programs
@partial(jax.jit, static_argnames=("values", "num_steps"))
def _run(sampler: Any, values: Functionals, draws: Tree, key: Array, num_steps: int) -> tuple[Array, Array, Array]:
    """Return the functionals at the start, averaged over the second half, and at the end, for every chain."""
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
