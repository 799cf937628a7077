"""Every exact sampler on every manifold that it supports leaves its exact law alone (the test is in `truth`).

The slow suite takes the full matrix: what each test can see, at most 3 % of a standard deviation in any functional, is
computed and asserted, and a bias of that size in every functional fails it. The fast suite takes the laws that the
registry says, in one precision, with a quarter of the chains, which see 6 %. Samplers with a Metropolis test of one
move are also tested for detailed balance.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from orthodrome.gradients import FullGradient
from orthodrome.samplers import GeodesicNUTS
from support.controls import CappedByStart
from support.registry import SAMPLERS, TARGETS
from support.truth import LARGEST_BIAS, verdict


def made(sampler: str, name: str) -> Any:
    law = TARGETS[name]
    return SAMPLERS[sampler].make(FullGradient(law.target()), law)


def cases() -> list:
    """Fast ones take float64 and float32 in turn."""
    found = []
    for i, (sampler, law) in enumerate((s, law) for s, case in SAMPLERS.items() for law in case.laws):
        for j, dtype in enumerate(("float32", "float64")):
            case = sampler, law, dtype
            found.append(pytest.param(*case, LARGEST_BIAS, marks=pytest.mark.slow, id="-".join(case)))
            if law in SAMPLERS[sampler].fast and (i + j) % 2 == 0:
                found.append(pytest.param(*case, 2 * LARGEST_BIAS, id="-".join((*case, "quick"))))
    return found


@pytest.mark.parametrize(("sampler", "name", "dtype", "bias"), cases())
def test_the_law_stays(sampler: str, name: str, dtype: str, bias: float) -> None:
    law = TARGETS[name]
    num_chains = round(SAMPLERS[sampler].chains(law) * (LARGEST_BIAS / bias) ** 2)
    with jax.enable_x64(dtype == "float64"):
        found = verdict(law, made(sampler, name), num_chains, dtype)
    assert found.passes, found
    assert found.acceptance > 0.15, "a sampler that never moves stays in the truth too"
    assert found.smallest_bias.max() <= bias, found.smallest_bias
    assert not found.shifted(bias).passes


# --- detailed balance ------------------------------------------------------------------------------------------------

NUM_BINS = 8


def which_bin(p: np.ndarray) -> np.ndarray:
    return np.floor((np.arctan2(p[:, 1], p[:, 0]) / (2 * np.pi) + 0.5) * NUM_BINS).astype(int) % NUM_BINS


def asymmetry(sampler: Any, num_chains: int, seed: int) -> float:
    """The p-value of symmetric counts of (bin before, bin after) from stationarity on the circle.

    The two cells of a pair are equal in law under detailed balance: (n_ij - n_ji)^2 / (n_ij + n_ji) is
    chi-square(1), pair by pair.
    """
    start = jnp.asarray(TARGETS["vmf-2"].exact_draws(num_chains, 7), "float32")
    step = lambda c, x: sampler.step(jax.random.fold_in(jax.random.key(seed), c), sampler.init(x))[0].position
    end = jax.jit(jax.vmap(step))(jnp.arange(num_chains), start)
    before, after = (which_bin(np.asarray(p)) for p in (start, end))
    counts = np.zeros((NUM_BINS, NUM_BINS))
    np.add.at(counts, (before, after), 1)
    i, j = np.triu_indices(NUM_BINS, 1)
    both = counts[i, j] + counts[j, i]
    seen = both > 25
    statistic = np.sum((counts[i, j] - counts[j, i])[seen] ** 2 / both[seen])
    return float(stats.chi2.sf(statistic, int(seen.sum())))


@pytest.mark.parametrize("name", [name for name, case in SAMPLERS.items() if case.reversible])
def test_detailed_balance_on_the_circle(name: str) -> None:
    """60,000 transitions: a net flow of 2 % of the transitions between two bins would be seen."""
    assert asymmetry(made(name, "vmf-2"), 60_000, 1) > 1e-4


def test_a_cap_by_the_start_breaks_detailed_balance() -> None:
    inner = GeodesicNUTS(FullGradient(TARGETS["vmf-2"].target()), 0.4, max_depth=3)
    assert asymmetry(CappedByStart(inner), 60_000, 1) < 1e-8
