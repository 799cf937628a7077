"""Every sampler on every manifold leaves its exact law alone (the test is in `truth`).

The fast suite takes every manifold with HMC and some with the others, in one precision; the slow one the full matrix.
What each test can see, at most 3 % of a standard deviation in any functional, is computed and asserted; a bias
of that size in every functional fails it.
"""

from __future__ import annotations

import itertools

import jax
import pytest

from support.registry import ONE_PER_MANIFOLD, SAMPLERS, TARGETS
from support.truth import LARGEST_BIAS, verdict

FAST = {
    *itertools.product(["GeodesicHMC"], [*ONE_PER_MANIFOLD, "log-ratio-tiny", "simplex-poles"]),
    *itertools.product(["GeodesicNUTS"], ["vmf-3", "bingham", "gaussian-1"]),
    *itertools.product(["RandomWalk"], ["vmf-3", "simplex", "ball", "positive"]),
}


def cases() -> list:
    """Fast ones take float64 and float32 in turn."""
    found = []
    for i, (sampler, law) in enumerate(itertools.product(SAMPLERS, TARGETS)):
        fast = (sampler, law) in FAST
        for j, dtype in enumerate(("float32", "float64")):
            marks = [] if fast and (i + j) % 2 == 0 else [pytest.mark.slow]
            found.append(pytest.param(sampler, law, dtype, marks=marks, id=f"{sampler}-{law}-{dtype}"))
    return found


@pytest.mark.parametrize(("sampler", "name", "dtype"), cases())
def test_the_law_stays(sampler: str, name: str, dtype: str) -> None:
    law = TARGETS[name]
    with jax.enable_x64(dtype == "float64"):
        num_chains = law.walkers if sampler == "RandomWalk" else law.chains
        found = verdict(law, SAMPLERS[sampler](law), num_chains, dtype)
    assert found.passes, found
    assert found.acceptance > 0.15, "a sampler that never moves stays in the truth too"
    assert found.smallest_bias.max() <= LARGEST_BIAS, found.smallest_bias
    assert not found.shifted(LARGEST_BIAS).passes
