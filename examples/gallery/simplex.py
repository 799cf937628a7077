"""Sparse weights on a simplex.

A Dirichlet law with concentrations of 0.3, 0.4 and 0.9: most of its mass is at edges
and corners, where densities have poles. `LogRatioSimplex` is sound there.
"""

import sys

import jax.numpy as jnp

from orthodrome import GeodesicNUTS, LogRatioSimplex, Target, sample
from orthodrome.plots import plot_simplex

CONCENTRATION = jnp.array([0.3, 0.4, 0.9])


def logdensity(p):
    return jnp.sum((CONCENTRATION - 1) * jnp.log(p))


def figure():
    sampler = GeodesicNUTS(Target(LogRatioSimplex(), logdensity))
    return plot_simplex(
        sample(
            sampler,
            jnp.ones(3) / 3,
            seed=0,
            num_warmup=300,
            num_draws=500,
            progress=False,
        )
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
