"""What may be wrong with the rows of a mixture, and the rows in the form that their components read.

gaussian       real numbers; centred at their mean, which is the base measure's unless it is given
multinomial    counts, dense or sparse; every row must have one
categorical    whole numbers 0, 1, ... in every column: one simplex for each column (Dunson & Xing 2009)
vmf            unit vectors
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from orthodrome.corpora.checked import check_matrix
from orthodrome.errors import BadInput
from orthodrome.models.mixture.components import (
    CategoricalComponents,
    Components,
    CountRows,
    DenseRows,
    GaussianComponents,
    VonMisesFisherComponents,
)

FAMILIES = ("gaussian", "multinomial", "categorical", "vmf")
UNIT = 1e-4
"""By how much the length of a row may differ from 1; it is then divided by its length."""
SHOWN = 5
"""Rows that an error names."""


def named_rows(rows: Any) -> str:
    """Return the first of some row numbers in words."""
    shown = ", ".join(str(int(row)) for row in rows[:SHOWN])
    return f"row{'s' if len(rows) > 1 else ''} {shown}{f' and {len(rows) - SHOWN} more' if len(rows) > SHOWN else ''}"


def read_table(model: Any, X: Any, reset: bool) -> Any:
    """Return X as a matrix of finite numbers, dense or (for counts) sparse."""
    sparse = model.family == "multinomial"
    kinds: Any = "csr" if sparse else False
    try:
        table = validate_data(model, X, reset=reset, accept_sparse=kinds, dtype="numeric", ensure_all_finite=False)
    except ValueError as error:  # scikit-learn's words, as an error of ours
        raise BadInput(f"X: {error}") from error
    values = table.data if scipy.sparse.issparse(table) else table
    if values.dtype.kind not in "fiub":
        raise BadInput(f"X must hold real numbers; its dtype is {values.dtype}")
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        bad = np.flatnonzero(~np.isfinite(np.asarray(table.sum(axis=1)).ravel()))
        raise BadInput(f"Input X contains NaN or infinity: {named_rows(bad)}. Remove or impute these rows")
    return table


def read_rows(model: Any, X: Any, components: Components | None = None) -> Any:
    """Return the rows of X, checked; components: those of the fit, None at its beginning."""
    table = read_table(model, X, components is None)
    if model.family == "multinomial":
        return count_rows(table)
    if model.family == "categorical":
        return one_hot(table, None if components is None else components.bounds)  # type: ignore[attr-defined]
    if model.family == "vmf":
        return DenseRows(unit_rows(np.asarray(table, np.float64)))
    x = np.asarray(table, np.float64)
    return DenseRows(x if components is None else np.ascontiguousarray(x - components.offset))  # type: ignore[attr-defined]


def count_rows(table: Any) -> CountRows:
    """Return rows of counts; negative ones, fractions and rows without any are refused."""
    table = scipy.sparse.csr_matrix(table)
    check_matrix(table, "X")  # compiled code would read outside of its arrays
    if table.data.size and table.data.min() < 0:
        row = int(np.searchsorted(table.indptr, int(table.data.argmin()), side="right")) - 1
        raise BadInput(f"Negative values in data: row {row} has a count of {table.data.min()}; counts are >= 0")
    if np.any(table.data != np.rint(table.data)):
        row = int(np.searchsorted(table.indptr, int(np.argmax(table.data != np.rint(table.data))), side="right")) - 1
        raise BadInput(
            f"family='multinomial' needs whole counts; row {row} has a fraction. Use counts, not proportions"
        )
    empty = np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() == 0)
    if empty.size:
        raise BadInput(
            f"{named_rows(empty)} of X: all counts are 0, which says nothing about a cluster. Remove such rows"
        )
    return CountRows.of(table)


def one_hot(table: Any, bounds: tuple[int, ...] | None) -> CountRows:
    """Return rows of codes as counts of 1 in one column of every block."""
    codes = np.asarray(table)
    if np.any(codes != np.rint(codes)) or np.any(codes < 0):
        row = int(np.argwhere((codes != np.rint(codes)) | (codes < 0))[0, 0])
        raise BadInput(f"family='categorical' needs codes 0, 1, 2, ...; row {row} has others: {codes[row]}")
    codes = codes.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(codes.max(axis=0) + 1)]) if bounds is None else np.array(bounds)
    beyond = np.argwhere(codes >= np.diff(starts))
    if beyond.size:
        row, column = beyond[0]
        known = starts[column + 1] - starts[column]
        raise BadInput(
            f"row {row}, column {column} has the code {codes[row, column]}; `fit` saw the codes 0 to {known - 1}"
        )
    places = (codes + starts[:-1]).astype(np.int32).ravel()
    rows = np.arange(codes.shape[0] + 1, dtype=np.int64) * codes.shape[1]
    return CountRows(rows, places, np.ones(places.shape[0]), tuple(int(x) for x in starts))


def unit_rows(x: Any) -> Any:
    """Return rows of length 1; others are refused."""
    if x.shape[1] < 2:
        raise BadInput(f"unit vectors need at least 2 columns; X has {x.shape[1]}")
    lengths = np.sqrt(np.sum(x**2, axis=1))
    bad = np.flatnonzero(np.abs(lengths - 1) > UNIT)
    if bad.size:
        worst = bad[np.argmax(np.abs(lengths[bad] - 1))]
        raise BadInput(
            f"family='vmf' needs unit vectors; {named_rows(bad)} of X are not: row {worst} has the length "
            f"{lengths[worst]:.4g}. Divide every row by its length"
        )
    return x / lengths[:, None]


def components_for(model: Any, rows: Any) -> tuple[Components, Any]:
    """Return the components for these rows, with their base measure, and the rows (centred, if they are real)."""
    if model.family in ("multinomial", "categorical"):
        return CategoricalComponents(float(model.category_prior), rows.bounds), rows
    if model.family == "vmf":
        low, high = model.kappa_range
        return VonMisesFisherComponents(rows.x.shape[1], (math.log(low), math.log(high))), rows
    return _gaussian(model, rows.x)


def _gaussian(model: Any, x: Any) -> tuple[Components, Any]:
    """Return Gaussian components: nu = d + 2 and E[covariance] = a share of the variances of the rows."""
    d, offset = x.shape[1], x.mean(axis=0) if model.mean_prior is None else finite_array("mean_prior", model.mean_prior)
    if offset.shape != (d,):
        raise BadInput(f"mean_prior has the shape {offset.shape}; X has {d} columns")
    degrees = d + 2.0 if model.degrees_of_freedom_prior is None else float(model.degrees_of_freedom_prior)
    if not degrees > d - 1:
        raise BadInput(f"degrees_of_freedom_prior is {degrees}; it must be above {d - 1}, the columns of X less 1")
    if model.covariance_prior is None:
        variances = np.maximum(x.var(axis=0), 1e-12 + 1e-12 * np.abs(x).max(axis=0) ** 2)
        scatter = np.diag(variances) * SHARE * max(degrees - d - 1, 0.5)
    else:
        scatter = finite_array("covariance_prior", model.covariance_prior)
    if scatter.shape != (d, d) or not np.allclose(scatter, scatter.T) or np.linalg.eigvalsh(scatter)[0] <= 0:
        raise BadInput(f"covariance_prior must be a symmetric positive definite matrix of shape {(d, d)}")
    rows = DenseRows(np.ascontiguousarray(x - offset))
    return GaussianComponents(scatter, offset, float(model.mean_precision_prior), degrees), rows


def finite_array(name: str, value: Any) -> Any:
    """Return a setting as an array of finite numbers."""
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if not np.all(np.isfinite(found)):
        raise BadInput(f"{name} is {value!r:.60}; it must be an array of finite numbers")
    return found


SHARE = 0.1
"""The variance within a cluster that the base measure expects, as a share of that of all rows."""
