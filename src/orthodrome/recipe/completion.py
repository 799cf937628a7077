"""Completion (Theorem 2 of Ma, Chen & Fox 2015): the curl matrix Q of an SDE that keeps p, on a grid.

With F_i = f_i p - sum_j d_j (D_ij p), which has no divergence, Q p must solve sum_j d_j (Q_ij p) = F_i.

In Fourier space (S.9) one solution is

    (Q_ij p)^ = (k_j F_i^ - k_i F_j^) / (2 pi i |k|^2),

here on a periodic box that is large enough for p to vanish at its faces; the constant that k = 0 leaves open is set
so that Q p vanishes at the corner. In two dimensions Q p is a stream function (S.11, with the signs of erratum
004-14):

    Q_12 = p^-1 int^{z2} F_1(z1, s) ds = -p^-1 int^{z1} F_2(s, z2) ds = -Q_21.

Either way Q is only known where p is not tiny relative to rounding errors (`reliable`). From three dimensions on Q is
not unique: the matrix found need not be the one that the SDE was made from, but it gives the same drift. HMC gives
Q_12 = -1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.integrate import cumulative_simpson

from orthodrome.errors import BadInput

RELIABLE = 1e-5
"""The fraction of its maximum above which p is large enough for Q: rounding errors of Q p are 1e-16 of it, times the
box."""


MOST = 2**24 + 2**22
"""The largest number of entries of Q on the grid, 170 MB."""


@dataclasses.dataclass(frozen=True)
class Completion:
    """The curl matrix Q on a grid.

    axes: the grid points along each coordinate
    curl: Q, of shape (*grid, d, d)
    density: p, normalised on the grid
    residual: the largest |-(D + Q) grad H + Gamma - f| over the largest |f|, where p is reliable: the error of the
        drift that Q gives
    """

    axes: tuple[np.ndarray, ...]
    curl: np.ndarray
    density: np.ndarray
    residual: float

    @property
    def reliable(self) -> np.ndarray:
        """A mask of the grid points at which p is large enough for Q to be accurate."""
        return self.density > RELIABLE * self.density.max()


def complete_by_fourier(
    drift: Callable[[Array], Array],
    diffusion: Callable[[Array], Array] | None,
    logdensity: Callable[[Array], Array],
    box: Sequence[tuple[float, float]],
    num_points: int = 128,
) -> Completion:
    """Return Q for dz = drift dt + sqrt(2 diffusion) dW by (S.9), z being a vector of 2 or more numbers.

    In d dimensions the grid has num_points^d points with d^2 numbers each; more than MOST numbers are refused, which
    leaves 128 points along each of three coordinates, 33 of four, 15 of five: enough for smooth densities of four.

    drift: z -> f(z)
    diffusion: z -> D(z), a matrix; None: no noise
    logdensity: z -> log p(z), up to a constant
    box: (lowest, highest) of each coordinate; p must be negligible at its faces
    num_points: of the grid, along each coordinate
    """
    axes, p, force, f = _on_grid(drift, diffusion, logdensity, box, num_points)
    k = _frequencies(axes)
    squared = np.sum(np.stack(k) ** 2, axis=0)
    squared[squared == 0] = 1.0  # where all k vanish, so do the numerators
    hats = [np.fft.fftn(force[..., i]) for i in range(len(axes))]
    curl = np.zeros((*p.shape, len(axes), len(axes)))
    for i in range(len(axes)):
        for j in range(i):
            flow = np.fft.ifftn((k[j] * hats[i] - k[i] * hats[j]) / (2j * np.pi * squared)).real
            curl[..., i, j] = flow - flow[(0,) * len(axes)]
            curl[..., j, i] = -curl[..., i, j]
    found = np.stack(
        [sum(_spectral(curl[..., i, j], k[j]) for j in range(len(axes))) for i in range(len(axes))], axis=-1
    )
    return Completion(axes, curl / p[..., None, None], p, _residual(found, force, p, f))


def complete_in_plane(
    drift: Callable[[Array], Array],
    diffusion: Callable[[Array], Array] | None,
    logdensity: Callable[[Array], Array],
    box: Sequence[tuple[float, float]],
    num_points: int = 256,
) -> Completion:
    """Return Q in two dimensions by (S.11): one integral along z2, from the nearer end.

    drift, diffusion, logdensity, box, num_points: as in `complete_by_fourier`
    """
    if len(box) != 2:
        raise BadInput(f"the closed form is for 2 coordinates, and the box has {len(box)}; use complete_by_fourier")
    axes, p, force, f = _on_grid(drift, diffusion, logdensity, box, num_points)
    up = cumulative_simpson(force[..., 0], x=axes[1], axis=1, initial=0.0)
    down = -cumulative_simpson(force[:, ::-1, 0], x=-axes[1][::-1], axis=1, initial=0.0)[:, ::-1]
    # both are the same stream function; weighted so that in each tail the one that starts there counts
    mass = np.cumsum(p, axis=1) / p.sum(axis=1, keepdims=True)
    flow = (1 - mass) * up + mass * down
    curl = np.zeros((*p.shape, 2, 2))
    curl[..., 0, 1], curl[..., 1, 0] = flow, -flow
    k = _frequencies(axes)
    found = np.stack([_spectral(flow, k[1]), -_spectral(flow, k[0])], axis=-1)
    return Completion(axes, curl / p[..., None, None], p, _residual(found, force, p, f))


def _on_grid(
    drift: Any, diffusion: Any, logdensity: Any, box: Sequence[tuple[float, float]], num_points: int
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Return the axes, p, F and f; F = p c with the current c of `check_sde`."""
    if len(box) < 2:
        raise BadInput(f"completion needs 2 or more coordinates, as Q is skew; the box has {len(box)}")
    if num_points < 4 or num_points ** len(box) * len(box) ** 2 > MOST:
        most = int((MOST / len(box) ** 2) ** (1 / len(box)) + 1e-9)
        raise BadInput(
            f"a grid of {num_points} points along each of {len(box)} coordinates does not fit; take num_points from 4 "
            f"to {most}" + (", which is too coarse for most densities" if most < 16 else "")
        )
    axes = tuple(np.linspace(a, b, num_points, endpoint=False) for a, b in box)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    with jax.enable_x64(True):
        look = jax.jit(jax.vmap(lambda z: (logdensity(z), *_current(drift, diffusion, logdensity, z))))
        log_p, current, f = (np.asarray(a) for a in look(jnp.asarray(points.reshape(-1, len(box)))))
    p = np.exp(log_p - log_p.max()).reshape(points.shape[:-1])
    p = p / (p.sum() * np.prod([a[1] - a[0] for a in axes]))
    return axes, p, p[..., None] * current.reshape(points.shape), f.reshape(points.shape)


def _current(drift: Any, diffusion: Any, logdensity: Any, z: Array) -> tuple[Array, Array]:
    f = drift(z)
    if diffusion is None:
        return f, f
    return f - jnp.einsum("ijj->i", jax.jacfwd(diffusion)(z)) - diffusion(z) @ jax.grad(logdensity)(z), f


def _frequencies(axes: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Return k_1, ..., k_d on the grid, with zero for the highest of an even number, which has no sign and no
    derivative."""
    lines = [np.fft.fftfreq(len(a), a[1] - a[0]) for a in axes]
    for line in lines:
        if len(line) % 2 == 0:
            line[len(line) // 2] = 0.0
    return list(np.meshgrid(*lines, indexing="ij"))


def _spectral(values: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the derivative d/dz_j on the periodic grid, by Fourier transform."""
    return np.fft.ifftn(2j * np.pi * k * np.fft.fftn(values)).real


def _residual(found: np.ndarray, force: np.ndarray, p: np.ndarray, f: np.ndarray) -> float:
    """Return the error of sum_j d_j (Q_ij p) / p, over the largest drift where p is reliable."""
    good = p > RELIABLE * p.max()
    return float((np.abs(found - force).max(axis=-1) / p)[good].max() / np.abs(f[good]).max())
