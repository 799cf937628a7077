"""Sparse matrices as SciPy saves them (.npz), read without trusting the file: headers first, then numbers.

An .npz file is a zip file of arrays, each with a header that states its type and shape. All headers are read before any
array, and must agree with each other, with the sizes in the zip file and with the memory of the machine: so a file that
would unpack without end is refused before it is unpacked.
"""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.core.machine import physical_memory
from orthodrome.corpora.checked import check_counts, check_csr, check_size
from orthodrome.corpora.opening import check_regular, reason
from orthodrome.errors import BadInput, OrthodromeError

COMPRESSED = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "coo": ("data", "row", "col")}
"""The storage formats that are read, with the arrays of each."""
MEMORY_SHARE = 0.5
"""The largest share of the machine's memory that the arrays of a file may take."""


class Header(NamedTuple):
    """The type and shape that an array of the file claims to have."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the array takes."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


def read_matrix(path: Path) -> tuple[scipy.sparse.csr_array, list[str] | None]:
    """Return the matrix of an .npz file in CSR form, and its `labels` if there are any."""
    with _readable(path), zipfile.ZipFile(path) as file:
        headers = _headers(file, path)
        form = _form(file, headers, path)
        documents, words = _shape(file, headers, path)
        names = COMPRESSED[form]
        _check_headers(headers, names, documents, words, path)
        arrays = [_array(file, name) for name in names]
        matrix = _assemble(form, arrays, (documents, words), str(path))
        labels = [str(label) for label in _array(file, "labels").ravel()] if "labels" in headers else None
    check_counts(matrix, str(path))
    matrix.sum_duplicates()
    return matrix, labels


def _assemble(form: str, arrays: list[Any], shape: tuple[int, int], where: str) -> scipy.sparse.csr_array:
    if form == "coo":
        data, rows, columns = arrays
        for index, size in ((rows, shape[0]), (columns, shape[1])):
            if len(index) and not 0 <= int(index.min()) <= int(index.max()) < size:
                raise BadInput(f"{where}: an index lies outside {shape[0]} rows and {shape[1]} columns")
        return scipy.sparse.csr_array(scipy.sparse.coo_array((data, (rows, columns)), shape=shape))
    data, indices, indptr = arrays
    check_csr(data, indices, indptr, shape if form == "csr" else shape[::-1], where)
    if form == "csr":
        return scipy.sparse.csr_array(tuple(arrays), shape=shape)
    return scipy.sparse.csr_array(scipy.sparse.csc_array(tuple(arrays), shape=shape))


def _headers(file: zipfile.ZipFile, path: Path) -> dict[str, Header]:
    """Return the header of every array, after comparing it with the size that the zip file states."""
    found = {}
    for entry in file.infolist():
        if not entry.filename.endswith(".npy"):
            continue
        with file.open(entry) as stream:
            header = _header(stream)
            begins = stream.tell()
        if header.dtype.hasobject:
            raise BadInput(f"{path}: {entry.filename} holds Python objects, which are not read")
        if entry.file_size != begins + header.nbytes:
            raise BadInput(
                f"{path}: {entry.filename} claims {header.nbytes:,} bytes, but has {entry.file_size - begins:,}"
            )
        found[entry.filename.removesuffix(".npy")] = header
    if (total := sum(header.nbytes for header in found.values())) > MEMORY_SHARE * physical_memory():
        raise BadInput(f"{path} unpacks to {total / 1e9:,.1f} GB, more than half of the memory of this machine")
    return found


def _header(stream: Any) -> Header:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return Header(tuple(shape), dtype)


def _form(file: zipfile.ZipFile, headers: dict[str, Header], path: Path) -> str:
    """Return the storage format of the matrix."""
    if "format" not in headers or headers["format"].nbytes > 100:
        raise BadInput(f"{path} is not a sparse matrix as SciPy saves it: it has {', '.join(headers) or 'no arrays'}")
    value = _array(file, "format").item()
    form = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
    if form not in COMPRESSED:
        raise BadInput(f"{path} is stored as {form!r}; save it as CSR: scipy.sparse.save_npz(path, matrix.tocsr())")
    if missing := [name for name in (*COMPRESSED[form], "shape") if name not in headers]:
        raise BadInput(f"{path} is an incomplete sparse matrix: it has no {missing[0]}")
    return form


def _shape(file: zipfile.ZipFile, headers: dict[str, Header], path: Path) -> tuple[int, int]:
    if headers["shape"].shape != (2,) or headers["shape"].dtype.kind not in "iu":
        raise BadInput(f"{path}: its shape is not two whole numbers")
    documents, words = (int(size) for size in _array(file, "shape"))
    return documents, words


def _check_headers(headers: dict[str, Header], names: Any, documents: int, words: int, path: Path) -> None:
    """Raise unless the lengths of the arrays make a matrix of the shape."""
    wrong = [name for name in names if len(headers[name].shape) != 1]
    if wrong or headers[names[0]].shape != headers[names[1]].shape:
        raise BadInput(f"{path} is not a sparse matrix: its {', '.join(names)} do not belong together")
    check_size(documents, words, headers["data"].shape[0], str(path))


def _array(file: zipfile.ZipFile, name: str) -> Any:
    with file.open(f"{name}.npy") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        check_regular(path)
        yield
    except OrthodromeError:
        raise
    except Exception as error:  # NumPy, SciPy, zipfile and the decompressors raise a dozen kinds
        known = isinstance(error, (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error))
        text = reason(error) if known else f"{type(error).__name__}: {error}"
        raise BadInput(f"{path} is not a sparse matrix that SciPy can read: {text}") from error
