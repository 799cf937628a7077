"""A list of files with their checksums, kept in the folder of the files: what is read is what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from orthodrome.errors import CheckpointError
from orthodrome.storage import checksums, files


def write_list(folder: Path, listing: str, names: Iterable[str], known: Mapping[str, int] | None = None) -> None:
    """Write the checksums of files of a folder into its file `listing`; those in `known` are not read again."""
    known = known or {}
    found = {name: known[name] if name in known else checksums.of_file(folder / name) for name in names}
    files.write_json(folder / listing, checksums.sealed({"files": found}))


def verify_list(folder: Path, listing: str, advice: str) -> set[str]:
    """Raise with the advice unless every listed file is there and matches its checksum; return their names."""
    stated = checksums.read_sealed(folder / listing, advice)["files"]
    for name, expected in stated.items():
        try:
            right = checksums.of_file(folder / name) == expected
        except OSError as error:
            reason = error.strerror or str(error)
            raise CheckpointError(f"{folder / name} is missing or damaged ({reason}): {advice}") from error
        if not right:
            raise CheckpointError(f"{folder / name} is missing or damaged (it does not match its checksum): {advice}")
    return set(stated)
