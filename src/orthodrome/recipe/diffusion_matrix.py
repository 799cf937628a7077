"""Whether a matrix can be a diffusion matrix D: symmetric and positive semidefinite, in any units.

Positive semidefinite implies |D_ij| <= sqrt(D_ii D_jj). Judged by its largest entry, a matrix over coordinates of
different scale may hide a negative entry of the smaller ones; so D is examined in the units in which its diagonal is
1, D_ij / (s_i s_j) with s_i = sqrt(|D_ii|), which changes neither property.
"""

from __future__ import annotations

import numpy as np


def wrong_diffusion(d: np.ndarray, tolerance: float, names: list[str]) -> list[str]:
    """Return in what way D (point, n, n) is not symmetric or not positive semidefinite, where and by how much.

    tolerance: relative to each pair of coordinates
    names: of the coordinates
    """
    problems, scaled = [], d / _units(d)
    if (bad := np.abs(scaled - scaled.swapaxes(1, 2))).max() > tolerance:
        n, i, j = np.unravel_index(bad.argmax(), bad.shape)
        apart = abs(d[n, i, j] - d[n, j, i])
        problems.append(
            f"D is not symmetric: D and its transpose differ by {apart:.2g} at ({names[i]}, {names[j]}), point {n}"
        )
    values, vectors = np.linalg.eigh((scaled + scaled.swapaxes(1, 2)) / 2)
    if (negative := values[:, 0] < -tolerance).any():
        lowest = np.where(negative, np.linalg.eigvalsh((d + d.swapaxes(1, 2)) / 2)[:, 0], np.inf)
        n = int(lowest.argmin())
        along = names[int(np.abs(vectors[n, :, 0]).argmax())]
        problems.append(
            f"D is not positive semidefinite: its eigenvalue is {lowest[n]:.3g} at point {n}, mostly along {along}"
        )
    return problems


def _units(d: np.ndarray) -> np.ndarray:
    """Return s_i s_j at every point, where s_i is at least 1e-4 of its largest value over the points."""
    size = np.sqrt(np.abs(np.diagonal(d, axis1=1, axis2=2)))
    usual = size.max(axis=0)
    beside = np.abs(d).max(axis=(0, 2))  # never any noise of its own: by what couples it to others
    usual = np.where(usual > 0, 1e-4 * usual, np.where(beside > 0, beside / max(usual.max(), 1e-300), 1))
    size = np.maximum(size, usual)
    return size[:, :, None] * size[:, None, :]
