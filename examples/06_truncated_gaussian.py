"""The mean of a Gaussian that is known to lie in a ball, from minibatches; exact draws are at hand to compare with.

Many observations say that the mean is near the wall of the unit ball, some of their posterior outside of it: the truth
is a truncated Gaussian. `Ball` is carried on a sphere one dimension up, where the wall is an equator that trajectories
cross, so `SGGMC` needs no care there. The noise of the batches is measured (`EmpiricalFisher`) and taken out.
"""

import jax.numpy as jnp
import numpy as np

from orthodrome import SGGMC, Ball, EmpiricalFisher, Minibatch, Posterior, sample

NUM_ROWS, SD = 2_000, 10.0


def logprior(mean):
    return 0.0 * mean[0]


def loglikelihood(mean, row):
    return -0.5 * jnp.sum(((row - mean) / SD) ** 2)


def truncated(center, sd, count, rng):
    """Exact draws, by throwing away what lies outside."""
    x = center + sd * rng.normal(size=(count, len(center)))
    return x[np.sum(x**2, axis=1) < 1]


def main():
    rng = np.random.default_rng(0)
    rows = rng.normal([0.8, 0.4, 0.0], SD, size=(NUM_ROWS, 3))
    posterior = Posterior(Ball(), logprior, loglikelihood, jnp.asarray(rows, jnp.float32))
    sampler = SGGMC(Minibatch(posterior, 200, noise=EmpiricalFisher()))
    draws = sample(sampler, jnp.zeros(3), seed=0, num_chains=8, num_warmup=500, num_draws=2000, progress=False)
    x = draws["posterior"]["x"].values.reshape(-1, 3)

    exact = truncated(rows.mean(0), SD / np.sqrt(NUM_ROWS), 400_000, rng)
    print("        mean                       sd")
    for name, values in (("found", x), ("exact", exact)):
        print(f"{name}   {np.round(values.mean(0), 3)}   {np.round(values.std(0), 3)}")
    print(f"temperature {float(draws['sample_stats']['temperature'].mean()):.3f}")
    assert np.abs(x.mean(0) - exact.mean(0)).max() < 0.1 * exact.std()
    assert np.abs(x.std(0) / exact.std(0) - 1).max() < 0.1


if __name__ == "__main__":
    main()
