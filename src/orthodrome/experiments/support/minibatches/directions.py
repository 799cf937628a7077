"""A mixture of directions from minibatches of many rows, beside the exact sampler with a part of them.

Three von Mises-Fisher clusters in five dimensions. The posterior of all rows is narrower than that of a part by the
root of the ratio of their numbers: draws from minibatches must have that width, and the planted parameters lie inside.
"""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome.core.types import Reals
from orthodrome.densities import VonMisesFisher
from orthodrome.diagnostics import convergence
from orthodrome.errors import OrthodromeWarning
from orthodrome.experiments.support.claims.claim import within_error
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.models.directional import Directional

KAPPA, WEIGHTS, AXES = (40.0, 20.0, 10.0), (0.5, 0.3, 0.2), 5
FAR, WIDE = 4.0, 0.25
"""The largest deviation of a planted number, in posterior standard deviations; and of the log of a ratio of widths."""


def planted(count: int, seed: int) -> Reals:
    """Draw unit vectors around the first three axes."""
    sizes = np.random.default_rng(seed).multinomial(count, WEIGHTS)
    keys = jax.random.split(jax.random.key(seed), len(sizes))
    parts = [
        np.asarray(VonMisesFisher(jnp.eye(AXES)[k], KAPPA[k]).sample(key, (int(size),)))
        for k, (key, size) in enumerate(zip(keys, sizes, strict=True))
    ]
    rows = np.concatenate(parts).astype(float)
    return np.random.default_rng([seed, 1]).permutation(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def direction_claims(context: Context) -> list[Claim]:
    """Fit both, and return the claims on place and width."""
    count, part = context.pick(quick=(5_000, 1_000), paper=(200_000, 5_000))
    x = planted(count, context.seed)
    common: dict[str, Any] = {
        "components": 3,
        "num_chains": 2,
        "random_state": context.seed,
        "progress": context.progress,
    }
    # at the paper's scale 10,000 words were worth some ten independent ones: the log of a width has the error 0.07 if
    # they are worth a hundred
    batches: dict[str, Any] = {"method": "sggmc"}
    batches |= context.pick(quick={"batch_size": 500, "num_steps": 10}, paper={"batch_size": 1_000, "num_steps": 100})
    length: dict[str, Any] = context.pick(
        quick={"num_warmup": 300, "num_draws": 300}, paper={"num_warmup": 300, "num_draws": 1_500}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrthodromeWarning)
        large = Directional("mixture", **batches, **length, **common).fit(x)
        small = Directional("mixture", num_warmup=300, num_draws=300, **common).fit(x[:part])
    z, width, errors = {}, {}, []
    for name, truth in (("weight", np.array(WEIGHTS)), ("concentration", np.array(KAPPA))):
        chains = [np.asarray(m.draws_["posterior"][name], float) for m in (large, small)]
        errors.append(np.sqrt(sum(1 / (2 * np.maximum(convergence.ess(one), 1)) for one in chains)))
        one, other = (found.reshape(-1, 3) for found in chains)
        z[name] = ((one.mean(0) - truth) / one.std(0)).round(2).tolist()
        width[name] = np.log(other.std(0) / one.std(0) / np.sqrt(count / part)).round(3).tolist()
    worst, off = (max(abs(v) for row in found.values() for v in row) for found in (z, width))
    text = f"{count:,} rows by batches: planted weights and concentrations within {FAR:g} posterior standard deviations"
    narrow = (
        f"the posterior is narrower than that of {part:,} rows by the root of the ratio of rows (log within {WIDE:g})"
    )
    return [
        Claim("directions-planted", text, "section 6", z, worst < FAR),
        within_error(Claim("directions-width", narrow, None, width, off < WIDE), off - WIDE, float(np.max(errors))),
    ]
