"""A mean direction and its concentration: von Mises-Fisher data on the sphere, both parameters unknown."""

import jax
import jax.numpy as jnp

from orthodrome import (
    FullGradient,
    GeodesicNUTS,
    LogPositive,
    Posterior,
    Product,
    Sphere,
    VonMisesFisher,
    sample,
    summary,
)


def logprior(p):
    return -p["concentration"] / 50  # exponential with mean 50; the direction is uniform


def loglikelihood(p, y):
    return VonMisesFisher(p["direction"], p["concentration"]).logdensity(y)


def main():
    truth = jnp.array([0.0, 0.6, 0.8])
    data = VonMisesFisher(truth, 10.0).sample(jax.random.key(1), (100,))
    manifold = Product({"direction": Sphere(), "concentration": LogPositive()})
    posterior = Posterior(manifold, logprior, loglikelihood, data)
    start = {"direction": data[0], "concentration": jnp.array(5.0)}
    draws = sample(GeodesicNUTS(FullGradient(posterior)), start, seed=0, num_warmup=500, num_draws=500)
    print(summary(draws))

    mean = draws["posterior"]["direction"].mean(("chain", "draw")).values
    assert mean @ truth > 0.98
    assert abs(float(draws["posterior"]["concentration"].mean()) - 10) < 4


if __name__ == "__main__":
    main()
