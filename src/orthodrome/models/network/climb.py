"""From the spectrum of a large network to the neighbourhood of its mode, by Newton steps for blocks of nodes.

Given all other nodes and the eigenvalues the log likelihood is concave in u_i, so with the sums of `all_pairs` and the
precision m of an element of a random frame a step for a node is

    (L H_i L + m I)^-1 (L (r U)_i - m u_i),      H_i = sum_j h_ij u_j u_j',

taken for a block of nodes at a time, the next block seeing what the last has changed. After each pass U L U' is made a
frame with eigenvalues again, without being changed, and L and c take a Newton step of the log posterior together: eta
is linear in them. Only the neighbourhood matters: it is where chains start and what gradients are compared with
(`pair_gradient`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.models.network.all_pairs import NetworkRows, PairSums, block_sums, sums
from orthodrome.models.network.law import INTERCEPT_VARIANCE
from orthodrome.models.network.starts import Spectrum

PASSES, ENOUGH = 30, 0.003
"""The most passes, and the gain of one, in nats for each number, that is too little for another."""


def climbed(
    rows: NetworkRows, spectrum: Spectrum, link: str, dtype: str, passes: int = PASSES
) -> tuple[Tree, PairSums]:
    """Return a point nearer to the mode than a spectrum, after at most so many passes, and the sums there."""
    x: Tree = dict(zip(("frame", "eigenvalues", "intercept"), (jnp.asarray(a, dtype) for a in spectrum), strict=True))
    found = sums_at(rows, x, link)
    for _ in range(passes):
        levelled = _levelled(x, found)
        moved = _orthonormal(_passed(rows, levelled, link))
        now = sums_at(rows, moved, link)
        gain = float(now.loglikelihood - found.loglikelihood) / 2
        if gain > 0:
            x, found = moved, now
        if not gain > ENOUGH * moved["frame"].size:
            break
    return x, found


@jax.jit(static_argnames="link")
def sums_at(rows: NetworkRows, x: Tree, link: str) -> PairSums:
    """Return the sums over all pairs, compiled."""
    return sums(rows, x, link)


@jax.jit(static_argnames="link")
def _passed(rows: NetworkRows, x: Tree, link: str) -> Tree:
    """Return the nodes after a step of each, block by block."""
    m, values = x["frame"].shape[0], x["eigenvalues"]

    def one(frame: Array, block: NetworkRows) -> tuple[Array, None]:
        found = block_sums(block, x | {"frame": frame}, link)
        here = frame[jnp.minimum(block.nodes, m - 1)]
        bend = found.curvature * (values[:, None] * values[None])[None]
        move = solved(bend + m * jnp.eye(len(values), dtype=frame.dtype)[None], found.pull * values[None] - m * here)
        return frame.at[block.nodes].set(here + move, mode="drop"), None

    return x | {"frame": jax.lax.scan(one, x["frame"], rows)[0]}


def solved(matrices: Array, vectors: Array) -> Array:
    """Return A^-1 b for many small positive definite A (n, p, p) and b (n, p), eliminated for all of them at once.

    A batch of LAPACK's factorisations could wait for itself for ever (see `core.lapack`), and a loop would be slow.
    """
    table = jnp.concatenate([matrices, vectors[:, :, None]], axis=2)
    for k in range(vectors.shape[1]):
        pivot = table[:, k] / table[:, k, k, None]
        table = (table - table[:, :, k, None] * pivot[:, None]).at[:, k].set(pivot)
    return table[:, :, -1]


def _orthonormal(x: Tree) -> Tree:
    """Return the same U L U' with an orthonormal frame and falling eigenvalues."""
    columns, triangle = np.linalg.qr(np.asarray(x["frame"], float))
    values, turn = np.linalg.eigh((triangle * np.asarray(x["eigenvalues"], float)) @ triangle.T)
    order, dtype = np.argsort(-values), x["frame"].dtype
    frame, values = columns @ turn[:, order], values[order]
    return x | {"frame": jnp.asarray(frame, dtype), "eigenvalues": jnp.asarray(values, dtype)}


def _levelled(x: Tree, found: PairSums) -> Tree:
    """Return the point after a Newton step of L and c, of which u_ik u_jk and 1 are the features of a pair."""
    u, pull, weight, bend = (np.asarray(a, float) for a in (x["frame"], found.pull, found.weight, found.curvature))
    m, p = u.shape
    values = np.append(np.asarray(x["eigenvalues"], float), float(x["intercept"]))
    prior = np.append(np.full(p, 1 / m), 1 / INTERCEPT_VARIANCE)
    slope = np.append(np.sum(u * pull, axis=0), float(found.slope)) / 2 - prior * values
    hessian = np.empty((p + 1, p + 1))
    hessian[:p, :p] = np.einsum("ik,ikl,il->kl", u, bend, u) / 2
    hessian[:p, p] = hessian[p, :p] = np.sum(u * weight, axis=0) / 2
    hessian[p, p] = float(found.bend) / 2
    values = values + np.linalg.solve(hessian + np.diag(prior), slope)
    dtype = x["frame"].dtype
    return x | {"eigenvalues": jnp.asarray(values[:p], dtype), "intercept": jnp.asarray(values[p], dtype)}
