"""A girdle on the sphere.

A Bingham law that gathers around a great circle, more so on one side: no chart of the
sphere is smooth there.
"""

import sys

import jax.numpy as jnp

from orthodrome import GeodesicNUTS, Sphere, Target, sample
from orthodrome.plots import plot_sphere

POLE, SIDE = jnp.array([0.5, -0.5, 0.7071]), jnp.array([0.7071, 0.7071, 0.0])


def girdle(x):
    return -25 * jnp.dot(x, POLE) ** 2 + 1.5 * jnp.dot(x, SIDE)


def figure():
    sampler = GeodesicNUTS(Target(Sphere(), girdle))
    return plot_sphere(
        sample(sampler, SIDE, seed=0, num_warmup=300, num_draws=500, progress=False)
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
