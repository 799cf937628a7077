"""Tests that share what takes long to make run in one process; all others go wherever there is room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.groups import group_of
from support.long_cases import LONG, is_long, unknown


def test_what_is_shared_is_together() -> None:
    assert group_of("tests/models/lda/test_model.py::test_a") == group_of("tests/cli/test_topics.py::test_b[sam]")
    assert group_of("tests/doors/test_doors.py::test_a[1]") == group_of("tests/doors/test_doors.py::test_b")
    every = "tests/manifolds/test_contract.py::test_"
    assert group_of(every + "a[ball]") == group_of(every + "b[float32-ball]") != group_of(every + "a[box]")
    alone = "tests/samplers/test_stay_in_truth.py::test_a"
    assert group_of(alone + "[1]") != group_of(alone + "[2]")


def test_long_cases_are_known_by_name() -> None:
    """A case that was renamed would come back into the fast suite, and one that is gone would stay on the list."""
    path = "cli/test_cluster.py"
    (case,) = LONG[path]
    assert is_long(f"tests/{path}::{case}") and not is_long(f"tests/{path}::test_planted_clusters_come_back")
    assert unknown([f"tests/{path}::{case}"]) == []
    assert unknown([f"tests/{path}::test_planted_clusters_come_back"]) == [f"{path}::{case}"]


@pytest.mark.parametrize("number", range(8))
def test_this_file_runs_in_one_process(number: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each process leaves its number where all processes of a session can see it."""
    shared = (
        tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else tmp_path_factory.getbasetemp()
    )
    folder = shared / f"processes-of-{os.environ.get('PYTEST_XDIST_TESTRUNUID', 'one')}"
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
    assert [path.name for path in folder.iterdir()] == [str(os.getpid())]


SCHEDULER = """
from support.by_group import ByGroup

def pytest_xdist_make_scheduler(config, log):
    return ByGroup(config, log)
"""


def test_processes_that_die_are_failures_of_their_tests_and_all_other_tests_run(tmp_path: Path) -> None:
    """Two of two processes abort, each after a test of the same group; the groups handed out before were complete."""
    (tmp_path / "conftest.py").write_text(SCHEDULER)
    aborts = "import os\n\ndef test_before(): pass\n\ndef test_aborts(): os.abort()\n\ndef test_after(): pass\n"
    for name in "abcdef":
        text = aborts if name in "ce" else "def test_one(): pass\n\ndef test_two(): pass\n"
        (tmp_path / f"test_{name}.py").write_text(text)
    options = ["-n", "2", "--dist", "loadgroup", "-q", "-rA", "-o", f"pythonpath={Path(__file__).parent}"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
    )
    assert found.returncode == pytest.ExitCode.TESTS_FAILED, found.stdout
    assert "2 failed, 12 passed" in found.stdout, found.stdout
    for name in "ce":
        assert f"test_{name}.py::test_aborts'" in found.stdout, found.stdout
