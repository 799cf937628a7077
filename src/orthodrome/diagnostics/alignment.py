"""Draws made comparable: signs, order and labels of components that the law does not tell apart.

Columns of a frame whose sign is arbitrary, components of a mixture, factors in any order: the law is the same after a
permutation or a change of sign, chains (and draws) differ in them, and means over draws mean nothing. Each draw is
matched to a reference, the draw of highest density: the permutation that maximises the total likeness of components
(the assignment problem), each with the sign that is more like it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.diagnostics.given import check_draws
from orthodrome.errors import BadInput

if TYPE_CHECKING:
    import xarray


def align(
    draws: xarray.DataTree,
    axis: str,
    *,
    by: str | Callable[[dict[str, Any]], Any],
    signs: Sequence[str] = (),
    sort_by: str | None = None,
    permute: bool = True,
) -> xarray.DataTree:
    """Return draws whose components along an axis have the same order, and signs, in every draw.

    axis: the dimension of the components, such as "column" or "component" (`dims` of `sample` names dimensions); every
        variable of the posterior that has it is permuted
    by: the variable whose slices are compared; or a function of one draw (arrays by name) that returns a matrix with
        one row for each component, such as the probabilities with which rows of the data belong to it
    signs: variables whose slices are the same as their opposites; their signs are turned together
    sort_by: a variable with one number for each component, by which the reference falls; None: its own order
    permute: whether the order is arbitrary; False: only the signs are
    """
    check_draws(draws)
    posterior = draws["posterior"].dataset
    _check(posterior, axis, by, signs, sort_by)
    arrays = {
        name: np.moveaxis(np.array(v.transpose("chain", "draw", ...)), _place(v, axis), 2)
        for name, v in posterior.data_vars.items()
        if axis in v.dims
    }
    at = _features(posterior, arrays, by)
    best = _reference(draws, next(iter(arrays.values())).shape[:2])
    order = np.argsort(-arrays[sort_by][best]) if sort_by is not None else slice(None)
    reference, either = at(best)[order], by in signs
    for index in np.ndindex(*next(iter(arrays.values())).shape[:2]):
        chosen, sign = match(at(index), reference, either, permute)
        for name, array in arrays.items():
            turn = sign.reshape(-1, *[1] * (array.ndim - 3)).astype(array.dtype) if name in signs else 1
            array[index] = array[index][chosen] * turn
    return _written(draws, arrays, axis)


def match(rows: Any, reference: Any, either_sign: bool, permute: bool = True) -> tuple[Any, Any]:
    """Return which rows, with which signs, are most like those of the reference."""
    from scipy.optimize import linear_sum_assignment

    likeness = np.asarray(reference, float) @ np.asarray(rows, float).T
    if either_sign:
        cost = -np.abs(likeness)
    else:  # the sum of squared distances, whose other terms do not depend on the order
        cost = -likeness
    order = linear_sum_assignment(cost)[1] if permute else np.arange(len(likeness))
    sign = np.sign(likeness[np.arange(len(order)), order])
    return order, np.where(sign == 0, 1, sign) if either_sign else np.ones(len(order))


def _place(variable: Any, axis: str) -> int:
    return variable.transpose("chain", "draw", ...).dims.index(axis)


def _features(posterior: Any, arrays: dict[Any, Any], by: Any) -> Callable[[tuple[int, ...]], Any]:
    """Return the function of (chain, draw) that gives one row for each component."""
    if isinstance(by, str):
        return lambda index: arrays[by][index].reshape(arrays[by].shape[2], -1)
    plain = {str(n): np.array(v.transpose("chain", "draw", ...)) for n, v in posterior.data_vars.items()}
    return lambda index: np.asarray(by({name: array[index] for name, array in plain.items()}))


def _reference(draws: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the draw of highest density, or the last one where densities are not kept."""
    if "sample_stats" not in draws or "lp" not in draws["sample_stats"]:
        return shape[0] - 1, shape[1] - 1
    chain, draw = np.unravel_index(int(np.argmax(np.asarray(draws["sample_stats"]["lp"]))), shape)
    return int(chain), int(draw)


def _written(draws: Any, arrays: dict[Any, Any], axis: str) -> Any:
    tree, posterior = draws.copy(), draws["posterior"].dataset
    changed = {}
    for name, array in arrays.items():
        dims = posterior[name].transpose("chain", "draw", ...).dims
        changed[name] = (dims, np.moveaxis(array, 2, dims.index(axis)))
    tree["posterior"].dataset = posterior.assign(changed)
    return tree


def _check(posterior: Any, axis: str, by: Any, signs: Sequence[str], sort_by: str | None) -> None:
    if axis not in posterior.dims or axis in ("chain", "draw"):
        own = sorted(str(d) for d in posterior.dims if d not in ("chain", "draw"))
        raise BadInput(f"the draws have no dimension {axis!r} of components; they have {', '.join(own) or 'none'}")
    for name in [*([by] if isinstance(by, str) else []), *signs, *([sort_by] if sort_by else [])]:
        if name not in posterior.data_vars or axis not in posterior[name].dims:
            raise BadInput(f"{name!r} is not a variable of the draws with the dimension {axis!r}")
    if sort_by is not None and posterior[sort_by].ndim != 3:
        raise BadInput(f"sort_by={sort_by!r} must have one number for each component")
