"""The place of this process among the processes of one run, as its environment tells it.

    ORTHODROME_COORDINATOR   host:port of the first process, where all meet (also JAX_COORDINATOR_ADDRESS)
    ORTHODROME_PROCESSES     how many processes there are
    ORTHODROME_PROCESS       the number of this one, from 0
    ORTHODROME_RUN           a word that only processes of the same run share, so that strangers are turned away

`orthodrome launch` sets all four. What a scheduler sets is read where ours are missing: Slurm's job steps (which also
name the first host), the ranks of Open MPI and of MPICH's Hydra, and the index of a Kubernetes Job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orthodrome.errors import BadInput

COORDINATOR, PROCESSES, PROCESS, RUN = (f"ORTHODROME_{name}" for name in ("COORDINATOR", "PROCESSES", "PROCESS", "RUN"))
FIRST_PORT, PORTS = 61_000, 4_000
"""The ports among which a Slurm job finds its own, by the number of the job."""


class Place(NamedTuple):
    """Where a process stands in a run of several.

    process, processes: its number from 0, and how many there are
    coordinator: host:port of the first process
    run: a word that the processes of the run share
    source: who said so, for people
    """

    process: int
    processes: int
    coordinator: str
    run: str
    source: str

    @property
    def host(self) -> str:
        """The host of the first process."""
        return self.coordinator.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port at which all meet."""
        return int(self.coordinator.rpartition(":")[2])


class Scheduler(NamedTuple):
    """The names of the variables in which a scheduler tells a process its number, how many there are, and the job."""

    name: str
    process: str
    processes: str
    run: str


SCHEDULERS = (
    Scheduler("ORTHODROME_*", PROCESS, PROCESSES, RUN),
    Scheduler("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"),
    Scheduler("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"),
    Scheduler("MPI (Hydra)", "PMI_RANK", "PMI_SIZE", "HYDI_CONTROL_FD"),
    Scheduler("Kubernetes", "JOB_COMPLETION_INDEX", PROCESSES, RUN),
)


def find_place(environment: Mapping[str, str]) -> Place | None:
    """Return the place that the environment states, or None in a lone process; raise if it states half of one."""
    for names in SCHEDULERS:
        if names.process in environment and names.processes in environment:
            place = _place(names, environment)
            return place if place.processes > 1 else None
    if half := [name for name in (PROCESS, PROCESSES) if name in environment]:
        missing = PROCESSES if half == [PROCESS] else PROCESS
        raise BadInput(f"{half[0]} is set but {missing} is not; set both and {COORDINATOR}, or none of them")
    return None


def _place(names: Scheduler, environment: Mapping[str, str]) -> Place:
    process, processes = (_whole(name, environment[name]) for name in (names.process, names.processes))
    if not 0 <= process < processes:
        raise BadInput(f"{names.process} is {process}, but with {names.processes}={processes} it must be from 0 to "
                       f"{processes - 1}")  # fmt: skip
    if processes == 1:
        return Place(0, 1, "", "", names.name)
    given = environment.get(COORDINATOR) or environment.get("JAX_COORDINATOR_ADDRESS") or _slurm_address(environment)
    if given is None:
        raise BadInput(
            f"{names.name} says that this is process {process} of {processes}, but not where they meet: set "
            f"{COORDINATOR}=HOST:PORT, HOST being that of process 0 as all others reach it"
        )
    if not re.fullmatch(r".+:\d+", given) or not 0 < int(given.rpartition(":")[2]) < 65_536:
        raise BadInput(f"{COORDINATOR} is {given!r}; it must be HOST:PORT, as in node1:9437")
    run = environment.get(RUN) or environment.get(names.run, "")
    return Place(process, processes, given, run, names.name)


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"\d+", text.strip()):
        raise BadInput(f"{name} is {text!r}; it must be a whole number")
    return int(text)


def _slurm_address(environment: Mapping[str, str]) -> str | None:
    """Return host:port of the first task of a Slurm job step, or None if this is none."""
    nodes, job = environment.get("SLURM_STEP_NODELIST"), environment.get("SLURM_JOB_ID")
    if not nodes or not job:
        return None
    return f"{first_of_nodes(nodes)}:{FIRST_PORT + _whole('SLURM_JOB_ID', job) % PORTS}"


def first_of_nodes(nodes: str) -> str:
    """Return the first host of Slurm's compact list: `n[003-007,9],m1` begins with `n003`."""
    return re.sub(r"^([^\[,]*)(?:\[(\d+)[^\]]*\]([^,\[]*))?.*$", r"\1\2\3", nodes)


def share_of_cores(cores: Sequence[int], index: int, count: int) -> list[int]:
    """Return the cores of process `index` of `count` on one host: disjoint shares, or all if there are too few."""
    each = len(cores) // count
    return list(cores[index * each : (index + 1) * each]) if each else list(cores)
