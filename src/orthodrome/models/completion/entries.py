"""Observed entries of a matrix: row, column and value of each, from what the user has.

A dense array has NaN where nothing is known; of a sparse matrix the stored entries are known, zeros among them; or the
three lists themselves with the shape. An entry that is given more than once counts as several observations, with a
warning; a row or column without any entry is named: nothing is learnt about it but what the prior says.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.corpora.checked import check_matrix
from orthodrome.errors import BadInput, OrthodromeWarning

NAMED = 3
"""The largest number of rows or columns that a message names."""


class Entries(NamedTuple):
    """Observed entries.

    rows, columns: their places
    values: what was observed
    shape: of the matrix
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: Reals
    shape: tuple[int, int]


def read_entries(X: Any, shape: tuple[int, int] | None = None) -> Entries:
    """Read the observed entries of a matrix, and check them.

    X: an array with NaN at unknown entries, a sparse matrix, or (rows, columns, values)
    shape: of the matrix, for (rows, columns, values); None: up to the largest row and column
    """
    if scipy.sparse.issparse(X):
        if X.format == "csr":  # SciPy does not look whether stored indices lie inside
            check_matrix(X, "the matrix")
        if X.format == "csc":
            check_matrix(X.T, "the transposed matrix")
        table = scipy.sparse.coo_array(X)
        found = table.row, table.col, table.data, table.shape
    elif isinstance(X, tuple) and len(X) == 3:
        found = (*X, shape)
    else:
        matrix = _numbers(X, "the matrix")
        if matrix.ndim != 2:
            raise BadInput(f"the matrix has the shape {matrix.shape}; give two dimensions, or (rows, columns, values)")
        rows, columns = np.nonzero(~np.isnan(matrix))
        found = rows, columns, matrix[rows, columns], matrix.shape
    return _checked(*found)


def read_places(rows: Any, columns: Any, shape: tuple[int, int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return rows and columns of entries that are asked for, checked."""
    rows, columns = (_whole(part, name) for part, name in ((rows, "rows"), (columns, "columns")))
    if rows.shape != columns.shape:
        raise BadInput(f"there are {len(rows)} rows and {len(columns)} columns; give one of each for every entry")
    _check_inside(rows, columns, shape)
    return rows.astype(np.int32), columns.astype(np.int32)


def _checked(rows: Any, columns: Any, values: Any, shape: Any) -> Entries:
    rows, columns, y = _whole(rows, "rows"), _whole(columns, "columns"), _numbers(values, "the values")
    if not (rows.shape == columns.shape == y.shape and rows.ndim == 1):
        raise BadInput(f"rows, columns and values have the shapes {rows.shape}, {columns.shape} and {y.shape}")
    if not len(y):
        raise BadInput("no entry of the matrix is observed: there is nothing to learn from")
    if shape is None:
        shape = int(rows.max()) + 1, int(columns.max()) + 1
    _check_inside(rows, columns, shape)
    if not np.all(np.isfinite(y)):
        bad = int(np.argmax(~np.isfinite(y)))
        raise BadInput(f"the entry at row {rows[bad]}, column {columns[bad]} is {y[bad]}; leave unknown entries out")
    if len(y) > 1 and np.ptp(y) == 0:
        raise BadInput(f"all {len(y)} entries are {y[0]:g}: there is nothing to learn from")
    _warn_repeated(rows, columns, shape)
    _warn_empty(rows, shape[0], "row")
    _warn_empty(columns, shape[1], "column")
    return Entries(rows.astype(np.int32), columns.astype(np.int32), y, (int(shape[0]), int(shape[1])))


def _numbers(values: Any, name: str) -> Reals:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise BadInput(
            f"{name} are not numbers" if name.endswith("s") else f"{name} is not a table of numbers"
        ) from None


def _whole(values: Any, name: str) -> NDArray[np.int64]:
    found = np.atleast_1d(np.asarray(values))
    if found.dtype.kind not in "iu" and (found.dtype.kind != "f" or np.any(found != np.round(found))):
        raise BadInput(f"{name} must be whole numbers >= 0; they are {found.dtype}")
    return found.astype(np.int64)


def _check_inside(rows: Any, columns: Any, shape: tuple[int, int]) -> None:
    outside = (rows < 0) | (rows >= shape[0]) | (columns < 0) | (columns >= shape[1])
    if np.any(outside):
        first = int(np.argmax(outside))
        raise BadInput(
            f"{int(outside.sum())} entries lie outside the {shape[0]} x {shape[1]} matrix, the first at row "
            f"{rows[first]}, column {columns[first]}; rows and columns count from 0"
        )


def _warn_repeated(rows: Any, columns: Any, shape: tuple[int, int]) -> None:
    places, times = np.unique(rows * shape[1] + columns, return_counts=True)
    if times.max() > 1:
        row, column = divmod(int(places[np.argmax(times)]), shape[1])
        text = f"{int((times > 1).sum())} entries are given more than once, as at row {row}, column {column}"
        warnings.warn(f"{text}; each counts as an observation of its own", OrthodromeWarning, stacklevel=5)


def _warn_empty(places: Any, size: int, kind: str) -> None:
    empty = np.setdiff1d(np.arange(size), places)
    if len(empty):
        some = ", ".join(map(str, empty[:NAMED])) + (", ..." if len(empty) > NAMED else "")
        text = f"{len(empty)} {kind}(s) have no observed entry: {some}; their predictions are those of the prior"
        warnings.warn(text, OrthodromeWarning, stacklevel=5)
