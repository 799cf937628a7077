"""The Zarr metadata of a store of draws: its groups, arrays, labels and attributes, as ArviZ and xarray read them.

Only metadata and labels go through the Zarr library; the draws themselves are written as blocks (see `blocks`). What
Zarr raises when metadata cannot be read or written becomes a `CheckpointError`.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.errors import CheckpointError, OrthodromeError
from orthodrome.storage import checksums, files
from orthodrome.storage.draws import Arrays, Coords, Dims, axis_labels, dimension_names
from orthodrome.storage.writer import write_failure

if TYPE_CHECKING:
    import xarray


@contextlib.contextmanager
def zarr_errors(path: Path) -> Iterator[None]:
    """Turn whatever Zarr raises about missing, damaged or unwritable metadata into a `CheckpointError`."""
    try:
        yield
    except OrthodromeError:
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno is None:
            raise CheckpointError(damaged_text(path, "it", str(error))) from error
        raise write_failure(path, error) from error
    except Exception as error:
        raise CheckpointError(
            f"the Zarr metadata in {path} is missing or damaged ({type(error).__name__}: {error}): restore it"
        ) from error


def open_group(path: Path, mode: Any = "r+") -> Any:
    """Open the root group by the metadata of each array; the consolidated copy is written anew when a run ends."""
    import zarr

    return zarr.open_group(path, mode=mode, zarr_format=3, use_consolidated=False)


def open_tree(path: Path) -> xarray.DataTree:
    """Open the store as a DataTree that reads its values from the disk when they are used."""
    import xarray

    with zarr_errors(path):
        return xarray.open_datatree(path, engine="zarr", consolidated=True, chunks=None)


def create_arrays(path: Path, arrays: Arrays, parts: int, rows: int, planned: int, dims: Dims) -> None:
    """Create a Zarr array for `planned` draws of each variable, in chunks of `rows` draws of one of the `parts`."""
    from zarr.codecs import Crc32cCodec

    root = open_group(path, "a")
    for name, values in arrays.items():
        group, variable = name.split("/")
        root.require_group(group).create_array(
            variable,
            shape=(parts * values.shape[0], planned, *values.shape[2:]),
            chunks=(values.shape[0], rows, *values.shape[2:]),
            dtype=values.dtype,
            dimension_names=("chain", "draw", *dimension_names(variable, values.ndim - 2, dims)),
            compressors=Crc32cCodec(),
            overwrite=True,
        )
    files.settle([path / name / "zarr.json" for name in arrays])


def label_axes(path: Path, arrays: Sequence[tuple[str, Any]], coords: Coords, attrs: Mapping[str, Any]) -> None:
    """Write the labels of all axes and give the root and every group the attributes of the run.

    arrays: the names `group/variable` and the Zarr arrays
    """
    from zarr.codecs import Crc32cCodec

    root = open_group(path)
    labels: dict[tuple[str, str], int] = {}
    for name, array in arrays:
        sizes = zip(array.metadata.dimension_names, array.shape, strict=True)
        labels |= {(name.split("/")[0], dim): size for dim, size in sizes}
    for owner in (root, *(root[name] for name in dict.fromkeys(group for group, _ in labels))):
        owner.update_attributes(dict(attrs))
    for (group, dim), size in labels.items():
        label = np.asarray(axis_labels(dim, size, coords))
        # Zarr v3 specifies texts of variable length only
        label = label.astype(np.dtypes.StringDType()) if label.dtype.kind == "U" else label
        root[group].create_array(dim, data=label, dimension_names=(dim,), compressors=Crc32cCodec(), overwrite=True)


def consolidate(path: Path) -> None:
    """Copy all metadata into those of the root, so that a reader opens the store with one file."""
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Zarr warns that other implementations may ignore the copy: they may
        zarr.consolidate_metadata(path, zarr_format=3)


def description(store: Path, name: str) -> str:
    """Return the checksum of the metadata of an array, leaving out its length, which grows, and its attributes."""
    path = store / name / "zarr.json"
    try:
        content = json.loads(path.read_bytes())
        content["shape"][1] = None
        content.pop("attributes", None)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise CheckpointError(damaged_text(path, f"the description of {name}", str(error))) from error
    return checksums.sealed(content)["checksum"]


def damaged_text(path: Path, what: str, why: str = "it does not match its checksum") -> str:
    """Return the message about a file that is missing or damaged; `what` is to be restored."""
    return f"{path} is missing or damaged ({why}): restore {what}, or start again in a new folder"
