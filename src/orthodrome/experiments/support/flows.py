"""The flows of section 4 of Byrne & Girolami (2013): what they cost, and the orthogonal group.

"The algorithm scales linearly in d" (spheres) and "linearly with d" (frames of p columns): the floating-point
operations of a projection and of a flow, as the compiler counts them, for once, twice and four times the d. On the
orthogonal group the flow of frames must be X exp(t A), with A = X'V, which for d = 3 is Rodrigues' formula

    exp(t A) = I + sin(a t) / a A + (1 - cos(a t)) / a^2 A^2,      a the length of A's axis.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import expm

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim
from orthodrome.manifolds import Sphere, Stiefel

SIZES, COLUMNS, TIME = (500, 1000, 2000), 3, 0.7
LINEAR = 0.02
"""How far the ratio of operations for twice the d may be from two."""


def operations(manifold: Any, shape: tuple[int, ...]) -> float:
    """Return the floating-point operations of a projection and a flow, as counted by the compiler before it begins."""

    def once(x: Any, v: Any) -> Any:
        return manifold.geodesic(x, manifold.project(x, v), TIME)

    point = jax.ShapeDtypeStruct(shape, jnp.float32)
    counted: Any = jax.jit(once).lower(point, point).cost_analysis()
    return float(counted["flops"])


def cost_claims() -> list[Claim]:
    """Return the claims that operations grow linearly with d."""
    claims = []
    for name, manifold, rest in (("sphere", Sphere(), ()), ("frames", Stiefel(), (COLUMNS,))):
        found = [operations(manifold, (d, *rest)) for d in SIZES]
        ratio = (found[2] - found[1]) / (found[1] - found[0])
        text = f"{name}: doubling d doubles the operations of a projection and a flow, apart from a constant"
        measured = {"operations": dict(zip(map(str, SIZES), found, strict=True)), "ratio of the growth": ratio}
        share = found[0] > 0 and found[2] / found[0] > 2
        claims.append(Claim(f"cost-{name}", text, "linear in d", measured, bool(share and abs(ratio - 2) < LINEAR)))
    return claims


def group_claims() -> list[Claim]:
    """Return the claims on the orthogonal group."""
    off = {str(d): float(np.max(np.abs(np.subtract(*both(d))))) for d in (3, 5)}
    x, v = frame(3)
    rodrigues = float(np.max(np.abs(x @ turn(x.T @ v, TIME) - both(3)[0])))
    text = "the flow of square frames is X exp(t A) with A = X'V"
    return [
        Claim("orthogonal-group", text, "section 4.3", off, max(off.values()) < 1e-12),
        Claim(
            "rodrigues",
            "for d = 3 the flow of square frames is Rodrigues' formula",
            "section 4.3",
            rodrigues,
            rodrigues < 1e-12,
        ),
    ]


def frame(d: int) -> tuple[Reals, Reals]:
    """Return an orthogonal matrix and a tangent at it."""
    rng = np.random.default_rng(d)
    x = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return x, np.asarray(Stiefel().project(jnp.asarray(x), jnp.asarray(rng.normal(size=(d, d)))))


def both(d: int) -> tuple[Reals, Reals]:
    """Return the flow from a frame for TIME, and X exp(t A)."""
    x, v = frame(d)
    return np.asarray(Stiefel().geodesic(jnp.asarray(x), jnp.asarray(v), TIME)[0]), x @ expm(TIME * x.T @ v)


def turn(a: Reals, time: float) -> Reals:
    """Return exp(t A) of a skew matrix of three rows."""
    angle = np.sqrt(np.sum(a * a) / 2)
    return np.eye(3) + np.sin(angle * time) / angle * a + (1 - np.cos(angle * time)) / angle**2 * a @ a
