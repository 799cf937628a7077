"""`sample` over processes: two and four on this machine against one with the same mesh, bit for bit; failures reach
all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from orthodrome import read_draws
from orthodrome.errors import CheckpointError

SCRIPT = Path(__file__).parents[1] / "support" / "hosts_script.py"
pytestmark = (
    pytest.mark.slow
)  # three processes that compile all of it; `test_processes` and `test_rendezvous` are quick
LIMIT = 900
"""Seconds after which the processes are ended, on a machine as busy as can be."""
FOUR = ("memory", "rows", "estimators", "groups", "gibbs", "mixture", "gaussian", "vmf", "sam", "sam_all")
"""The cases that four processes run."""


def run_both(one: Path, many: Path, processes: int, *cases: str) -> tuple[Path, Path]:
    """Run the script in one process with some devices and, at the same time, in as many processes with one each."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    alone = subprocess.Popen(
        [sys.executable, SCRIPT, one, *cases], env={**clean, "JAX_NUM_CPU_DEVICES": str(processes)}
    )
    launch = [sys.executable, "-m", "orthodrome", "launch", "-n", str(processes), "--", sys.executable, SCRIPT, many]
    subprocess.run([*launch, *cases], env=clean, check=True, timeout=LIMIT)
    assert alone.wait(timeout=LIMIT) == 0
    return one, many


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Run all cases with two."""
    return run_both(tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two"), 2)


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Run some cases with four."""
    return run_both(tmp_path_factory.mktemp("one-of-four"), tmp_path_factory.mktemp("four"), 4, *FOUR)


def numbers(folder: Path, case: str, process: int, name: str = "draws") -> np.ndarray:
    with np.load(folder / f"{case}.{process}.npz") as found:
        return found[name]


@pytest.mark.parametrize("case", ["memory", "extended", "urn", "stopped", "rows", "batch", "gibbs", "scir"])
def test_draws_are_those_of_one_process_with_the_same_mesh(folders: tuple[Path, Path], case: str) -> None:
    one, two = folders
    alone = numbers(one, case, 0)
    assert np.ptp(alone) > 0.1
    for process in range(2):
        assert np.array_equal(numbers(two, case, process), alone)


MODELS = ["gibbs", "mixture", "gaussian", "vmf", "sam", "sam_all"]
SPREAD = ["memory", "rows", "control", "svrg", "fisher", "groups", *MODELS]


@pytest.mark.parametrize("case", SPREAD)
def test_four_processes_give_the_draws_of_one_with_four_devices(four: tuple[Path, Path], case: str) -> None:
    one, many = four
    alone = numbers(one, case, 0)
    assert np.ptp(alone) > 0.1
    for process in range(4):
        assert np.array_equal(numbers(many, case, process), alone)


@pytest.mark.parametrize("case", MODELS)
def test_models_do_not_depend_on_the_number_of_processes(
    folders: tuple[Path, Path], four: tuple[Path, Path], case: str
) -> None:
    found = [numbers(folder, case, 0) for folder in (folders[0], folders[1], four[1])]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


@pytest.mark.parametrize("case", ["mixture", "gaussian", "vmf"])
def test_clusters_of_rows_are_the_same_on_all_processes(four: tuple[Path, Path], case: str) -> None:
    alone = np.load(four[0] / f"{case}-labels.0.npy")
    assert len(alone) == 90 and np.ptp(alone) > 0
    assert all(np.array_equal(np.load(four[1] / f"{case}-labels.{i}.npy"), alone) for i in range(4))


@pytest.mark.parametrize("case", ["control", "svrg", "fisher", "groups"])
def test_estimators_and_groups_with_spread_rows_agree_with_rows_in_one_place(
    four: tuple[Path, Path], case: str
) -> None:
    """They differ by rounding only; chains of a run differ by much more, so other batches or rows would be seen."""
    found, plain = numbers(four[1], case, 0), numbers(four[0], f"plain_{case}", 0)
    np.testing.assert_allclose(found, plain, atol=1e-3)
    assert np.max(np.abs(plain[0] - plain[1])) > 0.05


@pytest.mark.parametrize("method", ["gibbs", "scir"])
def test_the_learnt_prior_is_that_of_all_documents(folders: tuple[Path, Path], method: str) -> None:
    alone = np.load(folders[0] / f"{method}-prior.0.npy")
    assert np.ptp(alone) > 0
    assert all(np.array_equal(np.load(folders[1] / f"{method}-prior.{i}.npy"), alone) for i in range(2))


def test_rows_that_are_spread_give_the_draws_of_all_rows(folders: tuple[Path, Path]) -> None:
    """The same chains with all rows in one place differ by rounding; with half of the rows they would be elsewhere."""
    found, plain, half = (numbers(folders[n], case, 0) for n, case in ((1, "rows"), (0, "plain"), (0, "half")))
    np.testing.assert_allclose(found, plain, atol=1e-3)
    assert np.max(np.abs(found - half)) > 0.05
    assert np.array_equal(numbers(folders[1], "own_rows", 1), numbers(folders[1], "rows", 0))


def test_chains_of_one_run_differ(folders: tuple[Path, Path]) -> None:
    """The control of the tests above: draws of other chains are seen to be other draws."""
    found = numbers(folders[1], "memory", 0)
    assert not any(np.array_equal(found[0], other) for other in found[1:])


def test_a_run_on_disk_equals_one_in_memory(folders: tuple[Path, Path]) -> None:
    assert np.array_equal(numbers(folders[1], "extended", 0), numbers(folders[1], "memory", 0))


def test_each_process_may_return_its_own_chains(folders: tuple[Path, Path]) -> None:
    parts = [numbers(folders[1], "own", process) for process in range(2)]
    assert [part.shape[0] for part in parts] == [2, 2]
    assert np.array_equal(np.concatenate(parts), numbers(folders[0], "own", 0))
    assert [numbers(folders[1], "own", process, "chain").tolist() for process in range(2)] == [[0, 1], [2, 3]]


def test_the_store_of_two_processes_is_one_store(folders: tuple[Path, Path]) -> None:
    store = folders[1] / "own-2.zarr"
    assert np.array_equal(np.asarray(read_draws(store)["posterior"]["x"]), numbers(folders[0], "own", 0))
    assert sorted(path.name for path in (store / "posterior" / "x" / "c").iterdir()) == ["0", "1"]
    block = next((store / "posterior" / "x" / "c" / "1").rglob("0"))
    block = block if block.is_file() else next(path for path in block.rglob("*") if path.is_file())
    block.write_bytes(block.read_bytes()[:-8] + bytes(8))
    with pytest.raises(CheckpointError, match="does not match its checksum"):
        read_draws(store)


def test_each_process_writes_its_own_state_and_one_commits(folders: tuple[Path, Path]) -> None:
    names = {path.name for path in (folders[1] / "checkpoint-2").iterdir()}
    states = sorted(name for name in names if name.startswith("state-"))
    assert "commit.json" in names and len(states) == 2
    assert [name.split(".")[1] for name in states] == ["0", "1"]


def test_failures_are_told_on_all_processes(folders: tuple[Path, Path]) -> None:
    said = {path.name: path.read_text() for path in folders[1].glob("*.txt")}
    assert said["diverged.0.txt"] == said["diverged.1.txt"]
    assert said["diverged.0.txt"] == (folders[0] / "diverged.0.txt").read_text()
    assert "chain 3 failed" in said["diverged.0.txt"]
    assert all("process 1 was given different numbers" in said[f"other_data.{i}.txt"] for i in range(2))
    assert all("process 1 was given different numbers" in said[f"other_documents.{i}.txt"] for i in range(2))
    assert all(".data" in said[f"other_data.{i}.txt"] for i in range(2))
    assert said["full_disk.0.txt"].startswith("PeerFailed: process 1 of 2 failed: could not write the checkpoint")
    assert (
        said["full_disk.1.txt"].startswith("CheckpointError: could not write") and "No space" in said["full_disk.1.txt"]
    )


LEAVING = """
import atexit, sys
from orthodrome.run.parallel import hosts
atexit.register(print, "waits for the others")
hosts._end_at_once_with_a_code()
sys.exit({code})
"""


@pytest.mark.parametrize(
    ("code", "ends", "waits"), [("3", 3, False), ("'why'", 1, False), ("0", 0, True), ("", 0, True)]
)
def test_who_leaves_with_a_code_does_not_wait_for_the_others(code: str, ends: int, waits: bool) -> None:
    done = subprocess.run([sys.executable, "-c", LEAVING.format(code=code)], capture_output=True, text=True)
    assert done.returncode == ends
    assert ("waits for the others" in done.stdout) == waits
    assert ("why" in done.stderr) == (code == "'why'")
