"""The checks of the density: one real number at every point, in a dtype that resolves its differences."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

import jax
import numpy as np

from orthodrome.core.programs import keeps_programs
from orthodrome.core.types import Tree
from orthodrome.doors.names import leaf_name
from orthodrome.doors.users_code import explaining
from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.targets import Posterior

ENERGY_RESOLUTION = 0.01
"""The coarsest resolution of the log density, in nats, that a Metropolis test can live with."""


def check_density(target: Any, positions: Tree) -> None:
    """Raise unless the density is one real number; traces the user's function once and runs nothing."""
    if target is None:
        return
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), positions)
    _check_arrays(target.data)
    if isinstance(target, Posterior):
        check_arguments("logprior", target.logprior, 1, "logprior(parameters)")
        check_arguments("loglikelihood", target.loglikelihood, 2, "loglikelihood(parameters, datum), for one datum")
        _check_scalar("logprior", _shape("logprior", _logprior, target, one))
        rows = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), _check_rows(target.data))
        _check_scalar("loglikelihood", _shape("loglikelihood", _loglikelihood, target, one, rows))
    else:
        wanted = ("logdensity(parameters)", "logdensity(parameters, data)")[target.data is not None]
        check_arguments("logdensity", target.logdensity, 1 + (target.data is not None), wanted)
        _check_scalar("logdensity", _shape("logdensity", _logdensity, target, one))


def check_arguments(name: str, function: Any, count: int, wanted: str) -> None:
    """Raise unless a function of the user's can be called with so many arguments."""
    if not callable(function) or isinstance(function, type):
        raise BadInput(f"`{name}` is {function!r}; it must be a function, {wanted}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # compiled functions may not tell
        return
    try:
        signature.bind(*range(count))
    except TypeError as error:
        raise BadInput(f"`{name}{signature}` is called as {wanted}: {error}") from None


def _shape(name: str, function: Any, *arguments: Any) -> Any:
    with explaining(name):
        return jax.eval_shape(function, *arguments)


def _check_arrays(data: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(data):
        kind = leaf.dtype.kind if isinstance(leaf, jax.Array) else np.asarray(leaf).dtype.kind
        if kind not in "fiubcV":  # V: bfloat16 and random keys
            shown = type(leaf).__name__ if kind == "O" else np.asarray(leaf).dtype
            raise BadInput(
                f"`{leaf_name('data', path)}` is made of {shown}; `data` must be a tree of arrays of numbers"
            )


# Compiled for their cached traces only: a repeated run does not trace the user's functions again.
_logdensity = keeps_programs(jax.jit(lambda target, p: target.user_logdensity(p)))
_logprior = keeps_programs(jax.jit(lambda target, p: target.logprior(p)))
_loglikelihood = keeps_programs(jax.jit(lambda target, p, row: target.loglikelihood(p, row)))


def _check_rows(data: Any) -> Any:
    arrays = jax.tree.map(lambda leaf: leaf if isinstance(leaf, jax.Array) else np.asarray(leaf), data)
    lengths = {leaf.shape[0] if leaf.ndim else None for leaf in jax.tree.leaves(arrays)}
    if len(lengths) != 1 or None in lengths:
        raise BadInput(
            f"the arrays of `data` must share their first axis, one row per datum; their lengths are {lengths}"
        )
    return arrays


def _check_scalar(name: str, result: Any) -> None:
    leaves = jax.tree.leaves(result)
    if len(leaves) != 1 or leaves[0].shape != () or not np.issubdtype(leaves[0].dtype, np.floating):
        shapes = ", ".join(f"{leaf.dtype}{list(leaf.shape)}" for leaf in leaves) or "nothing"
        remedy = "sum the terms: jnp.sum(...)" if leaves and leaves[0].shape else "return one real number"
        raise BadInput(f"`{name}` returns {shapes}; a log density is one real number: {remedy}")


def infinite_density(position: Tree) -> str:
    """Return the words for a point, in the user's coordinates, where the log density is +inf."""
    with np.printoptions(precision=4, threshold=12, edgeitems=4):
        leaves = jax.tree_util.tree_leaves_with_path(position)
        where = ", ".join(f"x{jax.tree_util.keystr(path)} = {np.asarray(leaf)}" for path, leaf in leaves)
    return (
        f"the log density is +inf at {where}: no distribution has such a density, and no chain leaves "
        "such a point; common causes: the log of a number that underflows, with a negative factor, or a division "
        "by zero; write the density so that it is finite wherever it can be evaluated, or -inf where the "
        "distribution has no mass"
    )


def warn_coarse_energy(logdensity: Any, dtype: Any) -> None:
    """Warn if the dtype cannot resolve the differences of this log density that a Metropolis test needs."""
    size = float(np.max(np.abs(logdensity)))
    resolution = size * float(np.finfo(dtype).eps)
    if math.isfinite(size) and resolution > ENERGY_RESOLUTION:
        warnings.warn(
            f"the log density is {size:.1e} at the start, which {np.dtype(dtype).name} resolves to {resolution:.2g} "
            "nats: too coarse for a Metropolis test; use float64 (jax.config.update('jax_enable_x64', True) and a "
            "float64 start) or sum differences from a reference value",
            OrthodromeWarning,
            stacklevel=3,
        )
