"""One trajectory of 20 steps on the protein network, against the same in NumPy, by processor time in one run.

NumPy has one thread, as the compiled trajectory has: further threads of its matrix products spin while they wait, which
counts as processor time, on a busy machine tens of times that of the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from scipy.linalg import expm
from scipy.special import erfcx, log_ndtr
from threadpoolctl import threadpool_limits

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim
from orthodrome.gradients.full import FullGradient
from orthodrome.models.network.law import target
from orthodrome.models.network.starts import random_starts
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC

STEPS = {"frame": 0.005, "eigenvalues": 0.1, "intercept": 0.001}
NUM_STEPS, REPEATS = 20, 5
WANTED = {"float32": 5.0, "float64": 3.0}
"""The factors by which the compiled trajectory must be faster."""


def speed_claims(edges: Reals) -> list[Claim]:
    """Return the claims on how many times faster the compiled trajectory is, in both precisions."""
    start = random_starts(len(edges), 3, 1, 0, "float64")[0]
    with threadpool_limits(1):
        plain = fastest(lambda: numpy_trajectory(edges, start))
    claims = []
    for dtype, wanted in WANTED.items():
        ratio = plain / compiled_seconds(edges, dtype)
        text = f"one trajectory of 20 steps in {dtype} is at least {wanted:g} times faster than a loop in NumPy on one "
        text += "thread"
        claims.append(Claim(f"speed-{dtype}", text, None, ratio, bool(ratio >= wanted)))
    return claims


def fastest(call: Callable[[], Any]) -> float:
    """Return the processor seconds of a call, the best of a few."""
    seconds = []
    for _ in range(REPEATS):
        began = time.process_time()
        call()
        seconds.append(time.process_time() - began)
    return min(seconds)


def compiled_seconds(edges: Reals, dtype: str) -> float:
    """Return the processor seconds of our compiled transition, for one chain."""
    with jax.enable_x64(dtype == "float64"):
        sampler = GeodesicHMC(FullGradient(target(edges, "probit", dtype)), STEPS, NUM_STEPS)
        state = sampler.init(random_starts(len(edges), 3, 1, 0, dtype)[0])
        step = jax.jit(lambda kernel, key, state: kernel.step(key, state))
        call = lambda: jax.block_until_ready(step(sampler, jax.random.key(0), state))
        call()
        return fastest(call)


def numpy_trajectory(edges: Reals, start: dict[str, Any]) -> tuple[Reals, Reals, float]:
    """Follow Algorithm 1 of the paper with the gradients of its Appendix B, written plainly."""
    sign = 2 * edges - 1
    u, scale, c = start["frame"], start["eigenvalues"], float(start["intercept"])
    rng = np.random.default_rng(0)
    v, w, d = project(u, rng.normal(size=u.shape)), rng.normal(size=scale.shape), rng.normal()
    g = gradients(sign, u, scale, c)
    for _ in range(NUM_STEPS):
        v, w, d = half_kick(u, v, w, d, g)
        u, v = geodesic(u, v, STEPS["frame"])
        scale, c = scale + STEPS["eigenvalues"] * w, c + STEPS["intercept"] * d
        g = gradients(sign, u, scale, c)
        v, w, d = half_kick(u, v, w, d, g)
    np.sum(log_ndtr(sign * ((u * scale) @ u.T + c)))  # the energy at the end
    return u, scale, c


def gradients(sign: Reals, u: Reals, scale: Reals, c: float) -> tuple[Reals, Reals, float]:
    """Return the gradients of the log posterior, with phi / Phi from erfcx."""
    z = sign * ((u * scale) @ u.T + c)
    slope = sign * np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
    np.fill_diagonal(slope, 0)
    return slope @ (u * scale), np.sum(u * (slope @ u), axis=0) / 2 - scale / len(u), slope.sum() / 2 - c / 100


def half_kick(u: Reals, v: Reals, w: Reals, d: float, g: Any) -> tuple[Reals, Reals, float]:
    """Apply half a kick to every part, each with its own step."""
    v = v + STEPS["frame"] / 2 * project(u, g[0])
    return v, w + STEPS["eigenvalues"] / 2 * g[1], d + STEPS["intercept"] / 2 * g[2]


def project(u: Reals, a: Reals) -> Reals:
    """Project onto the tangent space of the frames."""
    return a - u @ (u.T @ a + a.T @ u) / 2


def geodesic(u: Reals, v: Reals, t: float) -> tuple[Reals, Reals]:
    """Follow a geodesic by the closed form with two matrix exponentials."""
    p = u.shape[1]
    a, s = u.T @ v, v.T @ v
    big = expm(t * np.block([[a, -s], [np.eye(p), a]]))
    moved = np.hstack([u, v]) @ big @ np.kron(np.eye(2), expm(-t * a))
    return moved[:, :p], moved[:, p:]
