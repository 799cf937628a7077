"""Sparse weights: a Dirichlet law with small concentrations, where most of the mass is at the edges of the simplex.

On the square-root map (`Simplex`) such a density has poles, and exact samplers go wrong in practice. `LogRatioSimplex`
is sound; with `carry_logs` the density gets log weights, finite even where the weights are zero in float32.
"""

import jax.numpy as jnp
import numpy as np

from orthodrome import Dirichlet, FullGradient, GeodesicNUTS, LogRatioSimplex, Target, sample

CONCENTRATION = np.array([0.1, 0.3, 1.0, 2.0])


def logdensity(log_weights, concentration):
    return Dirichlet(concentration).logdensity_from_log(log_weights)


def main():
    target = Target(LogRatioSimplex(carry_logs=True), logdensity, jnp.asarray(CONCENTRATION, jnp.float32))
    start = jnp.log(jnp.ones(4) / 4)
    draws = sample(GeodesicNUTS(FullGradient(target)), start, seed=0, num_warmup=1000, num_draws=4000)
    log_weights = draws["posterior"]["x"].values.reshape(-1, 4)

    found, exact = np.exp(log_weights).mean(0), CONCENTRATION / CONCENTRATION.sum()
    print("means", np.round(found, 3), "exact", np.round(exact, 3))
    print(f"the smallest weight was exp({log_weights.min():.0f})")
    assert np.abs(found - exact).max() < 0.03


if __name__ == "__main__":
    main()
