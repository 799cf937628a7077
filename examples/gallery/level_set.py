"""A torus given by an equation.

`LevelSet(c)` holds the solutions of c(x) = 0; here a tube around a circle, with three
ridges along it.
"""

import sys

import jax.numpy as jnp
import numpy as np

from orthodrome import GeodesicNUTS, LevelSet, Target, sample
from orthodrome.plots.globe import view
from orthodrome.plots.style import GREEN, new_figure


def tube(x):
    return (jnp.sqrt(x[0] ** 2 + x[1] ** 2) - 1.0) ** 2 + x[2] ** 2 - 0.16


def ridges(x):
    around = jnp.arctan2(x[2], jnp.sqrt(x[0] ** 2 + x[1] ** 2) - 1.0)
    return 3 * jnp.cos(3 * jnp.arctan2(x[1], x[0]) + 2 * around)


def figure():
    sampler = GeodesicNUTS(Target(LevelSet(tube), ridges))
    draws = sample(
        sampler,
        jnp.array([1.4, 0.0, 0.0]),
        seed=0,
        num_warmup=300,
        num_draws=600,
        progress=False,
    )
    seen = draws["posterior"]["x"].values.reshape(-1, 3) @ view([1.0, -0.4, 1.1]).T
    seen = seen[np.argsort(seen[:, 2])]
    picture, axes = new_figure(1, 1, size=(4.6, 4.0))
    shade = np.clip((seen[:, 2] + 1.2) / 2.4, 0.1, 1)
    axes[0, 0].scatter(
        seen[:, 0], seen[:, 1], s=6, color=GREEN, alpha=shade, linewidths=0
    )
    axes[0, 0].set(aspect="equal")
    axes[0, 0].axis("off")
    return picture


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
