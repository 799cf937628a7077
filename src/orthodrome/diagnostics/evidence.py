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

On O(n) (`Stiefel` with square matrices, `Rotation(special=False)`) there are two components, and no chain leaves the
one it starts in. Each component that chains are in has its own ladder, down to the uniform law on that component, and
their integrals add up; one that no chain is in is not counted, and that is said.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput, OrthodromeWarning
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
    components: how many connected components of the space are counted, and how many there are
    """

    thermodynamic: float
    thermodynamic_error: float
    bridge: float
    bridge_error: float
    reference: float
    components: tuple[int, int] = (1, 1)


def log_evidence(
    draws: xarray.DataTree, target: Any = None, *, log_hottest: float | None = None, seed: int = 0
) -> Evidence:
    """Estimate the log normalising constant of a target, from draws of `Tempering`.

    Where the space has several components, it is the integral over those in which chains are.

    draws: those that `sample` returns for a `Tempering`
    target: the `Target` or `Posterior` on a compact space, from which the ladder goes on to the uniform law
    log_hottest: elsewhere, the log constant of the hottest rung, if it is known; None: the constant is relative to it
    seed: of the uniform draws at the end of the ladder
    """
    stats = draws["sample_stats"]
    if "replica_lp" not in stats:
        raise BadInput("these draws have no `replica_lp`: log_evidence needs a run of `Tempering`")
    heights = np.asarray(stats["replica_lp"], float)
    exponents = _common_ladder(np.asarray(stats["exponent"], float)[:, -1])
    if target is None or log_hottest is not None:
        return _estimate(_blocks(heights), exponents, 0.0 if log_hottest is None else float(log_hottest))
    parts, groups = [], _by_component(draws, target.manifold)
    total = 2 ** len(next(iter(groups)))
    exponents = np.concatenate([[0.0], exponents])
    for chains in groups.values():
        like, blocks = _one_position(draws, target.manifold, chains[0]), _blocks(heights[chains])
        uniform = _uniform_heights(target, like, seed, blocks.shape[0] * blocks.shape[1])
        blocks = np.concatenate([uniform.reshape(*blocks.shape[:2], 1), blocks], axis=2)
        parts.append(_estimate(blocks, exponents, target.manifold.log_volume(like) - math.log(total)))
    if len(parts) < total:
        _warn_components(len(parts), total)
    return _together(parts, total)


def _estimate(blocks: Reals, exponents: Reals, reference: float) -> Evidence:
    thermodynamic = _jackknife(blocks, lambda h: _thermodynamic(exponents, h))
    bridge = _jackknife(blocks, lambda h: _bridge(exponents, h))
    return Evidence(thermodynamic[0] + reference, thermodynamic[1], bridge[0] + reference, bridge[1], reference)


def _common_ladder(ladders: Reals) -> Reals:
    """Return the ladder of all chains, or raise if they differ."""
    if np.any(ladders != ladders[0]):
        raise BadInput(
            f"the chains have ladders of their own (exponents differ by up to {np.ptp(ladders, axis=0).max():.2g}); "
            "estimate from one chain at a time: log_evidence(draws.isel(chain=[0]))"
        )
    return ladders[0]


def _together(parts: list[Evidence], total: int) -> Evidence:
    """Return the evidence of a union of components: integrals add, errors in proportion to them."""
    from scipy.special import logsumexp, softmax  # late, because every run imports this package

    logs = np.array([[part.thermodynamic, part.bridge, part.reference] for part in parts])
    errors = np.array([[part.thermodynamic_error, part.bridge_error] for part in parts])
    found, share = logsumexp(logs, axis=0), softmax(logs[:, :2], axis=0)
    error = np.sqrt(np.sum((share * errors) ** 2, axis=0))
    log_z, log_z_bridge, reference = map(float, found)
    return Evidence(log_z, float(error[0]), log_z_bridge, float(error[1]), reference, (len(parts), total))


def _by_component(draws: xarray.DataTree, manifold: Manifold) -> dict[tuple[int, ...], list[int]]:
    """Return the chains by the component they are in."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for chain in range(draws["posterior"].sizes["chain"]):
        position = manifold.from_user(jax.tree.map(jnp.asarray, _one_position(draws, manifold, chain)))
        groups.setdefault(tuple(np.asarray(manifold.component(position)).tolist()), []).append(chain)
    return groups


def _warn_components(reached: int, total: int) -> None:
    warnings.warn(
        f"the space has {total} connected components and the chains are in {reached} of them: this is the integral "
        f"over {'that one' if reached == 1 else 'those'}; start chains in every component (a list as `start`), or "
        f"add log({total}/{reached}) if the density is the same after a reflection",
        OrthodromeWarning,
        stacklevel=3,
    )


def _blocks(heights: Reals) -> Reals:
    """Cut chains (chain, draw, rung) into about `BLOCKS` blocks (block, draw, rung)."""
    chains, num_draws, rungs = heights.shape
    pieces = max(1, min(num_draws, -(-BLOCKS // chains)))
    length = num_draws // pieces
    return heights[:, : pieces * length].reshape(chains * pieces, length, rungs)


def _jackknife(blocks: Reals, estimate: Any) -> tuple[float, float]:
    """Return the estimate from all blocks, and its jackknife standard error (one block left out at a time)."""
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
    return sum(log_bridge(gap * heights[:, k], gap * heights[:, k + 1]) for k, gap in enumerate(gaps))


def log_bridge(below: Reals, above: Reals) -> float:
    """Return log(Z_b / Z_a) from log(f_b / f_a), unnormalised, at as many draws of the law a and of the law b.

    Draws of a may have -inf there.
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    balance = lambda log_r: np.mean(expit(below - log_r)) - np.mean(expit(log_r - above))
    seen = np.concatenate([below[np.isfinite(below)], above])
    low, high = seen.min() - 10, seen.max() + 10
    return float(brentq(balance, low, high, xtol=1e-10))


def _uniform_heights(target: Any, like: Any, seed: int, count: int) -> Reals:
    """Return log pi_H at uniform points of the component of a position."""

    here = target.manifold.from_user(jax.tree.map(jnp.asarray, like))

    def one(i: Any) -> Any:
        point = target.manifold.random_point(jax.random.fold_in(jax.random.key(seed), i), like)
        return target.embedded_logdensity(target.manifold.into_component(point, here))

    return np.asarray(jax.jit(jax.vmap(one))(jnp.arange(count)), float)


def _one_position(draws: xarray.DataTree, manifold: Manifold, chain: int) -> Any:
    """Return the first draw of a chain, in the structure of the manifold."""
    posterior = draws["posterior"]
    arrays = [np.asarray(values.isel(chain=chain, draw=0)) for values in posterior.data_vars.values()]
    structure = jax.tree.structure(per_leaf(manifold, lambda m: 0))
    return jax.tree.unflatten(structure, arrays)
