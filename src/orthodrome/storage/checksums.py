"""Checksums: data that were damaged on the disk are reported and refused, never returned.

One checksum serves for everything, CRC-32C (Castagnoli), at some 10 GB/s:

- a block of draws carries it in its last four bytes, as the Zarr v3 codec `crc32c` does, so that every Zarr reader
  verifies it too;
- a state file's checksum is in the commit that counts it, beside those of the blocks;
- a small JSON file (commit, marker, list of files) carries its own, over its content in canonical form.

A CRC of 32 bits detects every change of up to three bits and every burst of up to 32; of arbitrary damage it misses one
case in four thousand million. It is no signature: it does not protect against deliberate changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orthodrome.errors import CheckpointError

PIECE = 1 << 22
"""The number of bytes of a file that are read at a time."""
LENGTH = 4
"""The number of bytes of a checksum."""


def checksum(content: Any, so_far: int = 0) -> int:
    """Return the CRC-32C of a buffer, continued from `so_far`."""
    import google_crc32c

    return google_crc32c.extend(so_far, content)


def of_file(path: Path) -> int:
    """Return the checksum of a file's content."""
    found = 0
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            found = checksum(piece, found)
    return found


def trailer(content: Any) -> bytes:
    """Return the four bytes that the Zarr codec `crc32c` puts after a block."""
    return as_bytes(checksum(content))


def as_bytes(found: int) -> bytes:
    """Return a checksum as the bytes that stand in a file."""
    return found.to_bytes(LENGTH, "little")


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a JSON file with its own checksum beside it."""
    return {"checksum": _canonical_checksum(content), **content}


def read_sealed(path: Path, advice: str) -> dict[str, Any]:
    """Read a JSON file that carries its checksum, or raise with what is wrong and the advice."""
    try:
        content = json.loads(path.read_bytes())
        stated = content.pop("checksum")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{path} is missing or damaged ({type(error).__name__}: {error}): {advice}") from error
    if stated != _canonical_checksum(content):
        raise CheckpointError(f"{path} is damaged: its content does not match its checksum: {advice}")
    return content


def _canonical_checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"{checksum(text.encode()):08x}"
