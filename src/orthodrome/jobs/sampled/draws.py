"""The draws of a finished fit as one Zarr store, aligned and labelled as the model returns them."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

NAME = "draws.zarr"


def save_draws(tree: Any, folder: Path) -> None:
    """Write the DataTree that `xarray.open_datatree` reads; it is in its place only when it is whole."""
    path, beside = folder / NAME, folder / f"{NAME}.part"
    shutil.rmtree(beside, ignore_errors=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that other implementations of Zarr may ignore the consolidated metadata
            tree.to_zarr(beside, mode="w", zarr_format=3, consolidated=True)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)  # a full disk needs the room
        raise
    if path.exists():
        shutil.rmtree(path)
    beside.rename(path)
