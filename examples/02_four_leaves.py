"""A product of four different spaces in one target: a frame, a direction, weights and a positive scale."""

import jax
import jax.numpy as jnp

from orthodrome import (
    FullGradient,
    GeodesicHMC,
    LogPositive,
    Product,
    Simplex,
    Sphere,
    Stiefel,
    Target,
    diagnose,
    sample,
)

MANIFOLD = Product({"frame": Stiefel(), "direction": Sphere(), "weights": Simplex(), "scale": LogPositive()})


def logdensity(p, pull):
    """The frame follows a matrix, the direction its first column, the weights are Dirichlet, the scale is Gamma."""
    frame = jnp.sum(pull * p["frame"])
    direction = 3 * p["scale"] * jnp.dot(p["frame"][:, 0], p["direction"])
    weights = jnp.sum((jnp.array([2.0, 3.0, 4.0]) - 1) * jnp.log(p["weights"]))
    return frame + direction + weights + 2 * jnp.log(p["scale"]) - 8 * p["scale"]


def main():
    pull = 5.0 * jnp.eye(4, 2)
    shapes = {
        "frame": jax.ShapeDtypeStruct((4, 2), jnp.float32),
        "direction": jax.ShapeDtypeStruct((4,), jnp.float32),
        "weights": jax.ShapeDtypeStruct((3,), jnp.float32),
        "scale": jax.ShapeDtypeStruct((), jnp.float32),
    }
    sampler = GeodesicHMC(FullGradient(Target(MANIFOLD, logdensity, pull)))
    draws = sample(sampler, shapes, seed=0, num_warmup=500, num_draws=500)
    print(diagnose(draws))

    weights = draws["posterior"]["weights"].mean(("chain", "draw")).values
    assert abs(weights - jnp.array([2.0, 3.0, 4.0]) / 9).max() < 0.03


if __name__ == "__main__":
    main()
