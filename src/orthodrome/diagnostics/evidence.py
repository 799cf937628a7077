"""Normalising constants from a ladder of tempered laws (Byrne & Girolami 2013, section 6: their estimation).

With Z(e) the integral of pi_H^e over the space and l = log pi_H, unnormalised, at draws of the rungs e_0 < ... < 1:

thermodynamic   log Z(1) - log Z(e_0) = int E_e[l] de, since d log Z / de = E_e[l] and d^2 log Z / de^2 = var_e[l]; the
                trapezium with the variances at both ends of every interval, d (E + E')/2 - d^2 (V' - V)/12, is exact
                for cubics (Friel, Hurn & Wyse 2014)
bridge          for neighbours a < b the optimal bridge of Meng & Wong (1996; Bennett 1976): r = Z(b)/Z(a) with

                    mean_a[1 / (1 + r exp(-(b - a) l))] = mean_b[1 / (1 + exp((b - a) l) / r)]

                (a sum over one law of how likely each draw is to be of the other), whose logs add up along the ladder

On a compact space the ladder goes on to e = 0, where the law is uniform, draws cost nothing, and Z(0) is the volume.
Elsewhere the result is relative to the hottest rung, unless its constant is given. Errors are from a jackknife over
blocks of the chains, so that correlation in time is in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf

if TYPE_CHECKING:
    import xarray

BLOCKS = 20


class Evidence(NamedTuple):
    """Two estimates of log Z, with standard errors.

    thermodynamic, bridge: log of the integral of the unnormalised density (relative to the hottest rung if its
        constant is not known)
    reference: what was added for the hottest law: the log volume, the given constant, or 0
    """

    thermodynamic: float
    thermodynamic_error: float
    bridge: float
    bridge_error: float
    reference: float


def log_evidence(
    draws: xarray.DataTree, target: Any = None, *, log_hottest: float | None = None, seed: int = 0
) -> Evidence:
    """The log normalising constant of a target, from draws of `Tempering`.

    target: the `Target` or `Posterior` on a compact space, from which the ladder goes on to the uniform law
    log_hottest: elsewhere, the log constant of the hottest rung, if it is known
    """
    stats = draws["sample_stats"]
    if "replica_lp" not in stats:
        raise BadInput("these draws have no `replica_lp`: log_evidence needs a run of `Tempering`")
    heights = np.asarray(stats["replica_lp"], float)
    exponents = np.asarray(stats["exponent"], float)[0, -1]
    blocks = _blocks(heights)
    reference = 0.0 if log_hottest is None else float(log_hottest)
    if target is not None and log_hottest is None:
        like = _one_position(draws, target.manifold)
        reference = target.manifold.log_volume(like)
        uniform = _uniform_heights(target, like, seed, blocks.shape[0] * blocks.shape[1])
        blocks = np.concatenate([uniform.reshape(*blocks.shape[:2], 1), blocks], axis=2)
        exponents = np.concatenate([[0.0], exponents])
    thermodynamic = _jackknife(blocks, lambda h: _thermodynamic(exponents, h))
    bridge = _jackknife(blocks, lambda h: _bridge(exponents, h))
    return Evidence(thermodynamic[0] + reference, thermodynamic[1], bridge[0] + reference, bridge[1], reference)


def _blocks(heights: Reals) -> Reals:
    """(block, draw, rung) from (chain, draw, rung): pieces of chains, about `BLOCKS` of them."""
    chains, num_draws, rungs = heights.shape
    pieces = max(1, min(num_draws, -(-BLOCKS // chains)))
    length = num_draws // pieces
    return heights[:, : pieces * length].reshape(chains * pieces, length, rungs)


def _jackknife(blocks: Reals, estimate: Any) -> tuple[float, float]:
    """The estimate from all blocks, and its standard error from leaving out one at a time."""
    rungs, count = blocks.shape[2], len(blocks)
    whole = estimate(blocks.reshape(-1, rungs))
    without = [estimate(np.delete(blocks, i, axis=0).reshape(-1, rungs)) for i in range(count)] if count > 1 else []
    spread = np.sqrt((count - 1) * np.var(without)) if without else np.nan
    return float(whole), float(spread)


def _thermodynamic(exponents: Reals, heights: Reals) -> float:
    mean, variance, gap = heights.mean(axis=0), heights.var(axis=0), np.diff(exponents)
    return float(np.sum(gap * (mean[1:] + mean[:-1]) / 2 - gap**2 * np.diff(variance) / 12))


def _bridge(exponents: Reals, heights: Reals) -> float:
    gaps = np.diff(exponents)
    return sum(_log_ratio(gap * heights[:, k], gap * heights[:, k + 1]) for k, gap in enumerate(gaps))


def _log_ratio(below: Reals, above: Reals) -> float:
    """log r from (b - a) l at draws of the law a and of the law b."""
    balance = lambda log_r: np.mean(expit(below - log_r)) - np.mean(expit(log_r - above))
    low, high = min(below.min(), above.min()) - 1, max(below.max(), above.max()) + 1
    return float(brentq(balance, low, high, xtol=1e-10))


def _uniform_heights(target: Any, like: Any, seed: int, count: int) -> Reals:
    """log pi_H at uniform points."""

    def one(i: Any) -> Any:
        point = target.manifold.random_point(jax.random.fold_in(jax.random.key(seed), i), like)
        return target.embedded_logdensity(point)

    return np.asarray(jax.jit(jax.vmap(one))(jnp.arange(count)), float)


def _one_position(draws: xarray.DataTree, manifold: Manifold) -> Any:
    """The shapes of one position, in the structure of the manifold."""
    posterior = draws["posterior"]
    arrays = [np.asarray(values.isel(chain=0, draw=0)) for values in posterior.data_vars.values()]
    structure = jax.tree.structure(per_leaf(manifold, lambda m: 0))
    return jax.tree.unflatten(structure, arrays)
