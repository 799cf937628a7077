"""Meet before JAX starts: who is there, on which host, with which versions, and who is missing.

JAX's own start waits for the number of processes and, when it is not reached, cannot say more than that. So all
processes first meet at the coordinator's port for a line of JSON each: the first process listens, every other says its
number, host, cores and versions, and all are told either who the others are or why the run cannot begin. Then the port
is closed, and JAX's service opens it again. Nothing is pickled, and what does not speak this line is turned away.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import Any, NamedTuple

from orthodrome.core.processes import COORDINATOR, Place
from orthodrome.errors import OrthodromeError

PAUSE = 0.1
"""Seconds between two attempts to reach the first process."""
LONGEST_LINE = 1 << 16
"""The most bytes that anyone may say of themselves."""
ONE_LINE = 5.0
"""Seconds that one who has connected has for its line; a stranger who says nothing must not keep the others waiting."""


class Presence(NamedTuple):
    """What a process says of itself: its number, host, the address that the host's name has for itself ("" if none),
    usable cores, and the versions its draws depend on."""

    process: int
    host: str
    address: str
    cores: list[int]
    versions: dict[str, str]


class HostsNotFound(OrthodromeError):
    """The processes of a run could not find each other, or do not fit together."""


def meet(place: Place, own: Presence, timeout: float) -> list[Presence]:
    """Return what all processes say of themselves, in order; raise on all that can be reached if they do not fit."""
    return _receive(place, own, timeout) if place.process == 0 else _arrive(place, own, timeout)


def check_addresses(present: list[Presence]) -> None:
    """Raise if processes on several hosts could not reach each other: each is known by the address of its own name."""
    hidden = [each for each in present if not each.address or is_loopback(each.address)]
    if len({each.host for each in present}) > 1 and hidden:
        own = hidden[0].address or "no address"
        raise HostsNotFound(
            f"the name of the host of process {hidden[0].process}, {hidden[0].host}, stands for {own} on that host, "
            "where no other host reaches it: let its /etc/hosts (or the name service) give the address in your network"
        )


def _receive(place: Place, own: Presence, timeout: float) -> list[Presence]:
    """Wait for all others, tell them the outcome, and return it."""
    present, lines = {0: own}, []
    with contextlib.ExitStack() as open_sockets:
        server = open_sockets.enter_context(_listening(place))
        deadline = time.monotonic() + timeout
        problem = None
        while len(present) < place.processes and problem is None:
            server.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                line = open_sockets.enter_context(server.accept()[0])
            except TimeoutError:
                problem = _missing(place, present, timeout)
                break
            if (said := _heard(line, place)) is not None:
                lines.append(line)
                problem = _misfit(place, present, said)
                present[said["process"]] = Presence(*(said[name] for name in Presence._fields))
        everyone = [present[number] for number in sorted(present)]
        for line in lines:
            with contextlib.suppress(OSError):  # who has gone meanwhile will be missed by JAX
                _say(line, {"problem": problem, "present": [each._asdict() for each in everyone]})
        for line in lines:
            with contextlib.suppress(OSError):
                line.recv(1)  # they close first, so that the port is free at once
    if problem is not None:
        raise HostsNotFound(problem)
    return everyone


def _listening(place: Place) -> socket.socket:
    own = "127.0.0.1" if is_loopback(place.host) else ""
    try:
        server = socket.create_server((own, place.port), backlog=min(4096, place.processes + 16))
    except OSError as error:
        raise HostsNotFound(
            f"port {place.port} of this host, where the {place.processes} processes were to meet, cannot be opened: "
            f"{error.strerror or error}; choose another port in {COORDINATOR}"
        ) from error
    return server


def is_loopback(host: str) -> bool:
    """Return whether a name is that of this machine as only itself sees it."""
    return host == "localhost" or host.startswith("127.") or host == "::1"


def _heard(line: socket.socket, place: Place) -> dict[str, Any] | None:
    """Return what one who connected says, or None for a stranger."""
    line.settimeout(ONE_LINE)
    try:
        said = json.loads(_read_line(line))
        known = said["run"] == place.run and isinstance(said["process"], int)
        return said if known and {"host", "address", "cores", "versions", "processes"} <= said.keys() else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _misfit(place: Place, present: dict[int, Presence], said: dict[str, Any]) -> str | None:
    """Return why one who arrived does not fit, or None."""
    own, who = present[0], f"process {said['process']} on {said['host']}"
    if said["processes"] != place.processes or not 0 <= said["process"] < place.processes:
        return f"{who} expects {said['processes']} processes, the first one expects {place.processes}: start all alike"
    if said["process"] in present:
        return f"{who} came twice (also from {present[said['process']].host}): give every process its own number"
    different = [
        f"{name} {own.versions.get(name)} on {own.host}, {version} on {said['host']}"
        for name, version in said["versions"].items()
        if own.versions.get(name) != version
    ]
    return f"{who} has other versions: {'; '.join(different)}; install the same on all hosts" if different else None


def _missing(place: Place, present: dict[int, Presence], timeout: float) -> str:
    absent = [str(number) for number in range(place.processes) if number not in present]
    shown = ", ".join(absent[:8]) + (f" and {len(absent) - 8} more" if len(absent) > 8 else "")
    return (
        f"process {shown} of {place.processes} did not arrive at {place.coordinator} within {timeout:g} s "
        f"({len(present)} did): see whether it was started, with this address, and whether a firewall is in between"
    )


def _arrive(place: Place, own: Presence, timeout: float) -> list[Presence]:
    """Reach the first process, introduce this one, and return who is there."""
    deadline = time.monotonic() + timeout
    with _connected(place, deadline, timeout) as line:
        _say(line, {**own._asdict(), "processes": place.processes, "run": place.run})
        line.settimeout(max(1.0, deadline - time.monotonic()) + ONE_LINE)
        try:
            answer = json.loads(_read_line(line))
        except (OSError, ValueError) as error:
            raise HostsNotFound(
                f"the first process at {place.coordinator} did not answer process {place.process} of "
                f"{place.processes}: it has ended, or another program listens there; see its output"
            ) from error
    if answer["problem"] is not None:
        raise HostsNotFound(answer["problem"])
    return [Presence(**each) for each in answer["present"]]


def _connected(place: Place, deadline: float, timeout: float) -> socket.socket:
    reason = "no attempt was made"
    while (left := deadline - time.monotonic()) > 0:
        try:
            return socket.create_connection((place.host, place.port), timeout=max(0.1, left))
        except OSError as error:
            reason = error.strerror or str(error)
            time.sleep(PAUSE)
    raise HostsNotFound(
        f"process {place.process} of {place.processes} cannot reach the first process at {place.coordinator} within "
        f"{timeout:g} s ({reason}): see whether it runs there, whether the address is right, and whether a firewall "
        "is in between"
    )


def _say(line: socket.socket, what: dict[str, Any]) -> None:
    line.sendall(json.dumps(what).encode() + b"\n")


def _read_line(line: socket.socket) -> bytes:
    """Read up to the first end of a line."""
    content = bytearray()
    while not content.endswith(b"\n") and len(content) < LONGEST_LINE:
        piece = line.recv(4096)
        if not piece:
            break
        content += piece
    return bytes(content)
