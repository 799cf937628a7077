"""A regression whose coefficients are kept in a ball, from minibatches of differences (`ControlVariate`).

A bound on the norm of the coefficients is ridge regression's constraint, taken at its word: the posterior is the
likelihood cut off at the wall. Here that is a truncated Gaussian, so exact draws are at hand to compare with.
"""

import jax.numpy as jnp
import numpy as np

from orthodrome import SGGMC, Ball, ControlVariate, EmpiricalFisher, Posterior, sample

NUM_ROWS, RADIUS = 5_000, 1.1


def logprior(w):
    return 0.0 * w[0]


def loglikelihood(w, row):
    return -0.5 * ((row["y"] - row["x"] @ w) / 5) ** 2


def planted(rng):
    """Four columns, the last two like the first two; the coefficients have the norm 1."""
    x = rng.normal(size=(NUM_ROWS, 2))
    x = np.concatenate([x, x + 0.5 * rng.normal(size=(NUM_ROWS, 2))], axis=1)
    return x, x @ [0.7, -0.5, 0.4, -0.3] + 5 * rng.normal(size=NUM_ROWS)


def main():
    rng = np.random.default_rng(0)
    x, y = planted(rng)
    covariance = np.linalg.inv(x.T @ x / 25)
    free = covariance @ (x.T @ y / 25)
    exact = rng.multivariate_normal(free, covariance, 200_000)
    exact = exact[np.linalg.norm(exact, axis=1) < RADIUS]

    data = {"x": jnp.asarray(x, jnp.float32), "y": jnp.asarray(y, jnp.float32)}
    posterior = Posterior(Ball(radius=RADIUS), logprior, loglikelihood, data)
    center = 0.9 * free / max(1.0, np.linalg.norm(free))
    gradient = ControlVariate(posterior, jnp.asarray(center, jnp.float32), batch_size=200, noise=EmpiricalFisher())
    settings = {"num_chains": 8, "num_warmup": 800, "num_draws": 3000, "progress": False}
    draws = sample(SGGMC(gradient), jnp.zeros(4), seed=0, **settings)
    w = draws["posterior"]["x"].values.reshape(-1, 4)

    print(f"least squares has the norm {np.linalg.norm(free):.2f}, the wall is at {RADIUS}")
    for name, values in (("found", w), ("exact", exact)):
        print(f"{name}   mean {np.round(values.mean(0), 3)}   sd {np.round(values.std(0), 3)}")
    print(f"temperature {float(draws['sample_stats']['temperature'].mean()):.3f}")
    assert np.linalg.norm(w, axis=1).max() <= RADIUS * (1 + 1e-5)
    assert np.abs((w.mean(0) - exact.mean(0)) / exact.std(0)).max() < 0.3
    assert np.abs(w.std(0) / exact.std(0) - 1).max() < 0.2


if __name__ == "__main__":
    main()
