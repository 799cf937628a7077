"""Exact weights from minibatches.

SCIR with batches of a tenth of the data, sparse categories: the distribution functions
of its draws minus the exact ones, and their Kolmogorov-Smirnov distance.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome import SCIR, Simplex, sample
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.plots import plot_ks_distance

COUNTS = np.array([800, 100, 100, 0, 0])
ROWS = np.repeat(np.arange(5), COUNTS)


def counts(key, weights, batch):
    return jnp.sum(jax.nn.one_hot(batch, 5, dtype=weights.dtype), axis=0)


def figure():
    sampler = SCIR(
        ConjugateCounts(
            ConjugatePosterior(Simplex(), 0.5, counts, ROWS), batch_size=100
        )
    )
    start = np.full(5, 0.2, np.float32)
    draws = sample(
        sampler,
        start,
        seed=0,
        num_chains=2,
        num_warmup=300,
        num_draws=1000,
        thin=5,
        progress=False,
    )
    return plot_ks_distance(draws, 0.5 + COUNTS)


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
