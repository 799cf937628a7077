"""Section 5.1 of Byrne & Girolami (2013) on Hoff's Gibbs sampler: acceptance rates of the order of 1e-100.

The paper says, after Brubaker, Salzmann & Urtasun (2012), that the rejection step of Hoff's sampler accepts
exponentially few proposals "when c is large in the direction of the negative eigenspectra". Here its exact acceptance
probability for the coordinate x_1, along which c lies, is computed by quadrature at draws of the law (`beta_envelope`):
for the laws of Fig. 4, and for the one with c_1 = 40 ten times as concentrated. The geodesic sampler has no such
trouble: self-tuned it has the exact moments (`special.fisher_bingham`) there too, at a similar cost per draw.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from orthodrome import special
from orthodrome.core.types import Reals
from orthodrome.experiments.support.bvmf.law import DIAGONAL
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS

STATES = 100
"""The number of draws at which the acceptance probability is computed."""
TIMES, HARD = 10.0, 40.0
"""The law with c_1 = HARD, with A and c so many times as large."""
FINE, POOR, HOPELESS = -2.0, -6.0, -100.0
"""log10 of acceptance rates: one in a hundred is fine."""


class Rates(NamedTuple):
    """log10 of the acceptance probability of x_1 at draws of one law."""

    c1: float
    times: float
    log10: Reals


def rates(c1: float, x: Reals, times: float = 1.0) -> Rates:
    """Return the acceptance probabilities at some of the draws (chain, draw, 5)."""
    from orthodrome.random.beta_envelope import log_acceptance

    flat = x.reshape(-1, x.shape[-1])
    chosen = flat[:: max(1, len(flat) // STATES)][:STATES]
    values, linear = times * np.array(DIAGONAL, float), times * c1
    found = []
    for y in chosen:
        a = values[0] - np.sum(values[1:] * y[1:] ** 2) / (1 - y[0] ** 2)
        found.append(log_acceptance((len(y) - 1) / 2, float(a), 0.0, abs(linear)) / np.log(10))
    return Rates(c1, times, np.array(found))


def draw_hard(context: Context, gradient: Any, start: Any) -> tuple[Reals, float]:
    """Draw from the concentrated law by the self-tuned geodesic sampler; also return its gradients per draw."""
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": 4, "progress": context.progress}
    length = context.pick(quick=1_000, paper=10_000)
    draws = sample(GeodesicNUTS(gradient), start, num_warmup=500, num_draws=length, **settings)
    return np.asarray(draws["posterior"]["x"].values, float), float(draws["sample_stats"]["n_steps"].mean())


def collapse_claims(found: list[Rates], hard: tuple[Reals, float]) -> list[Claim]:
    """Return the claims on Hoff's acceptance rate: fine without c, poor at the paper's laws with c, hopeless at more
    concentrated ones."""
    claims = []
    for one in found:
        limit = HOPELESS if one.times > 1 else POOR if one.c1 > 0 else FINE
        median = float(np.median(one.log10))
        law = f"c1 = {one.times * one.c1:.0f}" + (f", A {one.times:.0f} times as large" if one.times > 1 else "")
        above = one.c1 == 0
        text = (
            f"{law}: the acceptance rate of Hoff's rejection step for x1 is "
            f"{'above' if above else 'below'} 1e{limit:.0f}"
        )
        says = "exponentially poor (of the order of 1e-100)" if not above else None
        measured = {"median_log10": median, "lowest_log10": float(one.log10.min())}
        claims.append(Claim(f"hoff-{one.times * one.c1:.0f}", text, says, measured, (median > limit) == above))
    return [*claims, geodesic_claim(*hard)]


def geodesic_claim(x: Reals, gradients: float) -> Claim:
    """Return the claim that the geodesic sampler has the right moments where Hoff's sampler is hopeless."""
    from arviz_stats.base import array_stats

    matrix, vector = jnp.diag(jnp.asarray(DIAGONAL, float)) * TIMES, jnp.zeros(5).at[0].set(HARD * TIMES)
    exact = special.fisher_bingham(matrix, vector)
    seen = np.concatenate([x[..., :1], x**2], axis=-1)
    truth = np.concatenate([np.asarray(exact.mean)[:1], np.diag(np.asarray(exact.second))])
    error = np.asarray(array_stats.mcse(seen, chain_axis=0, draw_axis=1, method="mean"))
    z = float(np.max(np.abs(seen.mean((0, 1)) - truth) / error))
    text = (
        f"c1 = {HARD * TIMES:.0f}, A {TIMES:.0f} times as large: the geodesic sampler's moments are exact "
        "within 4 standard errors"
    )
    measured = {"worst_z": z, "gradients_for_a_draw": gradients}
    return Claim("hoff-geodesic", text, "run times that are independent of the parameter values", measured, z < 4)
