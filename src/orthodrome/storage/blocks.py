"""A block of draws: the bytes of one chunk of a Zarr v3 array and their checksum, in one file that is written once.

A block is `rows` draws of every chain of one variable (of every chain of one process, if several write the store: then
`part` is the number of the process): its numbers in C order and little-endian, zeros where draws are
still missing, and the four bytes of their CRC-32C. That is what the Zarr v3 specification asks of a chunk with the
codecs `bytes` and `crc32c` in the file `<array>/c/<part>/<block>/0...`, so that every Zarr reader can read and verify
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.errors import CheckpointError
from orthodrome.storage import checksums
from orthodrome.storage.draws import Arrays

BLOCK_BYTES = 8_000_000
"""The size that the blocks of all variables together aim at."""
LONGEST_BLOCK = 65_536
"""The largest number of draws in a block, however small one draw is."""


def block_rows(arrays: Arrays) -> int:
    """Return the number of draws per block: a power of two with about `BLOCK_BYTES` in all variables together."""
    per_draw = sum(values[:, 0].nbytes for values in arrays.values())
    rows = max(1, min(LONGEST_BLOCK, BLOCK_BYTES // per_draw))
    return 1 << (rows.bit_length() - 1)


def block_path(array: Path, part: int, block: int, ndim: int) -> Path:
    """Return the path at which Zarr v3 expects a chunk of an array that is split along its first two axes only."""
    return array.joinpath("c", str(part), str(block), *["0"] * (ndim - 2))


def encode(values: np.ndarray, rows: int) -> np.ndarray:
    """Return the bytes of a block: the draws in little-endian order, zeros up to `rows` draws, and the checksum."""
    shape, dtype = (values.shape[0], rows, *values.shape[2:]), values.dtype.newbyteorder("<")
    content = np.zeros(int(np.prod(shape)) * dtype.itemsize + checksums.LENGTH, np.uint8)
    block = content[: -checksums.LENGTH]
    block.view(dtype).reshape(shape)[:, : values.shape[1]] = values
    content[-checksums.LENGTH :] = np.frombuffer(checksums.trailer(block), np.uint8)
    return content


def stated_checksum(content: np.ndarray) -> int:
    """Return the checksum that stands at the end of an encoded block."""
    return int.from_bytes(content[-checksums.LENGTH :], "little")


def read_block(store: Path, name: str, array: Any, part: int, block: int, expected: int) -> np.ndarray:
    """Return the draws of a block, or raise if its bytes are not those that were written.

    name: `group/variable`
    array: the Zarr array, for its shape and dtype
    expected: the checksum of the block when it was written
    """
    path = block_path(store / name, part, block, array.ndim)
    try:
        stored = np.fromfile(path, np.uint8)
    except OSError as error:
        raise _damaged(name, block, path, "is missing or cannot be read") from error
    if stored.size != int(np.prod(array.chunks)) * array.dtype.itemsize + checksums.LENGTH:
        raise _damaged(name, block, path, "is cut short or too long")
    content, stated = stored[: -checksums.LENGTH], stored[-checksums.LENGTH :].tobytes()
    if not checksums.as_bytes(expected) == stated == checksums.trailer(content):
        raise _damaged(name, block, path, "is damaged: it does not match its checksum")
    return content.view(array.dtype.newbyteorder("<")).reshape(array.chunks)


def _damaged(name: str, block: int, path: Path, what: str) -> CheckpointError:
    return CheckpointError(f"block {block} of {name} {what}: restore {path}, or start again in a new folder")
