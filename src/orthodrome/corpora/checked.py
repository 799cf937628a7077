"""Checks of a table of counts before anything is computed from it; they read every index once.

A CSR matrix whose column indices leave the table or whose row pointers decrease makes compiled code read outside its
arrays; a header that claims far more words or documents than the file has entries makes a reader allocate for nothing.
Both are refused here, and the message says where.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.errors import BadInput

EMPTY_NAMES, PER_ENTRY = 1 << 22, 10
"""Rows and columns that a table may have without entries, and how many more for every entry."""


def check_size(documents: int, words: int, entries: int, where: str) -> None:
    """Raise if a header claims numbers of documents or words that the entries cannot fill."""
    for count, what in ((documents, "documents"), (words, "words")):
        if not 0 <= count <= EMPTY_NAMES + PER_ENTRY * entries:
            raise BadInput(
                f"{where} claims {count:,} {what}, but has {entries:,} entries: is the header damaged? (at most "
                f"{EMPTY_NAMES:,} {what} and {PER_ENTRY} for every entry are accepted)"
            )


def check_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int], where: str) -> None:
    """Raise unless the three arrays are a CSR matrix of the shape."""
    lengths = {"data": data, "indices": indices, "indptr": indptr}
    if wrong := [name for name, array in lengths.items() if np.ndim(array) != 1]:
        raise BadInput(f"{where} is not a CSR matrix: {wrong[0]} has {np.ndim(lengths[wrong[0]])} axes instead of one")
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.dtype.kind not in "iu":
            raise BadInput(f"{where} is not a CSR matrix: {name} are {array.dtype}, not whole numbers")
    if len(indptr) != shape[0] + 1 or len(data) != len(indices):
        raise BadInput(
            f"{where} is not a CSR matrix: {len(indptr)} row pointers for {shape[0]} rows, {len(data)} values for "
            f"{len(indices)} column indices"
        )
    _check_pointers(indptr, len(indices), where)
    wrong_index = (indices < 0) | (indices >= shape[1])
    if wrong_index.any():
        entry = int(np.argmax(wrong_index))
        row = int(np.searchsorted(indptr, entry, side="right")) - 1
        raise BadInput(
            f"{where}, row {row}: the column index {int(indices[entry])} is out of range for {shape[1]} columns"
        )


def _check_pointers(indptr: Any, entries: int, where: str) -> None:
    if int(indptr[0]) != 0 or int(indptr[-1]) != entries:
        raise BadInput(
            f"{where} is not a CSR matrix: its row pointers go from {int(indptr[0])} to "
            f"{int(indptr[-1])}, but there are {entries} entries"
        )
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        raise BadInput(f"{where} is not a CSR matrix: the row pointers fall at row {int(np.argmax(falls))}")


def check_matrix(matrix: Any, where: str) -> None:
    """Raise unless a SciPy matrix in CSR form is valid."""
    check_csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape, where)


def check_counts(matrix: Any, where: str) -> None:
    """Raise if an entry of a CSR matrix is not a finite real number, or is a whole number below zero."""
    if matrix.data.dtype.kind not in "biuf":
        raise BadInput(f"{where} holds {matrix.data.dtype}, which are neither counts nor weights")
    if not np.isfinite(matrix.data).all():
        raise BadInput(f"{where}, {_place(matrix, ~np.isfinite(matrix.data))}: a number that is not finite")
    if matrix.data.dtype.kind == "i" and (matrix.data < 0).any():
        raise BadInput(f"{where}, {_place(matrix, matrix.data < 0)}: a count below zero")
    if matrix.data.dtype.kind == "u" and (matrix.data > np.iinfo(np.int64).max).any():
        raise BadInput(f"{where}, {_place(matrix, matrix.data > np.iinfo(np.int64).max)}: a count above 2^63")


def _place(matrix: Any, wrong: Any) -> str:
    entry = int(np.argmax(wrong))
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    return f"row {row}, column {int(matrix.indices[entry])} (both from 0)"
