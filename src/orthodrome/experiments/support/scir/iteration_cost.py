"""What an iteration of SCIR costs beside one of SGRLD.

The paper says that an iteration of SCIR costs as much as one of SGRLD. Of the update of the weights alone
that is not so: SGRLD takes one normal number for a weight, SCIR a Gamma number and, where the weight is large beside
1 - e^-h, three more. An iteration also counts the batch, which in LDA is Gibbs sweeps over documents. Both are claimed,
in processor seconds: the update by itself (compiled by JAX, and by the kernels that `LDA` uses), and an iteration of
`LDA` at the sizes of section 4.1, K = 100, 7,702 words, 50 documents of 100 words, 200 sweeps.
"""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim
from orthodrome.experiments.support.lda.articles import Articles
from orthodrome.experiments.support.lda.runs import Budget, LDASetting, trace
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.kernels.transition import cir_transition_counts
from orthodrome.manifolds import Simplex
from orthodrome.models.topics.completion import completion_task
from orthodrome.samplers.stochastic.expanded_mean import expanded_mean_sgrld
from orthodrome.samplers.stochastic.scir import SCIR


def update_costs(num_weights: int) -> dict[str, float]:
    """Return seconds per iteration of both on 100 rows of weights: compiled by JAX, and by numba against NumPy."""
    form = (100, num_weights // 100)
    target = ConjugatePosterior(Simplex(), 0.1, spread_rows, jnp.arange(50, dtype=jnp.float32))
    gradient, start = ConjugateCounts(target, 10), jnp.full(form, form[1] ** -0.5)
    ours = seconds(jax_step(SCIR(gradient, 0.1), start))
    theirs = seconds(jax_step(expanded_mean_sgrld(gradient, 1e-3), jnp.full(form, 1.0)))
    counts = np.broadcast_to(np.arange(form[1]) % 10 == 0, form).astype(np.float32) * 100
    weights = np.random.default_rng(0).gamma(0.1 + counts).astype(np.float32) + 1e-20
    fast = seconds(lambda i: cir_transition_counts(i, np.log(weights), 0.1, 5.0, counts, 0.1))
    plain = seconds(lambda i: numpy_sgrld(i, weights / 100, counts, 1e-3))
    return {
        "weights": num_weights,
        "SCIR, JAX": ours,
        "SGRLD, JAX": theirs,
        "ratio, JAX": ours / theirs,
        "SCIR, numba": fast,
        "SGRLD, NumPy": plain,
        "ratio, numba to NumPy": fast / plain,
    }


def iteration_costs(num_topics: int, sweeps: int) -> dict[str, float]:
    """Return processor seconds per iteration of LDA by both methods on made-up documents."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(100, rng.dirichlet(np.full(7_702, 0.05)), size=200)
    articles = Articles(counts, completion_task(counts[:1], counts[:1]), ())
    budget = Budget(num_topics, 10, 50, sweeps, 10)
    seconds = {}
    for name, setting in (
        ("SCIR", LDASetting("scir", 0.01, 0.01, (0.1, 1, 0))),
        ("SGRLD", LDASetting("sgrld", 0.01, 0.01, (0.01, 1, 0))),
    ):
        seconds[f"LDA, {name}"] = trace(setting, articles, budget, 0).seconds / 2  # of 50 documents
    return seconds | {"LDA, ratio": seconds["LDA, SCIR"] / seconds["LDA, SGRLD"]}


def cost_claims(cost: dict[str, float]) -> list[Claim]:
    """Claim that an iteration of SCIR costs about as much as one of SGRLD, and the same of the update alone."""
    whole = "an iteration of LDA by SCIR costs about as much as one by SGRLD (at most 1.5 times, processor seconds)"
    alone = "the update of the weights alone costs about as much (at most twice, in JAX and in numba against NumPy)"
    pick = lambda word: {name: value for name, value in cost.items() if (name.startswith("LDA")) == (word == "LDA")}
    updates = max(cost["ratio, JAX"], cost["ratio, numba to NumPy"])
    return [
        Claim("cost", whole, "the same", pick("LDA"), cost["LDA, ratio"] < 1.5),
        Claim("cost-update", alone, "the same", pick("update"), updates < 2),
    ]


def spread_rows(key: Array, p: Array, rows: Array) -> Array:
    """Return counts of the rows' sum in a tenth of the weights."""
    every_tenth = (jnp.arange(p.shape[-1]) % 10 == 0).astype(p.dtype)
    return jnp.broadcast_to(every_tenth * jnp.sum(rows), p.shape)


def jax_step(sampler: Any, start: Array) -> Any:
    """Return a function that makes one compiled step with a key of its number."""
    step = jax.jit(lambda s, key, state: s.step(key, state)[0])
    state = step(sampler, jax.random.key(0), sampler.init(start, jax.random.key(1)))
    return lambda i: jax.block_until_ready(step(sampler, jax.random.key(i), state))


def numpy_sgrld(seed: int, theta: Reals, counts: Reals, h: float) -> Reals:
    """Return one step of SGRLD in the expanded-mean form, written in NumPy."""
    totals = counts.sum(axis=1, keepdims=True) / theta.sum(axis=1, keepdims=True)
    noise = np.random.default_rng(seed).standard_normal(theta.shape, np.float32)
    return np.abs(theta + h * (0.1 - theta + counts - theta * totals) + np.sqrt(2 * h * theta) * noise)


def seconds(function: Any) -> float:
    """Return the least processor time of several calls, after one that compiles."""
    function(0)
    times = []
    for i in range(1, 10):
        began = time.process_time()
        function(i)
        times.append(time.process_time() - began)
    return min(times)
