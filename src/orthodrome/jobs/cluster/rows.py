"""The rows of a fit: read from a file, checked, some of them held out; and the same from the folder of the fit.

    .csv, .tsv, also .gz    a header with the names of the columns, then a line for each row
    .npy                    a matrix as NumPy saves it
    .npz                    a sparse matrix as SciPy saves it (counts)

Categories may be any texts: each column's are numbered in their order.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.core.types import Reals
from orthodrome.corpora.archive import read_matrix
from orthodrome.corpora.opening import check_regular, lines, opened
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.cells import check_once, coded, numbers, read_cells
from orthodrome.jobs.cluster.job import ClusterJob
from orthodrome.storage import files

LEAST_ROWS = 2


class ClusterRows(NamedTuple):
    """The rows of a fit.

    values: a matrix, dense or (counts) sparse; columns, names: of its columns and rows
    levels: the texts of each column's categories, if they were texts
    training: a mask of the rows that clusters are learnt from
    """

    values: Any
    columns: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...] = ()
    training: np.ndarray = np.zeros(0, bool)


def read_rows(job: ClusterJob, path: Path) -> ClusterRows:
    """Return the rows of a file as the job wants them."""
    if not path.exists():
        raise BadInput(f"there is no {path}")
    kinds = {".npy": read_npy, ".npz": read_npz, ".csv": read_csv, ".tsv": read_csv}
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind not in kinds or path.name.endswith((".npy.gz", ".npz.gz")):
        raise BadInput(f"{path}: rows are read from .csv, .tsv (also .gz), .npy or .npz")
    if kind in (".npy", ".npz") and (job.columns is not None or job.name_column is not None):
        raise BadInput("--columns and --name-column are for a CSV file, whose columns have names; leave them out")
    if kind in (".csv", ".tsv") and job.column_names is not None:
        raise BadInput(f"--column-names is for .npy and .npz; the columns of {path} are named by its first line")
    found = kinds[kind](job, path)
    if len(found.names) < LEAST_ROWS or not found.columns:
        raise BadInput(f"{path} has {len(found.names)} rows and {len(found.columns)} columns: too few for clusters")
    return found._replace(values=ready(job, found.values, path), training=split(found.values, job))


def read_csv(job: ClusterJob, path: Path) -> ClusterRows:
    """Read named columns of a table."""
    wanted, names, cells, at = read_cells(path, job.encoding, job.columns, job.name_column)
    check_once(wanted, path)
    if job.family == "categorical":
        table, levels = coded(cells, wanted, at, path)
        return ClusterRows(table, wanted, names, levels)
    remedy = "choose columns of numbers with --columns, or use --family categorical"
    return ClusterRows(numbers(cells, wanted, at, path, remedy), wanted, names)


def read_npy(job: ClusterJob, path: Path) -> ClusterRows:
    """Read a dense matrix."""
    check_regular(path)
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)  # a header that claims too much takes no memory
    except (OSError, ValueError, EOFError, OverflowError) as error:
        raise BadInput(f"cannot read {path}: {error}") from error
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "fiub":
        raise BadInput(f"{path} holds {described(values)}, not a matrix of numbers")
    return numbered(job, np.array(values), path)


def described(values: Any) -> str:
    """Return what a file holds, in words."""
    array = isinstance(values, np.ndarray)
    return f"an array of shape {values.shape} and type {values.dtype}" if array else "several arrays"


def read_npz(job: ClusterJob, path: Path) -> ClusterRows:
    """Read a sparse matrix of counts."""
    if job.family != "multinomial":
        raise BadInput(
            f"{path} is for a sparse matrix of counts, --family multinomial; for --family {job.family} save the rows "
            "as .npy or .csv"
        )
    return numbered(job, scipy.sparse.csr_matrix(read_matrix(path)[0]), path)


def numbered(job: ClusterJob, values: Any, path: Path) -> ClusterRows:
    """Return a matrix with the names of its columns, which are numbers if no file names them."""
    columns = tuple(f"column-{n}" for n in range(values.shape[1]))
    if job.column_names is not None:
        with opened(Path(job.column_names)) as file:
            columns = tuple(line.strip() for _, line in lines(file, Path(job.column_names)))
        if len(columns) != values.shape[1]:
            raise BadInput(f"{job.column_names} has {len(columns)} lines, and {path} {values.shape[1]} columns")
    return ClusterRows(values, columns, tuple(f"row-{n}" for n in range(values.shape[0])))


def ready(job: ClusterJob, values: Any, path: Path) -> Any:
    """Return the rows, divided by their lengths if the job asks for it."""
    if not job.normalize:
        return values
    lengths = np.sqrt(np.sum(np.asarray(values, float) ** 2, axis=1))
    if np.any(lengths == 0):
        raise BadInput(f"{path}: row {int(np.argmin(lengths))} (from 0) is zero and has no direction; remove it")
    found: Reals = values / lengths[:, None]
    return found


def split(values: Any, job: ClusterJob) -> np.ndarray:
    """Return a mask of the rows to learn from; a row with a code that none of them has is added to them."""
    count = values.shape[0]
    training = np.ones(count, bool)
    hidden = round(job.held_out * count)
    if count - hidden < LEAST_ROWS:
        raise BadInput(f"--held-out {job.held_out} leaves {count - hidden} of {count} rows to learn from: too few")
    training[np.random.default_rng(job.seed).permutation(count)[:hidden]] = False
    if job.family == "categorical":
        training |= np.any(values > values[training].max(axis=0), axis=1)
    return training


def save_rows(rows: ClusterRows, folder: Path) -> None:
    """Save the rows, as the input may be gone when the run is resumed."""
    sparse = scipy.sparse.issparse(rows.values)
    parts = ("data", "indices", "indptr") if sparse else ()
    arrays = {name: getattr(rows.values, name) for name in parts} or {"values": np.asarray(rows.values)}
    counts = np.array([len(levels) for levels in rows.levels], np.int64)
    shape = np.array(rows.values.shape)
    files.write_arrays(folder / "rows.npz", {**arrays, "shape": shape, "training": rows.training, "levels": counts})
    levels = [level for column in rows.levels for level in column]
    for name, texts in {"columns": rows.columns, "names": rows.names, "levels": levels}.items():
        files.write_bytes(folder / f"{name}.txt", "".join(one_line(text) + "\n" for text in texts).encode("utf-8"))


def one_line(text: str) -> str:
    """Return a text without tabs and line breaks."""
    return " ".join(text.split())


def load_rows(folder: Path) -> ClusterRows:
    """Load the rows of a fit."""
    try:
        arrays = files.read_arrays(folder / "rows.npz")
        read = lambda name: tuple((folder / f"{name}.txt").read_text("utf-8").split("\n")[:-1])
        columns, names, levels = read("columns"), read("names"), read("levels")
        values = arrays.get("values")
        if values is None:
            parts = arrays["data"], arrays["indices"], arrays["indptr"]
            values = scipy.sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        ends = np.cumsum(arrays["levels"])
        texts = tuple(levels[end - n : end] for n, end in zip(arrays["levels"], ends, strict=True))
        return ClusterRows(values, columns, names, texts, arrays["training"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"the rows in {folder} cannot be read ({error}): restore them, or fit again in a new folder"
        ) from error
