"""Four hundred damaged runs and a hundred damaged corpora: the right numbers or one of our errors, never anything else.

Each case copies a folder, damages one of its files at a place that its seed decides, and asks for the draws: by the
same call, by a longer one, or by `read_draws`. What comes back must be bit-identical to an undamaged run, attributes
and labels included; whatever is raised must be an `OrthodromeError` in one line. The user's files beside the run, and
one among its files, stay as they were.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from orthodrome.corpora import read_corpus
from orthodrome.errors import OrthodromeError
from orthodrome.run import pace
from orthodrome.storage import blocks, checkpoint, files
from orthodrome.storage.store import read_draws
from support.run_cases import draws

pytestmark = pytest.mark.slow

SETTINGS: dict[str, Any] = {"num_draws": 50, "keep_warmup": True, "dims": {"x": ["axis"]}}
LONGER = SETTINGS | {"num_draws": 70}
CLOCK = ("created_at", "warmup_time", "sampling_time")


def content(tree: Any) -> dict[str, Any]:
    """Every number, label and attribute of a tree, but for what the clock says."""
    found: dict[str, Any] = {}
    for group in ("posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"):
        dataset = tree[group].to_dataset()
        found |= {f"{group}/{name}": (a.dims, a.dtype.str, a.values.tobytes()) for name, a in dataset.variables.items()}
        found |= {f"{group}@{name}": value for name, value in dataset.attrs.items() if name not in CLOCK}
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Finished with its draws inside, finished with a store beside, and killed before a commit in the middle."""
    base = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LONGEST_BLOCK", 16)
        patch.setattr(pace, "SECONDS", 1e-9)
        patch.setattr(checkpoint, "COST_SHARE", np.inf)
        draws(checkpoint=base / "inside" / "run", checkpoint_every=0.0, **SETTINGS)
        draws(checkpoint=base / "beside" / "run", store=base / "beside" / "s", checkpoint_every=0.0, **SETTINGS)
        killed(base / "killed" / "run", patch)
    for kind in ("inside", "beside", "killed"):
        (base / kind / "thesis.txt").write_text("mine")
        (base / kind / "run" / "notes.txt").write_text("mine")
    return {kind: base / kind for kind in ("inside", "beside", "killed")}


def killed(folder: Path, patch: pytest.MonkeyPatch) -> None:
    write, calls = files.write_json, []

    def dies(path: Path, value: Any) -> None:
        calls.extend([path] if path.name == "commit.json" else [])
        if len(calls) > 9:
            raise KeyboardInterrupt
        write(path, value)

    patch.setattr(files, "write_json", dies)
    with pytest.raises(KeyboardInterrupt):
        draws(checkpoint=folder, checkpoint_every=0.0, **SETTINGS)
    patch.setattr(files, "write_json", write)


@pytest.fixture(scope="module")
def expected() -> dict[int, dict[str, Any]]:
    return {settings["num_draws"]: content(draws(**settings)) for settings in (SETTINGS, LONGER)}


def flip(path: Path, random: np.random.Generator) -> None:
    damaged = bytearray(path.read_bytes())
    for _ in range(int(random.integers(1, 4))):
        damaged[int(random.integers(len(damaged)))] ^= 1 << int(random.integers(8))
    path.write_bytes(damaged)


def cut(path: Path, random: np.random.Generator) -> None:
    path.write_bytes(path.read_bytes()[: int(random.integers(path.stat().st_size))])


def blank(path: Path, random: np.random.Generator) -> None:
    """A page of zeros, as a crash of the machine leaves it."""
    damaged = bytearray(path.read_bytes())
    begin = int(random.integers(len(damaged)))
    damaged[begin : begin + 512] = bytes(len(damaged[begin : begin + 512]))
    path.write_bytes(damaged)


def lengthen(path: Path, random: np.random.Generator) -> None:
    path.write_bytes(path.read_bytes() + random.bytes(int(random.integers(1, 64))))


def remove(path: Path, random: np.random.Generator) -> None:
    path.unlink()


def digit(path: Path, random: np.random.Generator) -> None:
    """Another digit in place of one: the damage that still reads as a number."""
    damaged = bytearray(path.read_bytes())
    digits = [place for place, byte in enumerate(damaged) if 48 <= byte <= 57]
    if digits:
        damaged[digits[int(random.integers(len(digits)))]] = 48 + int(random.integers(10))
    path.write_bytes(damaged)


DAMAGE: tuple[Callable[[Path, np.random.Generator], None], ...] = (flip, flip, cut, blank, lengthen, remove, digit)


def damaged_copy(runs: dict[str, Path], folder: Path, seed: int) -> tuple[Path, np.random.Generator]:
    random = np.random.default_rng(seed)
    kind = ("inside", "beside", "killed")[seed % 3]
    copy = Path(shutil.copytree(runs[kind], folder / kind))
    ours = sorted(p for p in copy.rglob("*") if p.is_file() and p.suffix != ".txt" and p.stat().st_size)
    DAMAGE[int(random.integers(len(DAMAGE)))](ours[int(random.integers(len(ours)))], random)
    return copy, random


def ask(copy: Path, how: int) -> tuple[int, Any]:
    """The draws of a damaged run, and how many there should be."""
    beside = {"store": copy / "s"} if (copy / "s").exists() or copy.name == "beside" else {}
    if how == 0:
        return 50, read_draws(beside.get("store", copy / "run"))
    settings = SETTINGS if how == 1 else LONGER
    return settings["num_draws"], draws(checkpoint=copy / "run", **beside, **settings)


@pytest.mark.parametrize("seed", range(400))
def test_a_damaged_run_is_right_or_refused(
    runs: dict[str, Path], expected: dict[int, dict[str, Any]], tmp_path: Path, seed: int
) -> None:
    copy, random = damaged_copy(runs, tmp_path, seed)
    try:
        number, tree = ask(copy, int(random.integers(3)))
        assert content(tree) == expected[number]
    except OrthodromeError as error:
        assert str(error) and "\n" not in str(error)
    assert (copy / "thesis.txt").read_text() == (copy / "run" / "notes.txt").read_text() == "mine"


def corpora(folder: Path) -> list[Path]:
    """The same four documents in every format."""
    table = scipy.sparse.csr_array(np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 0, 4]]))
    scipy.sparse.save_npz(folder / "x.npz", table)
    rows = [[f"{word}:{count}" for word, count in enumerate(row) if count] for row in table.toarray().tolist()]
    (folder / "x.ldac").write_text("".join(f"{len(row)} {' '.join(row)}\n" for row in rows))
    entries = [(d + 1, w + 1, n) for (d, w), n in np.ndenumerate(table.toarray()) if n]
    lines = "".join("{} {} {}\n".format(*entry) for entry in entries)
    (folder / "docword.x.txt").write_text(f"4\n3\n{len(entries)}\n{lines}")
    (folder / "x.jsonl").write_text("".join(json.dumps({"text": f"ships {n} harbour"}) + "\n" for n in range(4)))
    (folder / "x.csv").write_text('id,text\na,"ships, at sea"\nb,harbour\n')
    return sorted(folder.iterdir())


@pytest.mark.parametrize("seed", range(100))
def test_a_damaged_corpus_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    """Formats without checksums cannot tell a changed number; none may end in anything but a corpus or our error."""
    random = np.random.default_rng(seed)
    paths = corpora(tmp_path)
    path = paths[seed % len(paths)]
    DAMAGE[int(random.integers(5))](path, random)
    try:
        found = read_corpus(path)
    except OrthodromeError as error:
        assert str(path) in str(error) and "\n" not in str(error)
    else:
        assert found.counts.shape == (len(found.names), len(found.vocabulary)) and found.counts.data.min() >= 0
