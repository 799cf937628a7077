"""The orientation of a body.

The matrix Fisher law exp(tr F'R) on SO(3): where a body's three axes point, given noisy
measurements of them.
"""

import sys

import jax.numpy as jnp

from orthodrome import GeodesicNUTS, Rotation, Target, sample
from orthodrome.plots import plot_rotations

MEASURED = jnp.diag(jnp.array([30.0, 12.0, 5.0]))


def logdensity(r):
    return jnp.sum(MEASURED * r)


def figure():
    sampler = GeodesicNUTS(Target(Rotation(), logdensity))
    return plot_rotations(
        sample(
            sampler, jnp.eye(3), seed=0, num_warmup=300, num_draws=500, progress=False
        )
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
