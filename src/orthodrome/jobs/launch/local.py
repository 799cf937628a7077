"""Start N processes of a command on this machine, and end all of them when one fails.

Each process has its number and the meeting point in its environment (`core.processes`) and a share of the cores of its
own, so that neither JAX nor numba uses those of another. What they print is passed on line by line with the number of
the process in front. When one ends with an error or is killed, the others have `GRACE` seconds to notice and to say so
themselves; then they are asked to end (SIGTERM), and `GRACE` seconds later killed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from orthodrome.core.processes import COORDINATOR, PROCESS, PROCESSES, RUN, share_of_cores
from orthodrome.core.streams import Forgiving
from orthodrome.errors import BadInput

GRACE = 3.0
"""Seconds between noticing a failure, asking the others to end, and killing them."""
GLANCE = 0.05
"""Seconds between two looks at the processes."""
NOISE = b"[Gloo] Rank "
"""The beginning of a line that the library for collectives prints about every connection; it is left out."""
UNTIL_NOTICED = 0.5
"""Seconds to wait after a failure before naming the first: of several that fail together, a killed one is the cause."""


def launch(command: Sequence[str], processes: int) -> int:
    """Run the command in several processes until all have ended; return the exit code of the first that failed."""
    address, run = f"127.0.0.1:{free_port()}", secrets.token_hex(8)
    started: list[subprocess.Popen[bytes]] = []
    with _ended(started), _forwarding(started):
        for number in range(processes):
            place = {COORDINATOR: address, PROCESSES: str(processes), PROCESS: str(number), RUN: run}
            started.append(_start(command, place, number, processes))
        printers = [thread for number, child in enumerate(started) for thread in _printers(number, child)]
        code = _wait(started)
        _end(started)
        for thread in printers:
            thread.join(timeout=GRACE)
    return code


def free_port() -> int:
    """Return a port of the loopback interface that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _start(command: Sequence[str], place: dict[str, str], number: int, processes: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **place}
    with _on_share(number, processes):  # the child inherits it from its first moment on
        try:
            return subprocess.Popen(
                list(command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise BadInput(f"cannot start {command[0]!r}: {error.strerror or error}") from error


@contextlib.contextmanager
def _on_share(number: int, processes: int) -> Iterator[None]:
    """Keep to the share of the cores of one process for a moment."""
    if "sched_getaffinity" not in dir(os):
        yield
        return
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, share_of_cores(sorted(every), number, processes))
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def _printers(number: int, child: subprocess.Popen[bytes]) -> list[threading.Thread]:
    """Pass on what a process prints, with its number in front of every line."""
    ways = ((child.stdout, sys.stdout), (child.stderr, sys.stderr))
    threads = [threading.Thread(target=_pass_on, args=(f"[{number}] ", *way), daemon=True) for way in ways]
    for thread in threads:
        thread.start()
    return threads


def _pass_on(prefix: str, source: Any, stream: Any) -> None:
    out = Forgiving(stream)
    for line in source:
        if line.startswith(NOISE):
            continue
        text = line.decode(errors="replace").rstrip("\n")
        out.write(f"{prefix}{text}\n")
        out.flush()


def _wait(started: list[subprocess.Popen[bytes]]) -> int:
    """Wait until all have ended well, or one has not; return the exit code."""
    while True:
        codes = [child.poll() for child in started]
        if any(codes):
            time.sleep(UNTIL_NOTICED)
            return _name_the_first([child.poll() for child in started], [child.pid for child in started])
        if None not in codes:
            return 0
        time.sleep(GLANCE)


def _name_the_first(codes: list[int | None], pids: list[int]) -> int:
    """Say which process failed (one that was killed rather than those that failed because of it)."""
    failed = [number for number, code in enumerate(codes) if code]
    number = min(failed, key=lambda each: (codes[each] != -signal.SIGKILL, failed.index(each)))
    code = codes[number] or 1
    why = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    others = "; the others are ended" if len(codes) > 1 else ""
    print(
        f"orthodrome: process {number} of {len(codes)} (pid {pids[number]}) {why}{others}",
        file=Forgiving(sys.stderr),
        flush=True,
    )
    return 128 - code if code < 0 else code


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    """Wait a little for all to end; then ask them to, and at last kill them and whatever they started."""
    for message in (None, signal.SIGTERM, signal.SIGKILL):
        if message is not None:
            _tell(started, message)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline and any(child.poll() is None for child in started):
            time.sleep(GLANCE)


def _tell(started: list[subprocess.Popen[bytes]], message: int) -> None:
    for child in started:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, message)


@contextlib.contextmanager
def _ended(started: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Leave no process behind, whatever happens here."""
    try:
        yield
    finally:
        _tell(started, signal.SIGKILL)


@contextlib.contextmanager
def _forwarding(started: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Pass Ctrl-C and SIGTERM on: the processes end in order, and with them this one."""
    before = {number: signal.signal(number, lambda got, frame: _tell(started, got)) for number in _PASSED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_PASSED = (signal.SIGINT, signal.SIGTERM)
