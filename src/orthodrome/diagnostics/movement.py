"""The check that the chains moved: non-finite draws, variables that stay constant, and too few accepted moves.

R-hat is NaN for a constant and the effective sample size is then the number of draws, so neither sees a chain that
never moved; nor do they see a move that is accepted too seldom until the run is very long.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.manifolds import manifold_named

if TYPE_CHECKING:
    import xarray

LEAST_SHARE = 0.25
"""Mean acceptance below this share of what the sampler aims at is a problem."""
FEWEST = 4
"""Draws of a chain, below which its statistics are not defined."""


def moved(tree: xarray.DataTree) -> xarray.Dataset:
    """Return the posterior without the variables that its sampler does not move after the warm-up."""
    posterior = tree["posterior"].to_dataset()
    return posterior.drop_vars([name for name in json.loads(tree.attrs.get("held", "[]")) if name in posterior])


def movement_problems(arrays: Mapping[str, np.ndarray], kinds: Mapping[str, str]) -> list[str]:
    """Return what is wrong with draws (chain, draw, ...) by name; kinds: the names of their manifolds."""
    chains, num_draws = next(iter(arrays.values())).shape[:2]
    if num_draws < FEWEST:
        return [f"{num_draws} draw(s) of a chain cannot be judged: draw at least {FEWEST}, better some hundred."]
    flat = {name: values.reshape(chains, num_draws, -1) for name, values in arrays.items()}
    still = {name: np.all(values == values[:, :1], axis=1) for name, values in flat.items()}
    if all(np.all(s) for s in still.values()):
        return [_never_moved(flat)]
    found = [text for name, values in flat.items() for text in _not_finite(name, values)]
    return found + [text for name, s in still.items() for text in _constants(name, flat[name], s, kinds.get(name, ""))]


def acceptance_problems(stats: Any, aim: float) -> list[str]:
    """Return what is wrong with the rates of acceptance.

    aim: what they should be, about; NaN: nothing is known, or any will do (rejection steps of a Gibbs sampler)
    """
    if "acceptance_rate" not in stats or np.isnan(aim):
        return []
    rates = np.asarray(stats["acceptance_rate"], float)
    means = np.mean(rates, axis=tuple(range(1, rates.ndim)))
    chain = int(np.argmin(means))
    if means[chain] >= LEAST_SHARE * aim:
        return []
    return [
        f"chain {chain} accepts {means[chain]:.2g} of its moves, while this sampler aims at {aim:g}: take a smaller "
        "step size, or leave it None and give the warm-up more transitions."
    ]


def _never_moved(flat: Mapping[str, np.ndarray]) -> str:
    together = all(np.all(values == values[:1, :1]) for values in flat.values())
    where = "all chains started at one point and never left it" if together else "no chain ever left its start"
    return f"all draws of a chain are equal: {where}; take a smaller step size, or start elsewhere."


def _not_finite(name: str, values: np.ndarray) -> list[str]:
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return []
    chain, draw, _ = bad[0]
    return [f"{name}: {len(bad)} numbers are NaN or infinite, the first in chain {chain}, draw {draw}."]


def _constants(name: str, values: np.ndarray, still: np.ndarray, kind: str) -> list[str]:
    """Return what is wrong with a variable that is constant, unless a model adds it (no kind), its manifold fixes it,
    or it underflows."""
    stuck = np.flatnonzero(np.all(still, axis=1))
    if not kind:
        return []
    if stuck.size:
        which = "all chains" if stuck.size == len(still) else "chain(s) " + ", ".join(map(str, stuck))
        return [f"{name}: {which} never moved; take a smaller step size for it, or start elsewhere."]
    if manifold_named(kind).pins:
        return []
    pinned = np.flatnonzero(np.all(values == values[:1, :1], axis=(0, 1)))
    return [f"{name}: {pinned.size} of its {still.shape[1]} numbers never changed."] if pinned.size else []
