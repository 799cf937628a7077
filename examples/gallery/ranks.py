"""Chains that do not agree.

Rank plots of four chains on a law with two modes, without tempering: chains that sit in
different modes leave the grey band.
"""

import sys

import jax.numpy as jnp

from orthodrome import GeodesicHMC, Sphere, Target, sample
from orthodrome.plots import plot_ranks


def logdensity(x):
    return jnp.sum(jnp.array([0.0, 5.0, 20.0]) * x**2)


def figure():
    sampler = GeodesicHMC(Target(Sphere(), logdensity), step_size=0.3, num_steps=4)
    starts = [jnp.array([0.0, 0.0, sign]) for sign in (1.0, 1.0, -1.0, 1.0)]
    draws = sample(
        sampler,
        starts,
        seed=0,
        num_warmup=50,
        num_draws=500,
        progress=False,
        check=False,
    )
    return plot_ranks(draws)


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
