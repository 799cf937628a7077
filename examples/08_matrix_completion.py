"""Bayesian matrix completion with orthonormal factors, from minibatches of the observed entries.

A planted matrix U diag(s) V' is seen in a few entries, with noise. U and V live on `Stiefel`, where a factorisation is
unique up to signs and order, s is a vector. Each step of the thermostat sees a batch of entries. The mean of the
predictions is compared with a point estimate, alternating least squares with a ridge, on entries that neither has
seen. `--entries 1000000` is the large case: a few minutes on two cores.
"""

import argparse

import jax.numpy as jnp
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from orthodrome import GSGNHT, Euclidean, Minibatch, Posterior, Product, Stiefel, sample

RANK, NOISE, SIGNAL = 4, 1.0, 0.7


def planted(entries, rng):
    """Rows, columns and values of noisy entries, 14 per parameter, and a fifth more for the test."""
    rows = int(entries * 10 / 18 / 14 / RANK)
    shape = rows, 4 * rows // 5
    left, right = rng.normal(size=(shape[0], RANK)), rng.normal(size=(shape[1], RANK)) * [1.3, 1.1, 0.9, 0.6]
    where = rng.choice(shape[0] * shape[1], entries + entries // 5, replace=False)
    i, j = np.divmod(where, shape[1])
    truth = SIGNAL / np.sqrt(RANK) * np.sum(left[i] * right[j], axis=1)
    return shape, i.astype(np.int32), j.astype(np.int32), (truth + NOISE * rng.normal(size=len(i))).astype(np.float32)


def logprior(p):
    """Uniform frames, a wide Gaussian for the scales (which are of the order of the square root of the size)."""
    size = p["left"].shape[0] * p["right"].shape[0]
    return -0.5 * jnp.sum(p["scales"] ** 2) / (2 * size)


def loglikelihood(p, entry):
    """One entry."""
    predicted = jnp.sum(p["left"][entry["i"]] * p["scales"] * p["right"][entry["j"]])
    return -0.5 * ((entry["y"] - predicted) / NOISE) ** 2


def least_squares(shape, i, j, y, ridge, sweeps=20):
    """Alternating least squares from the spectral start; sparse products make it a second or two."""
    _, s, vt = spectral(shape, i, j, y)
    right = vt.T * np.sqrt(s)
    seen, values = csr_array((np.ones_like(y), (i, j)), shape), csr_array((y, (i, j)), shape)
    for _ in range(sweeps):
        left = solved(seen, values, right, ridge)
        right = solved(seen.T, values.T, left, ridge)
    return left, right


def solved(seen, values, factor, ridge):
    """The best factor of one side, given the other."""
    normal = np.empty((seen.shape[0], RANK, RANK))
    for a in range(RANK):
        for b in range(RANK):
            normal[:, a, b] = seen @ (factor[:, a] * factor[:, b])
    return np.linalg.solve(normal + ridge * np.eye(RANK), (values @ factor)[..., None])[..., 0]


def spectral(shape, i, j, y):
    """The leading singular vectors of the matrix with zeros where nothing is known."""
    u, s, vt = svds(csr_array((y.astype(float), (i, j)), shape), RANK, random_state=0)
    return u, s * shape[0] * shape[1] / len(y), vt


def rmse(predicted, y):
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--entries", type=int, default=20_000, help="how many entries are observed")
    arguments.add_argument("--warmup", type=int, default=2000)
    arguments.add_argument("--draws", type=int, default=200, help="kept of each chain, every tenth step")
    options = arguments.parse_args()
    entries = options.entries

    shape, i, j, y = planted(entries, np.random.default_rng(0))
    test, train = slice(0, len(y) - entries), slice(len(y) - entries, None)
    data = {"i": jnp.asarray(i[train]), "j": jnp.asarray(j[train]), "y": jnp.asarray(y[train])}
    print(f"{shape[0]} x {shape[1]}, {entries:,} entries observed, {len(y) - entries:,} held out")

    manifold = Product({"left": Stiefel(), "right": Stiefel(), "scales": Euclidean()})
    posterior = Posterior(manifold, logprior, loglikelihood, data)
    u, s, vt = spectral(shape, i[train], j[train], y[train])
    start = {name: jnp.asarray(a, jnp.float32) for name, a in (("left", u), ("right", vt.T), ("scales", s))}
    sampler = GSGNHT(Minibatch(posterior, entries // 20))
    settings = {"num_warmup": options.warmup, "num_draws": options.draws, "thin": 10, "progress": False}
    draws = sample(sampler, start, seed=0, num_chains=2, **settings)
    p = draws["posterior"].dataset.stack(all=("chain", "draw")).transpose("all", ...)
    factors = (p[name].values for name in ("left", "scales", "right"))
    each = [np.sum((a[i[test]] * b) * c[j[test]], axis=1) for a, b, c in zip(*factors, strict=True)]
    mean, spread = np.mean(each, axis=0), np.std(each, axis=0)

    print(f"{'posterior mean':30s} held-out RMSE {rmse(mean, y[test]):.4f} (noise {NOISE})")
    errors = []
    for ridge in (1e-3, 1.0, 3.0, 6.0):  # the best of them is chosen with the held-out entries, which is not fair
        left, right = least_squares(shape, i[train], j[train], y[train], ridge)
        errors.append(rmse(np.sum(left[i[test]] * right[j[test]], axis=1), y[test]))
        print(f"{f'least squares, ridge {ridge:g}':30s} held-out RMSE {errors[-1]:.4f}")
    covered = np.mean(np.abs(y[test] - mean) < 1.645 * np.hypot(spread, NOISE))
    print(f"90 % intervals cover {covered:.3f}; temperature {float(draws['sample_stats']['temperature'].mean()):.3f}")
    assert rmse(mean, y[test]) < errors[0] and rmse(mean, y[test]) < min(errors) + 0.005
    assert abs(covered - 0.9) < 0.02


if __name__ == "__main__":
    main()
