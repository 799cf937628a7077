"""Two angles that depend on each other.

Points of a torus, as two unit vectors in the plane: the cosine of their difference
holds them together.
"""

import sys

import jax.numpy as jnp

from orthodrome import GeodesicNUTS, Sphere, Target, sample
from orthodrome.plots import plot_torus


def logdensity(x):
    return 3 * jnp.dot(x[0], x[1]) + 1.5 * x[0, 0]


def figure():
    sampler, start = (
        GeodesicNUTS(Target(Sphere(), logdensity)),
        jnp.array([[1.0, 0.0], [1.0, 0.0]]),
    )
    return plot_torus(
        sample(sampler, start, seed=0, num_warmup=300, num_draws=500, progress=False)
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
