"""Hoff's Gibbs sampler of the matrix Bingham-von Mises-Fisher law, one column after the other (Hoff 2009).

    pi(X) ~ exp(tr C'X + tr B X'AX)     on n x p frames, B = diag(b).

Given the others, column r is N y with N a basis of their orthogonal complement and y a unit vector with the density
exp(b_r y'N'AN y + (N'c_r)'y); in the basis of the eigenvectors of the quadratic form its coordinates are drawn one
after the other, given the direction of the rest, by rejection (`beta_envelope`). It needs that form of the law and an
eigendecomposition of an (n - p + 1)-square matrix for every column, and its acceptance rate may be arbitrarily low: it
is the baseline of geodesic Monte Carlo, not a recommendation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals, Setting, Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.stiefel import Stiefel
from orthodrome.samplers.contract import Sampler


class ColumnGibbsState(NamedTuple):
    """The state: an orthonormal frame."""

    position: Any


class GibbsInfo(NamedTuple):
    """What one sweep over all conditional distributions did.

    lp: the log density
    acceptance_rate: of the rejection steps
    n_steps: the number of proposals
    gave_up: the number of coordinates that stayed where they were
    """

    lp: Any
    acceptance_rate: Any
    n_steps: Any
    gave_up: Any


@pytree
class ColumnGibbs(Sampler):
    """Gibbs sampling of exp(tr linear'X + tr diag(right) X' left X), column by column, coordinate by coordinate.

    The sampler of Hoff (2009) for n x p matrices X with orthonormal columns: the baseline of geodesic Monte Carlo.

    left: A, n x n and symmetric
    right: b, of length p
    linear: C, n x p
    max_proposals: the number of rejections after which a coordinate stays, which keeps the distribution and is counted
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    left: Setting
    right: Setting
    linear: Setting
    max_proposals: int = static(default=10_000)
    compiled: bool = static(default=False)

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return Stiefel()

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact: always, since the conditionals are."""
        return True

    def problem_at(self, position: Tree) -> str | None:
        """Return why the sampler cannot start at a position, or None."""
        n, p = np.shape(position)
        shapes = np.shape(self.left), np.shape(self.right), np.shape(self.linear)
        if shapes != ((n, n), (p,), (n, p)):
            return f"left, right and linear have the shapes {shapes}; the frame needs {(n, n)}, {(p,)} and {(n, p)}"
        return None if np.allclose(self.left, np.transpose(self.left)) else "left is not symmetric"

    def init(self, position: Array, key: Array | None = None) -> ColumnGibbsState:
        """Return the state at a frame."""
        return ColumnGibbsState(position)

    def step(self, key: Array, state: ColumnGibbsState) -> tuple[ColumnGibbsState, GibbsInfo]:
        """Draw all columns once, in random order."""
        rng = generator(key)
        a, b, c = (np.asarray(part, float) for part in (self.left, self.right, self.linear))
        x = np.array(state.position, float)
        proposals = stayed = 0
        for r in rng.permutation(x.shape[1]):
            made, kept = draw_column(rng, x, r, b[r] * a, c[:, r], self.max_proposals)
            proposals, stayed = proposals + made, stayed + kept
        lp = np.sum(c * x) + np.sum(b * np.sum(x * (a @ x), axis=0))
        moved = coordinates(x) - stayed
        dtype = jnp.asarray(state.position).dtype
        info = GibbsInfo(dtype.type(lp), dtype.type(moved / proposals), np.int32(proposals), np.int32(stayed))
        return ColumnGibbsState(x.astype(dtype)), info


def draw_column(rng: np.random.Generator, x: Reals, r: int, matrix: Reals, linear: Reals, most: int) -> tuple[int, int]:
    """Draw column r of x in place from exp(u' matrix u + linear'u), orthogonal to the other columns."""
    from orthodrome.random.beta_envelope import sweep

    others = np.delete(x, r, axis=1)
    null = np.linalg.qr(others, mode="complete")[0][:, others.shape[1] :]
    values, vectors = np.linalg.eigh(null.T @ matrix @ null)
    basis = null @ vectors
    y = basis.T @ x[:, r]
    y /= np.linalg.norm(y)
    made, kept = sweep(rng, rng.permutation(y.size), y, values, basis.T @ linear, most)
    x[:, r] = basis @ y
    return made, kept


def coordinates(x: Reals) -> int:
    """Return the number of coordinates that a round draws."""
    n, p = x.shape
    return int(p * (n - p + 1))


def generator(key: Array) -> np.random.Generator:
    """Return a NumPy generator from a key."""
    return np.random.default_rng(np.asarray(jax.random.bits(key, (4,))))
