"""Tests that share what takes long to make run in one process; all others go wherever there is room."""

from __future__ import annotations

import os

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
