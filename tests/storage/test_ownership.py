"""One folder, one run; and nothing of the user's is deleted or overwritten."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome.errors import CheckpointError, OrthodromeWarning
from orthodrome.storage import checksums, lock, ownership
from orthodrome.storage.store import CHECKSUMS
from support.run_cases import PythonWalk, draws


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("where", ["checkpoint", "store"])
@pytest.mark.parametrize(
    "name", ["notes.txt", "state-0.npz", "state-1.npz", "writable.json", "draws.zarr", "zarr.json"]
)
def test_a_folder_of_the_users_is_refused_and_untouched(tmp_path: Path, where: str, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(CheckpointError, match=rf"it holds {name}"):
        draws(**{where: tmp_path})
    assert listing(tmp_path) == {name: b"mine"}


def unfinished(path: Path) -> None:
    """A store that a killed run left behind."""
    draws(store=path)
    (path / CHECKSUMS).unlink()


def test_what_a_killed_run_left_is_replaced(tmp_path: Path) -> None:
    unfinished(tmp_path / "s")
    for torn in ("posterior/x/zarr.0123456789abcdef0123456789abcdef", "posterior/x/c/0/0/0.0123456789abcdef"):
        (tmp_path / "s" / f"{torn}.partial").write_text("torn")  # killed while Zarr wrote
    tree = draws(store=tmp_path / "s", seed=5)
    np.testing.assert_array_equal(tree.posterior["x"], draws(seed=5).posterior["x"])


@pytest.mark.parametrize("name", ["notes.txt", "posterior/notes.txt", "posterior/x/c/notes.txt"])
def test_a_users_file_in_an_unfinished_store_saves_it(tmp_path: Path, name: str) -> None:
    unfinished(tmp_path / "s")
    (tmp_path / "s" / name).write_text("mine")
    before = listing(tmp_path)
    with pytest.raises(CheckpointError, match=f"holds {name}, which is not orthodrome's"):
        draws(store=tmp_path / "s")
    before.pop(f"s/{ownership.LOCK}")
    assert before.items() <= listing(tmp_path).items()


def test_a_link_in_an_unfinished_store_saves_it(tmp_path: Path) -> None:
    unfinished(tmp_path / "s")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "zarr.json").write_text("mine")
    (tmp_path / "s" / "posterior" / "x" / "c" / "9").symlink_to(tmp_path / "thesis")
    with pytest.raises(CheckpointError, match="not orthodrome's"):
        draws(store=tmp_path / "s")
    assert (tmp_path / "thesis" / "zarr.json").read_text() == "mine"


def test_an_unfinished_store_of_a_checkpoint_is_not_removed_by_another_run(tmp_path: Path) -> None:
    """It looks unfinished while its run is being extended, and the commit counts its draws."""
    draws(checkpoint=tmp_path / "run", store=tmp_path / "s")
    (tmp_path / "s" / CHECKSUMS).unlink()
    with pytest.raises(CheckpointError, match="belongs to another run"):
        draws(store=tmp_path / "s", seed=9)
    extended = draws(checkpoint=tmp_path / "run", store=tmp_path / "s", num_draws=70)
    np.testing.assert_array_equal(extended.posterior["x"], draws(num_draws=70).posterior["x"])


def test_a_state_file_of_the_users_is_not_overwritten(tmp_path: Path) -> None:
    draws(checkpoint=tmp_path / "run")
    number = json.loads((tmp_path / "run" / "commit.json").read_text())["number"]
    mine = tmp_path / "run" / f"state-{number + 1}.npz"
    mine.write_bytes(b"mine")
    with pytest.raises(CheckpointError, match=rf"{mine.name} was not written by this run"):
        draws(checkpoint=tmp_path / "run", num_draws=70)
    assert mine.read_bytes() == b"mine"


def test_kinds_are_not_mixed(tmp_path: Path) -> None:
    draws(checkpoint=tmp_path / "run")
    draws(store=tmp_path / "s")
    with pytest.raises(CheckpointError, match="holds a checkpoint, not a store"):
        draws(store=tmp_path / "run")
    with pytest.raises(CheckpointError, match="holds a store, not a checkpoint"):
        draws(checkpoint=tmp_path / "s")


def test_an_earlier_format_is_refused_with_the_version_that_wrote_it(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    (old / "commit.json").write_text(json.dumps({"format": 1, "fingerprint": {"versions": {"orthodrome": "0.1.0"}}}))
    with pytest.raises(CheckpointError, match=r"was written by orthodrome 0\.1\.0 in format 1"):
        draws(checkpoint=old)
    assert os.listdir(old) == ["commit.json"]


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    draws(checkpoint=tmp_path / "run")
    path = tmp_path / "run" / ownership.MARKER
    content = json.loads(path.read_text()) | {"format": 7, "version": "3.2.1"}
    content.pop("checksum")
    path.write_text(json.dumps(checksums.sealed(content)))
    with pytest.raises(CheckpointError, match=r"orthodrome 3\.2\.1 in format 7"):
        draws(checkpoint=tmp_path / "run")


def test_a_kill_before_the_marker_was_written_leaves_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "run" / ownership.PLACE).mkdir(parents=True)
    np.testing.assert_array_equal(draws(checkpoint=tmp_path / "run").posterior["x"], draws().posterior["x"])


@pytest.mark.parametrize("where", ["checkpoint", "store"])
def test_a_second_run_in_the_folder_is_refused(tmp_path: Path, where: str) -> None:
    """The second starts in the middle of the first, which is not disturbed; afterwards the lock is free."""
    refused: list[str] = []

    def second(count: int) -> float:
        if count == 5 and not refused:
            with pytest.raises(CheckpointError) as caught:
                draws(PythonWalk(), **{where: tmp_path / "run"})
            refused.append(str(caught.value))
        return 0.0

    first = draws(PythonWalk(second), **{where: tmp_path / "run"})
    assert f"another run is writing in {tmp_path / 'run'} (process {os.getpid()} on " in refused[0]
    np.testing.assert_array_equal(first.posterior["x"], draws(PythonWalk()).posterior["x"])
    with contextlib.ExitStack() as locks:
        ownership.claim(tmp_path / "run", where, locks)


HOLD = """
import contextlib, sys, time, os
from pathlib import Path
from orthodrome.storage import ownership
with contextlib.ExitStack() as locks:
    ownership.claim(Path(sys.argv[1]), "checkpoint", locks)
    born, say = os.pipe()
    if os.fork() == 0:  # a child that lives on does not keep the lock
        os.write(say, b"!")
        time.sleep(600)
    os.read(born, 1)  # until the child runs, and so has released its copy
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sends signals to a process group")
def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(ownership.__file__).parents[2])}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, env=environment, start_new_session=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(CheckpointError, match=f"process {holder.pid} on"), contextlib.ExitStack() as locks:
            ownership.claim(tmp_path, "checkpoint", locks)
        holder.kill()
        holder.wait()
        with contextlib.ExitStack() as locks:
            ownership.claim(tmp_path, "checkpoint", locks)
    finally:
        os.killpg(holder.pid, 9)
        holder.stdout.close()


def test_a_file_system_without_locks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_lock", unable)
    with pytest.warns(OrthodromeWarning, match="has no locks"), contextlib.ExitStack() as locks:
        ownership.claim(tmp_path / "run", "checkpoint", locks)


@pytest.mark.parametrize("where", ["checkpoint", "store"])
@pytest.mark.parametrize("kind", ["file", "below a file", "loop", "null", "long"])
def test_a_path_that_cannot_be_is_one_line(tmp_path: Path, where: str, kind: str) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    paths: dict[str, Any] = {
        "file": tmp_path / "file",
        "below a file": tmp_path / "file" / "run",
        "loop": tmp_path / "loop",
        "null": f"{tmp_path}/a\0b",
        "long": tmp_path / ("x" * 300),
    }
    with pytest.raises(CheckpointError, match=f"cannot write {where}s in") as caught:
        draws(**{where: paths[kind]})
    assert "\n" not in str(caught.value) and (tmp_path / "file").read_text() == "mine"
