"""Rotations in space: the matrix-Fisher (matrix von Mises-Fisher) law exp(tr F'R) on SO(3), with its exact constant.

The constant is that of a Bingham law of unit quaternions (`RotationVonMisesFisher.log_constant`). F is sampled itself,
in flat coordinates: an exponential family in its natural parameter, so the likelihood is log-concave. With the proper
singular value decomposition F = U S V' (det U = det V = 1, s_1 >= s_2 >= |s_3|) the mode is U V', and turns about the
j-th axis of it are the smaller, the larger the sum of the other two s: mode and S are added to every draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.densities.frames import RotationVonMisesFisher
from orthodrome.errors import BadInput
from orthodrome.manifolds import Euclidean, Product
from orthodrome.models.directional.data import read_rotations
from orthodrome.models.directional.family import Family, Parameters, Reals, log_normal, with_kinds

if TYPE_CHECKING:
    import xarray


class MatrixFisherFamily(Family):
    """The matrix-Fisher family exp(tr F'R) on rotations in space."""

    dims: ClassVar = {"parameter": ["row", "column"]}

    def read(self, data: Any) -> Reals:
        return read_rotations(data)

    def check_spread(self, x: Reals) -> None:
        if np.max(np.abs(x - x[:1])) < 1e-9:
            raise BadInput(f"all {len(x)} rows are the same rotation: its concentration would be infinite")

    def log_volume(self, x: Reals) -> float:
        return float(np.log(2**1.5 * 8 * np.pi**2))

    def manifold(self) -> Product:
        return Product({"parameter": Euclidean()})

    def statistics(self, x: Any) -> dict[str, Any]:
        return {"count": 1.0 * len(x), "mean": x.mean(0)}

    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        height = jnp.sum(p["parameter"] * statistics["mean"])
        return statistics["count"] * (height - RotationVonMisesFisher(p["parameter"]).log_constant())

    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        return log_normal(p["parameter"], data["scale"])

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        return {"parameter": x.mean(0) + rng.normal(size=(3, 3))}

    def finished(self, tree: xarray.DataTree, x: Reals) -> xarray.DataTree:
        posterior = tree["posterior"].dataset
        mode, concentration = proper_svd(np.asarray(posterior["parameter"], float))
        tree["posterior"].dataset = posterior.assign(
            mode=(("chain", "draw", "row", "column"), mode),
            concentration=(("chain", "draw", "axis"), concentration),
        )
        return with_kinds(tree, {"mode": "Rotation", "concentration": "Euclidean"})


def proper_svd(f: Reals) -> tuple[Reals, Reals]:
    """Return the mode U V' and the singular values, the last with the sign that makes both factors rotations."""
    u, s, vt = np.linalg.svd(f)
    sign = np.sign(np.linalg.det(u @ vt))
    s[..., -1] *= sign
    u[..., -1] *= sign[..., None]
    return u @ vt, s
