"""Is this the folder of a fit or of a run? What commands say that are given another."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orthodrome.errors import BadInput
from orthodrome.storage import ownership


def check_run_folder(folder: Path, places: Iterable[Path]) -> None:
    """Raise unless the folder is there and one of some places in it is marked as ours."""
    if folder.is_file():
        raise BadInput(f"{folder} is a file, not a folder; give the folder of a fit or of a run")
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}; give the folder of a fit or of a run")
    if not any((place / ownership.MARKER).is_file() for place in places):
        raise BadInput(
            f"{folder} is no run of orthodrome's: there is no {folder / ownership.MARKER}; give the --output of one"
        )
