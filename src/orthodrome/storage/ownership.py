"""Ownership of folders: those that carry our marker, which was put there while they were empty.

    folder/_orthodrome/marker.json    format, version, kind of folder, a random identity
    folder/_orthodrome/lock           see `lock`

Nothing is written into a folder that holds anything else, and in a folder of ours only files that we write are ever
removed. So nothing of the user's is deleted or overwritten, whatever path is given.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any, NamedTuple

from orthodrome.errors import CheckpointError
from orthodrome.storage import checksums, files
from orthodrome.storage.lock import locked

FORMAT = 2
"""The version of the format of checkpoints and stores; format 1 had no checksums, locks and markers."""
PLACE = "_orthodrome"
"""The folder, inside each folder of ours, that holds the marker, the lock and the lists of checksums."""
MARKER = f"{PLACE}/marker.json"
LOCK = f"{PLACE}/lock"


class Marker(NamedTuple):
    """What a folder of ours says about itself.

    kind: "checkpoint", "store" or "fit"
    identity: a random name of the folder
    owner: the identity of the checkpoint that a store belongs to
    """

    kind: str
    identity: str
    owner: str = ""


def claim(folder: Path, kind: str, locks: contextlib.ExitStack, owner: str = "") -> Marker:
    """Lock a folder of ours and return its marker; a folder that is empty or does not exist becomes ours.

    kind: "checkpoint", "store" or "fit"
    locks: the stack that holds the lock until the run ends
    owner: the identity of the checkpoint that a store belongs to
    """
    try:
        refuse_foreign(folder, kind)
        (folder / PLACE).mkdir(parents=True, exist_ok=True)
        locks.enter_context(locked(folder / LOCK, folder))
        if (folder / MARKER).exists():
            return read_marker(folder, kind)
        return mark(folder, kind, owner)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CheckpointError(f"cannot write {kind}s in {folder}: {reason}; choose another folder") from error


def mark(folder: Path, kind: str, owner: str = "") -> Marker:
    """Write a new marker into a folder that we have locked, and raise if anything else is in it."""
    if strangers := [name for name in sorted(os.listdir(folder)) if name != PLACE]:
        raise CheckpointError(_not_ours(folder, kind, strangers))
    marker = Marker(kind, secrets.token_hex(8), owner)
    files.write_json(folder / MARKER, checksums.sealed({"format": FORMAT, "version": version(), **marker._asdict()}))
    return marker


def read_marker(folder: Path, kind: str) -> Marker:
    """Return the marker of a folder, or raise if it cannot be used as a folder of this kind."""
    content = checksums.read_sealed(folder / MARKER, "restore it, or choose another folder")
    if content.get("format") != FORMAT:
        raise CheckpointError(_other_format(folder, kind, content.get("format"), content.get("version")))
    marker = Marker(content["kind"], content["identity"], content["owner"])
    if marker.kind != kind:
        raise CheckpointError(f"{folder} holds a {marker.kind}, not a {kind}; choose another folder")
    return marker


def refuse_foreign(folder: Path, kind: str) -> None:
    """Raise if the folder is not empty and has no marker of ours (an `OSError` if it is not a folder)."""
    if not os.path.lexists(folder) or (folder / PLACE).is_dir():
        return
    names = sorted(os.listdir(folder))
    if (old := _earlier_version(folder)) is not None:
        raise CheckpointError(_other_format(folder, kind, 1, old))
    if names:
        raise CheckpointError(_not_ours(folder, kind, names))


def clear(folder: Path, ours: re.Pattern[str]) -> None:
    """Remove everything but the marker's folder from a folder of ours, or raise if a file does not match `ours`."""
    found = [path for path in sorted(folder.rglob("*"), reverse=True) if path.relative_to(folder).parts[0] != PLACE]
    for path in found:
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or (not path.is_dir() and not ours.fullmatch(name)):
            raise CheckpointError(
                f"{folder} holds {name}, which is not orthodrome's, so nothing in it will be removed; "
                "move that file away, or choose another folder"
            )
    for path in found:  # deepest names first
        path.rmdir() if path.is_dir() else path.unlink()


def tempered_folder(folder: Path) -> Path:
    """Return where a tempered run keeps its state: beside that of the plain one, whose chains disagreed."""
    return folder.with_name(f"{folder.name}-tempered")


def version() -> str:
    """Return the version of this package."""
    return importlib.metadata.version("orthodrome")


def _earlier_version(folder: Path) -> str | None:
    """Return the version that wrote a folder of format 1, or None if the folder is not of that format."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        return str(_json(folder / "commit.json")["fingerprint"]["versions"]["orthodrome"])
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # topics had their own format
        return str(_json(folder / "settings.json")["identity"]["versions"]["orthodrome"])
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        attributes = _json(folder / "zarr.json")["attributes"]
        if "orthodrome_unfinished" in attributes:
            return str(attributes.get("inference_library_version", "0.1.0"))
    return "0.1.0" if (folder / "job.json").is_file() and (folder / "corpus.npz").is_file() else None


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _other_format(folder: Path, kind: str, number: Any, who: Any) -> str:
    return (
        f"the {kind} in {folder} was written by orthodrome {who} in format {number}, and orthodrome {version()} reads "
        f"format {FORMAT} only: continue with that version, or choose another folder"
    )


def _not_ours(folder: Path, kind: str, names: list[str]) -> str:
    held = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return (
        f"{folder} is not a {kind} of orthodrome's (it holds {held}), and nothing is written into it; choose an empty "
        "or a new folder"
    )
