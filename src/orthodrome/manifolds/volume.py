"""The total surface measure of the compact spaces, in the metric of the embedding.

Sphere S^{n-1}       2 pi^(n/2) / Gamma(n/2) for each copy; `Simplex` lives on it
frames V_{n,p}       2^{p(p-1)/4} prod_{k<p} area(S^{n-1-k}): turning two columns into each other moves both, so
                     each of the p(p-1)/2 such directions is sqrt(2) longer than an angle
rotations SO(n)      half of the square frames
flat simplex         sqrt(d) / (d-1)!
"""

from __future__ import annotations

import math

import jax
import numpy as np

from orthodrome.core.types import Tree
from orthodrome.errors import BadInput
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf
from orthodrome.manifolds.reflected_simplex import ReflectedSimplex
from orthodrome.manifolds.rotation import Rotation
from orthodrome.manifolds.simplex import Simplex
from orthodrome.manifolds.sphere import Sphere
from orthodrome.manifolds.stiefel import Stiefel


def log_volume(manifold: Manifold, like: Tree) -> float:
    """log of the surface measure of the whole space, for positions of the shape of `like`."""
    return float(sum(jax.tree.leaves(per_leaf(manifold, _log_volume_of_leaf, like))))


def _log_volume_of_leaf(manifold: Manifold, like: np.ndarray) -> float:
    copies = math.prod(like.shape[: like.ndim - manifold.point_ndim])
    return copies * _log_volume_of_point(manifold, like.shape[like.ndim - manifold.point_ndim :])


def _log_volume_of_point(manifold: Manifold, shape: tuple[int, ...]) -> float:
    if isinstance(manifold, Sphere | Simplex):
        return _log_area(shape[0])
    if isinstance(manifold, Stiefel):
        return _log_frames(*shape)
    if isinstance(manifold, Rotation):
        return _log_frames(*shape) - math.log(2)
    if isinstance(manifold, ReflectedSimplex):
        return math.log(shape[0]) / 2 - math.lgamma(shape[0])
    kind = type(manifold).__name__
    raise BadInput(f"the volume of {kind} is not known or not finite; known are Sphere, Simplex, Stiefel, Rotation")


def _log_area(n: int) -> float:
    return math.log(2) + n / 2 * math.log(math.pi) - math.lgamma(n / 2)


def _log_frames(n: int, p: int) -> float:
    return p * (p - 1) / 4 * math.log(2) + sum(_log_area(n - k) for k in range(p))
