"""An orthonormal frame with credible bands.

Two orthonormal columns in ten dimensions, under a matrix von Mises-Fisher law: what a
principal component analysis with uncertainty looks like.
"""

import sys

import jax
import jax.numpy as jnp

from orthodrome import GeodesicNUTS, Stiefel, Target, sample
from orthodrome.plots import plot_frames

CENTRE = jnp.linalg.qr(jax.random.normal(jax.random.key(0), (10, 2)))[0] * jnp.array(
    [60.0, 20.0]
)


def logdensity(x):
    return jnp.sum(CENTRE * x)


def figure():
    sampler, start = (
        GeodesicNUTS(Target(Stiefel(), logdensity)),
        jax.ShapeDtypeStruct((10, 2), jnp.float32),
    )
    return plot_frames(
        sample(sampler, start, seed=0, num_warmup=300, num_draws=300, progress=False)
    )


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
