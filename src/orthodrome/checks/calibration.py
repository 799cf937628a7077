"""Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari & Gelman 2018).

Draw parameters from the prior, data from the likelihood, and L draws from the sampler's posterior: if model and
sampler agree, the rank of the true parameter among the draws is uniform on 0, ..., L. Ranks are counted in bins and
compared with the uniform law by a chi-square test for each coordinate. A hollow histogram means a posterior too
narrow, a humped one too wide, a slope a bias.

Each chain starts at the true parameter, which is itself an exact draw of its posterior, so that a right sampler
needs no burn-in; `num_warmup` transitions forget it, since the rank compares with draws that should be independent
of it.
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
from scipy.stats import chi2

from orthodrome.core import programs
from orthodrome.core.coordinates import coordinate_names
from orthodrome.core.programs import keeps_programs
from orthodrome.core.types import Tree
from orthodrome.errors import BadInput


@dataclasses.dataclass(frozen=True)
class CalibrationReport:
    """The result of `simulation_based_calibration`.

    ok: whether no coordinate is rejected
    ranks: (simulation, coordinate), each from 0 to num_draws
    counts: (coordinate, bin)
    p_values: of the chi-square test, per coordinate
    num_draws: the draws L that each true value is ranked among
    level: the probability of a false alarm
    """

    ok: bool
    ranks: np.ndarray
    counts: np.ndarray
    p_values: dict[str, float]
    num_draws: int
    level: float

    def __str__(self) -> str:
        name = min(self.p_values, key=lambda key: self.p_values[key])
        verdict = "calibrated" if self.ok else "NOT calibrated"
        return (
            f"{verdict}: ranks of {len(self.ranks)} simulations among {self.num_draws} draws; the least uniform "
            f"coordinate is {name}, p = {self.p_values[name]:.2g} (level {self.level} shared by {len(self.p_values)}): "
            f"{' '.join(map(str, self.counts[list(self.p_values).index(name)]))}"
        )


def simulation_based_calibration(
    draw_prior: Callable[[Array], Tree],
    draw_data: Callable[[Array, Tree], Any],
    make_sampler: Callable[[Any], Any],
    *,
    num_simulations: int = 1000,
    num_draws: int = 63,
    thin: int = 10,
    num_warmup: int = 100,
    num_bins: int = 16,
    seed: int = 0,
    level: float = 0.01,
) -> CalibrationReport:
    """Test whether the sampler's posterior agrees with the prior and the likelihood that generated the data.

    draw_prior: key -> parameters, in the user's coordinates
    draw_data: (key, parameters) -> data
    make_sampler: data -> a sampler of the posterior; it is traced, once for all simulations
    num_simulations: pairs of parameters and data
    num_draws: draws L from each posterior
    thin: transitions between draws, enough to make draws nearly independent
    num_warmup: transitions before the first draw, enough to forget the true parameter
    num_bins: of the histogram of ranks; num_draws + 1 must be a multiple of it
    seed: of all random numbers
    level: the probability of a false alarm
    """
    if (num_draws + 1) % num_bins:
        raise BadInput(
            f"{num_draws} draws give {num_draws + 1} ranks, which {num_bins} bins cannot share; take 63 and 16"
        )
    programs.remember(draw_prior, draw_data, make_sampler, num_draws, thin, num_warmup, num_simulations)
    settings = (draw_prior, draw_data, make_sampler, num_draws, thin, num_warmup)
    ranks = np.asarray(_ranks(jax.random.split(jax.random.key(seed), num_simulations), *settings))
    names = coordinate_names(jax.eval_shape(draw_prior, jax.random.key(0)))
    counts = np.stack([np.bincount(r * num_bins // (num_draws + 1), minlength=num_bins) for r in ranks.T])
    expected = num_simulations / num_bins
    statistics = ((counts - expected) ** 2 / expected).sum(axis=1)
    p_values = dict(zip(names, map(float, chi2.sf(statistics, num_bins - 1)), strict=True))
    ok = min(p_values.values()) > level / len(names)
    return CalibrationReport(ok, ranks, counts, p_values, num_draws, level)


@keeps_programs
@partial(jax.jit, static_argnums=(1, 2, 3, 4, 5, 6))
def _ranks(
    keys: Array, draw_prior: Any, draw_data: Any, make_sampler: Any, num_draws: int, thin: int, num_warmup: int
) -> Array:
    def one(key: Array) -> Array:
        prior_key, data_key, init_key, chain_key = jax.random.split(key, 4)
        truth = draw_prior(prior_key)
        sampler = make_sampler(draw_data(data_key, truth))
        state = sampler.init(sampler.manifold.from_user(truth), init_key)
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype), state)
        advance = lambda state, t: (sampler.step(jax.random.fold_in(chain_key, t), state)[0], None)
        state, _ = jax.lax.scan(advance, state, jnp.arange(num_warmup))

        def draw(state: Any, i: Array) -> tuple[Any, Array]:
            state, _ = jax.lax.scan(advance, state, num_warmup + i * thin + jnp.arange(thin))
            return state, ravel_pytree(sampler.manifold.to_user(state.position))[0]

        _, draws = jax.lax.scan(draw, state, jnp.arange(num_draws))
        return jnp.sum(draws < ravel_pytree(truth)[0][None, :], axis=0)

    return jax.vmap(one)(keys)
