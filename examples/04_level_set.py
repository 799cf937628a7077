"""The uniform law on a torus that is known by its equation only; exact answers are known."""

import jax.numpy as jnp
import numpy as np

from orthodrome import FullGradient, GeodesicHMC, LevelSet, Target, sample

LARGE, SMALL = 1.0, 0.5


def torus(x):
    return (jnp.sqrt(x[0] ** 2 + x[1] ** 2) - LARGE) ** 2 + x[2] ** 2 - SMALL**2


def uniform(x):
    return 0.0 * x[0]


def main():
    target = Target(LevelSet(torus), uniform)
    start = jnp.array([LARGE + SMALL, 0.0, 0.0])
    draws = sample(GeodesicHMC(FullGradient(target)), start, seed=0, num_warmup=500, num_draws=2000)
    x = draws["posterior"]["x"].values.reshape(-1, 3)

    # With the angle a of the tube, the surface element is (LARGE + SMALL cos a) da: E cos a = SMALL / (2 LARGE).
    cosine = (np.hypot(x[:, 0], x[:, 1]) - LARGE) / SMALL
    print(f"E cos a = {cosine.mean():.3f}, exact {SMALL / (2 * LARGE):.3f}")
    print(f"off the torus by at most {float(draws['sample_stats']['distance'].max()):.1e}")
    assert abs(cosine.mean() - SMALL / (2 * LARGE)) < 0.05


if __name__ == "__main__":
    main()
