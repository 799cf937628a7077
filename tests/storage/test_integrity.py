"""Damaged files of a run: every block, state, commit and description is verified, and what does not match is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from orthodrome.errors import CheckpointError
from orthodrome.storage import blocks, checksums
from orthodrome.storage.store import CHECKSUMS, read_draws
from support.run_cases import draws


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with its draws inside the checkpoint: blocks of 16 draws, the last one not full."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LONGEST_BLOCK", 16)
        draws(checkpoint=folder)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def flip(path: Path, at: int, bit: int = 4) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def files_of(folder: Path) -> list[Path]:
    """Every file of a run but the lock, and the events, which are for those who watch it: no draw depends on them."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", "events.jsonl"))


def values(tree: Any) -> np.ndarray:
    return tree["posterior"]["x"].values


@pytest.mark.parametrize("block", [0, 2])
@pytest.mark.parametrize("at", [0, 100, -1])
def test_a_flipped_block_is_named(run: Path, block: int, at: int) -> None:
    flip(run / f"draws.zarr/posterior/x/c/0/{block}/0", at)
    with pytest.raises(CheckpointError, match=rf"block {block} of posterior/x .*checksum"):
        draws(checkpoint=run, num_draws=60)


def test_a_flip_is_seen_by_any_zarr_reader(run: Path) -> None:
    flip(run / "draws.zarr/posterior/x/c/0/1/0", 30)
    tree = xarray.open_datatree(run / "draws.zarr", engine="zarr")
    with pytest.raises(ValueError, match="checksum"):
        values(tree)


def test_every_file_of_a_finished_run_is_verified(run: Path) -> None:
    """One flipped bit in the middle of each file in turn, seen by the next call and, in the store, by the reader."""
    expected = values(draws())
    for path in files_of(run):
        whole = path.read_bytes()
        flip(path, len(whole) // 2, bit=1)
        with pytest.raises(CheckpointError, match=r"damaged|missing"):
            draws(checkpoint=run)
        if "draws.zarr" in path.parts:
            with pytest.raises(CheckpointError):
                read_draws(run)
        path.write_bytes(whole)
    np.testing.assert_array_equal(values(draws(checkpoint=run)), expected)
    np.testing.assert_array_equal(values(read_draws(run)), expected)


def test_every_missing_file_is_named(run: Path) -> None:
    for path in files_of(run):
        if path.name == "commit.json":  # without a commit there is nothing to go on from: the store is refused
            continue
        whole = path.read_bytes()
        path.unlink()
        if path.name != "checksums.json":  # that one is written anew when the run ends
            with pytest.raises(CheckpointError):
                draws(checkpoint=run)
        with pytest.raises(CheckpointError) if "draws.zarr" in path.parts else pytest.MonkeyPatch.context():
            read_draws(run)
        path.write_bytes(whole)


@pytest.mark.parametrize("count", [34, 100])
def test_edited_counts_are_refused(run: Path, count: int) -> None:
    path = run / "commit.json"
    content = json.loads(path.read_text())
    content["counts"]["draws"] = content["done"] = count
    path.write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=r"commit\.json is damaged: its content does not match"):
        draws(checkpoint=run, num_draws=100)


def test_swapped_blocks_are_refused(run: Path) -> None:
    """Each is whole, but neither is where the commit counts it."""
    one, two = (run / f"draws.zarr/posterior/x/c/0/{block}/0" for block in (0, 1))
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)
    with pytest.raises(CheckpointError, match="block 0 of posterior/x"):
        draws(checkpoint=run, num_draws=60)


def test_metadata_that_is_gone_is_no_empty_tree(run: Path) -> None:
    for path in (run / "draws.zarr").rglob("zarr.json"):
        path.unlink()
    with pytest.raises(CheckpointError, match=r"zarr\.json is missing or damaged"):
        draws(checkpoint=run, num_draws=60)


def test_a_resume_with_another_store_is_refused(tmp_path: Path) -> None:
    draws(checkpoint=tmp_path / "run", store=tmp_path / "one.zarr")
    draws(store=tmp_path / "two.zarr", seed=9)
    with pytest.raises(CheckpointError, match=r"counts draws in another store: .*one\.zarr before, .*two\.zarr now"):
        draws(checkpoint=tmp_path / "run", store=tmp_path / "two.zarr")
    for elsewhere in ({"store": tmp_path / "three.zarr"}, {}):
        with pytest.raises(CheckpointError, match=r"there is no orthodrome store at"):
            draws(checkpoint=tmp_path / "run", **elsewhere)
    assert not (tmp_path / "three.zarr").exists()
    again = draws(checkpoint=tmp_path / "run", store=tmp_path / "one.zarr", num_draws=70)
    np.testing.assert_array_equal(values(again), values(draws(num_draws=70)))


def test_a_run_and_its_store_may_be_moved(run: Path, tmp_path: Path) -> None:
    moved = Path(shutil.move(run, tmp_path / "elsewhere"))
    np.testing.assert_array_equal(values(draws(checkpoint=moved, num_draws=70)), values(draws(num_draws=70)))


def test_a_store_that_is_being_written_has_not_ended(run: Path) -> None:
    (run / "draws.zarr" / CHECKSUMS).unlink()
    with pytest.raises(CheckpointError, match="has not ended"):
        read_draws(run)
    with pytest.raises(CheckpointError, match="not an orthodrome store"):
        read_draws(run / "nothing")


def test_the_checksum_is_castagnolis() -> None:
    """The check value of CRC-32C, as every catalogue of CRCs gives it; continuing gives the same as all at once."""
    assert checksums.checksum(b"123456789") == 0xE3069283
    assert checksums.checksum(b"6789", checksums.checksum(b"12345")) == 0xE3069283
