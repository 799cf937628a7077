"""The place of a process, from the variables of launchers and schedulers."""

from __future__ import annotations

import pytest

from orthodrome.core.processes import COORDINATOR, PROCESS, PROCESSES, RUN, find_place, first_of_nodes, share_of_cores
from orthodrome.errors import BadInput

OURS = {COORDINATOR: "node1:9437", PROCESSES: "4", PROCESS: "2", RUN: "word"}
SLURM = {
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_JOB_ID": "123456",
    "SLURM_STEP_NODELIST": "n[003-007,9],m1",
}


def test_a_lone_process_has_no_place() -> None:
    assert find_place({}) is None
    assert find_place({**OURS, PROCESSES: "1", PROCESS: "0"}) is None
    assert find_place({**SLURM, "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}) is None
    assert find_place({"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "a"}) is None  # a batch script, not a step


def test_our_variables() -> None:
    place = find_place(OURS)
    assert place is not None
    assert (place.process, place.processes, place.host, place.port, place.run) == (2, 4, "node1", 9437, "word")
    assert find_place({**OURS, COORDINATOR: "[fe80::1]:80"}).host == "fe80::1"  # type: ignore[union-attr]


def test_slurm_names_the_first_host_and_the_job_its_port() -> None:
    place, other = find_place(SLURM), find_place({**SLURM, "SLURM_JOB_ID": "123457"})
    assert place is not None and other is not None
    assert (place.process, place.processes, place.host, place.run) == (3, 4, "n003", "123456")
    assert 61_000 <= place.port < 65_000 and place.port != other.port


@pytest.mark.parametrize(
    ("nodes", "first"), [("a", "a"), ("a,b", "a"), ("a[1-2]", "a1"), ("a[07,9],b", "a07"), ("r[1-2]n.x,c", "r1n.x")]
)
def test_slurms_lists_of_nodes(nodes: str, first: str) -> None:
    assert first_of_nodes(nodes) == first


def test_mpi_and_kubernetes_give_the_number_and_we_the_meeting_point() -> None:
    mpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    with pytest.raises(BadInput, match="not where they meet: set ORTHODROME_COORDINATOR"):
        find_place(mpi)
    assert find_place({**mpi, COORDINATOR: "a:1"}).process == 1  # type: ignore[union-attr]
    job = {"JOB_COMPLETION_INDEX": "2", PROCESSES: "3", COORDINATOR: "job-0.job:9437"}
    assert find_place(job).process == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({PROCESS: "4"}, "from 0 to 3"),
        ({PROCESS: "x"}, "whole number"),
        ({COORDINATOR: "node1"}, "HOST:PORT"),
        ({COORDINATOR: "node1:0"}, "HOST:PORT"),
        ({COORDINATOR: ""}, "not where they meet"),
    ],
)
def test_what_cannot_be_is_explained(change: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        find_place({**OURS, **change})


@pytest.mark.parametrize("name", [PROCESS, PROCESSES])
def test_half_a_place_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} is set but"):
        find_place({name: "2"})


def test_shares_of_cores_are_disjoint() -> None:
    shares = [share_of_cores(range(7), index, 3) for index in range(3)]
    assert shares == [[0, 1], [2, 3], [4, 5]]
    assert share_of_cores([0, 1], 2, 3) == [0, 1]  # too few for a share each
