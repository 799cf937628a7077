"""`use_hosts`: the same script on many processes and hosts, on JAX's own distributed runtime.

JAX's runtime connects the processes; what it is told comes from the environment (`core.processes`). A dead process
ends all: JAX notices a missing heartbeat after `HEARTBEAT` seconds, an exchange with a dead peer fails at once, and an
error that nobody catches ends its process without waiting for the others, who would otherwise wait for it.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import platform
import socket
import sys
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

import jax

from orthodrome.core.processes import Place, find_place, share_of_cores
from orthodrome.errors import BadInput, OrthodromeError
from orthodrome.run.parallel.exchange_thread import exchange_waits_its_turn
from orthodrome.run.parallel.one_device import connect
from orthodrome.run.parallel.rendezvous import HostsNotFound, Presence, check_addresses, is_loopback, meet

HEARTBEAT = 30
"""Seconds after which a silent process counts as dead: its host has lost power or network, since the death of a process
alone closes its connections, which is noticed at once. Less would take a host that is very busy for a dead one."""
GOODBYE = 86_400
"""Seconds that a process which has finished waits at its end for the others: they may still have work to do."""
WITHOUT_PROXY = "no_grpc_proxy"
"""The variable that names the hosts which JAX's transport reaches without a proxy."""
LIBRARIES = ("orthodrome", "jax", "jaxlib", "numpy", "numba")
"""The libraries whose versions must be the same on all hosts, since the draws depend on them."""


class Hosts(NamedTuple):
    """The place of this process: its number from 0, and the number of processes."""

    process: int
    processes: int

    @property
    def first(self) -> bool:
        """Whether this is the first process, which speaks, commits and writes what is written once."""
        return self.process == 0


def use_hosts(timeout: float = 60.0) -> Hosts:
    """Join the other processes of this run, if the environment tells of any, and otherwise do nothing.

    It must come before JAX's first operation. Variables: ORTHODROME_COORDINATOR, ORTHODROME_PROCESSES and
    ORTHODROME_PROCESS, which `orthodrome launch` sets; those of Slurm, Open MPI and Kubernetes are understood.

    timeout: seconds within which all processes must have arrived; then an error says who is missing
    returns: the number of this process and how many there are
    """
    if not timeout > 0:
        raise BadInput(f"use_hosts(timeout={timeout!r}): the time must be a positive number of seconds")
    place = find_place(os.environ)
    if place is None or jax.distributed.is_initialized():
        return this_process()
    present = meet(place, _presence(place), timeout)
    check_addresses(present)
    neighbours = [each.process for each in present if each.host == present[place.process].host]
    _take_share(present, neighbours.index(place.process), neighbours)
    _initialize(place, timeout, neighbours)
    sys.excepthook = _end_at_once
    _end_at_once_with_a_code()
    with exchange_waits_its_turn():
        jax.devices()
    _connect(place)
    if place.process == 0:
        hosts = list(dict.fromkeys(each.host for each in present))
        shown = ", ".join(hosts[:4]) + (" ..." if len(hosts) > 4 else "")
        text = f"{place.processes} processes on {len(hosts)} host{'s' * (len(hosts) > 1)} ({shown})"
        print(f"orthodrome: {text}, found by {place.source}, at {place.coordinator}", file=sys.stderr, flush=True)
    return this_process()


def this_process() -> Hosts:
    """Return the place of this process; (0, 1) if it is alone."""
    if not jax.distributed.is_initialized():
        return Hosts(0, 1)
    return Hosts(jax.process_index(), jax.process_count())


def _presence(place: Place) -> Presence:
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    versions["Python"] = ".".join(platform.python_version_tuple()[:2])
    return Presence(place.process, socket.gethostname(), _address(), _cores(), versions)


def _address() -> str:
    """Return the address that the name of this host has on this host, at which JAX's collectives offer themselves."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return ""


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if "sched_getaffinity" in dir(os) else []


def _take_share(present: list[Presence], index: int, neighbours: list[int]) -> None:
    """Keep to a share of the cores if processes of this host would otherwise all use the same ones."""
    cores = [set(present[number].cores) for number in neighbours]
    if len(neighbours) > 1 and cores[0] and all(each == cores[0] for each in cores):
        os.sched_setaffinity(0, share_of_cores(sorted(cores[0]), index, len(neighbours)))


def _initialize(place: Place, timeout: float, neighbours: list[int]) -> None:
    _reach_without_proxy(place.host)
    # JAX would take SIGTERM for a notice, and let the process live on
    jax.config.update("jax_enable_preemption_service", False)
    local = "127.0.0.1" if is_loopback(place.host) else "[::]"
    try:
        jax.distributed.initialize(
            place.coordinator,
            place.processes,
            place.process,
            local_device_ids=[neighbours.index(place.process)] if len(neighbours) > 1 else None,
            cluster_detection_method="deactivate",
            initialization_timeout=max(1, round(timeout)),
            heartbeat_timeout_seconds=HEARTBEAT,
            shutdown_timeout_seconds=GOODBYE,
            coordinator_bind_address=f"{local}:{place.port}",
        )
    except RuntimeError as error:
        if "must be called before" in str(error):
            raise OrthodromeError(
                "use_hosts() came after JAX's first operation; call it right after the imports, before anything else"
            ) from error
        raise HostsNotFound(
            f"all {place.processes} processes met at {place.coordinator}, but JAX's runtime could not start there: "
            f"{str(error).splitlines()[0]}"
        ) from error


def _connect(place: Place) -> None:
    try:
        connect(place.processes)
    except Exception as error:
        raise HostsNotFound(
            f"all {place.processes} processes met at {place.coordinator}, but not all can exchange data: see whether a "
            f"firewall is between the hosts ({(str(error).splitlines() or ['?'])[0][:200]})"
        ) from error


def _reach_without_proxy(host: str) -> None:
    """Let the connection to the first process bypass any proxy, through which it could hang."""
    hosts = [each for each in (os.environ.get(WITHOUT_PROXY), host) if each]
    os.environ[WITHOUT_PROXY] = ",".join(hosts)
    jax.config.update("jax_check_proxy_envs", False)


def _end_at_once(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
    """Print an error that nobody caught and end this process: at a normal end it would wait for the others."""
    sys.__excepthook__(kind, error, trace)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _end_at_once_with_a_code() -> None:
    """Let `sys.exit` with a code that says failure end this process without waiting for the others, too.

    What is called at exit cannot see why the program ends, so the code is noted when it is given; handlers that were
    registered after `use_hosts` run first.
    """
    leave, noted = sys.exit, [0]

    def noting(status: Any = None, /) -> NoReturn:
        noted[0] = status if isinstance(status, int) else int(status is not None)
        leave(status)

    def without_waiting() -> None:
        if noted[0]:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(noted[0] & 0xFF)

    sys.exit = noting
    atexit.register(without_waiting)
