"""Theorem 2: the curl matrix of an SDE from its drift and its law, by the Fourier construction of its proof (S.9).

HMC and SGHMC of a double well must give Q_12 = -1, also by the integral in the plane (S.11, with the signs of erratum
004-14). In three and four dimensions Q is not unique; what it must give back is the drift. The naive sampler, noise
without friction, has none.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.experiments.support.contract import Claim
from orthodrome.recipe import complete_by_fourier, complete_in_plane

BOX = [(-3.2, 3.2), (-9.0, 9.0)]
CLOSE = 1e-6
"""The error of the drift or of Q_12 by Fourier transforms; the integral has one of 1e-3."""


def well(x: Array) -> Array:
    """Return U = x^4 - 2 x^2."""
    return x**4 - 2 * x**2


def law(z: Array) -> Array:
    """Return -H of position and momentum."""
    return -well(z[0]) - z[1] ** 2 / 2


def hmc(z: Array) -> Array:
    """Return the drift of HMC."""
    return jnp.stack([z[1], -jax.grad(well)(z[0])])


def friction(z: Array) -> Array:
    """Return D of SGHMC, with a friction that depends on the place."""
    return jnp.diag(jnp.stack([jnp.zeros_like(z[0]), 2 + jnp.sin(z[0])]))


def sghmc(z: Array) -> Array:
    """Return the drift of SGHMC."""
    return hmc(z) - friction(z) @ jnp.stack([jnp.zeros_like(z[0]), z[1]])


def completion_claims(seed: int) -> list[Claim]:
    """Return the claims on curl matrices in two, three and four dimensions."""
    off = {}
    for name, drift, noise in (("HMC", hmc, None), ("SGHMC", sghmc, friction)):
        found = complete_by_fourier(drift, noise, law, BOX)
        off[name] = float(np.max(np.abs(found.curl[found.reliable][:, 0, 1] + 1)))
    plane = complete_in_plane(hmc, None, law, BOX)
    integral = float(np.max(np.abs(plane.curl[plane.reliable][:, 0, 1] + 1)))
    naive = complete_by_fourier(hmc, friction, law, BOX).residual
    more = {"SGNHT, 3 dimensions": thermostat(), "linear, 4 dimensions": linear(seed)}
    text = "the curl matrix that is found gives the drift of the SDE within 0.01 of its largest value"
    return [
        Claim("theorem-2", f"HMC and SGHMC: Q_12 = -1 within {CLOSE:g}", "S.9", off, max(off.values()) < CLOSE),
        Claim(
            "theorem-2-plane", "HMC: Q_12 = -1 by the integral (S.11) within 1e-3", "S.11", integral, integral < 1e-3
        ),
        Claim("theorem-2-more", text, "S.9", more, max(more.values()) < 0.01),
        Claim(
            "theorem-2-naive",
            "naive SGHMC, which does not keep the law, has no curl matrix: the drift is off by 0.1 or more",
            "section 3.1",
            naive,
            naive > 0.1,
        ),
    ]


def thermostat() -> float:
    """Return the relative error of the drift of SGNHT with one coordinate."""
    drift = lambda z: jnp.stack([z[1], -z[0] - z[2] * z[1], z[1] ** 2 - 1])
    density = lambda z: -(z[0] ** 2) / 2 - z[1] ** 2 / 2 - (z[2] - 1) ** 2 / 2
    noise = lambda z: jnp.diag(jnp.asarray([0.0, 1.0, 0.0], z.dtype))
    return complete_by_fourier(drift, noise, density, [(-7.0, 7.0), (-7.0, 7.0), (-6.0, 8.0)], 64).residual


def linear(seed: int) -> float:
    """Return the relative error of the drift of a linear SDE that keeps the normal law."""
    a = np.random.default_rng(seed).normal(size=(4, 4))
    both = a - a.T + np.diag([0.5, 1.0, 1.5, 0.0])
    constant: Any = lambda z: jnp.diag(jnp.asarray([0.5, 1.0, 1.5, 0.0], z.dtype))
    drift = lambda z: -jnp.asarray(both, z.dtype) @ z
    return complete_by_fourier(drift, constant, lambda z: -jnp.sum(z * z) / 2, [(-6.0, 6.0)] * 4, 20).residual
