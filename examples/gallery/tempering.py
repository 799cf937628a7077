"""Tempering between two modes.

How often neighbours on the ladder exchange, what each rung sees, which replica is cold,
and the round trips: the number of independent looks at the modes.
"""

import sys

import jax.numpy as jnp

from orthodrome import FullGradient, GeodesicHMC, Sphere, Target, Tempering, sample
from orthodrome.plots import plot_ladder


def logdensity(x):
    return jnp.sum(jnp.array([0.0, 5.0, 20.0]) * x**2)


def figure():
    inner = GeodesicHMC(
        FullGradient(Target(Sphere(), logdensity)), step_size=0.3, num_steps=4
    )
    sampler = Tempering(inner, ladder=(0.05, 0.15, 0.4, 1.0))
    start = jnp.array([0.0, 0.0, 1.0])
    return plot_ladder(
        sample(sampler, start, seed=0, num_warmup=100, num_draws=600, progress=False)
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
