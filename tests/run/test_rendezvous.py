"""How processes meet: who is missing, doubled, different or a stranger is named on all of them, in a stated time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from orthodrome.core.processes import Place
from orthodrome.errors import BadInput
from orthodrome.jobs.launch.local import free_port
from orthodrome.run.parallel import rows_mesh, spread_rows
from orthodrome.run.parallel.hosts import use_hosts
from orthodrome.run.parallel.rendezvous import HostsNotFound, Presence, check_addresses, meet


def presence(process: int, **versions: str) -> Presence:
    return Presence(process, f"host{process}", f"10.0.0.{process}", [0, 1], {"jax": "1.0", **versions})


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Return what each call returned or raised, all of them at once."""
    found: list[Any] = [None] * len(calls)

    def one(i: int) -> None:
        try:
            found[i] = calls[i]()
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def call(number: int, processes: int, port: int, timeout: float = 300.0, run: str = "r", **versions: str) -> Any:
    place = Place(number, processes, f"127.0.0.1:{port}", run, "test")
    return lambda: meet(place, presence(number, **versions), timeout)


def test_all_learn_who_is_there() -> None:
    port = free_port()
    found = together(*(call(number, 3, port) for number in (2, 0, 1)))
    assert found == [[presence(0), presence(1), presence(2)]] * 3


def test_a_missing_process_is_named_on_all() -> None:
    port = free_port()
    found = together(call(0, 3, port, timeout=2.0), call(2, 3, port))
    assert all(isinstance(error, HostsNotFound) for error in found)
    assert all("process 1 of 3 did not arrive" in str(error) and "within 2 s" in str(error) for error in found)


def test_a_first_process_that_cannot_be_reached_is_explained() -> None:
    with pytest.raises(HostsNotFound, match=r"process 1 of 2 cannot reach .*127.0.0.1:\d+ within 0.3 s"):
        call(1, 2, free_port(), timeout=0.3)()


def test_other_versions_are_named_on_all() -> None:
    port = free_port()
    found = together(call(0, 2, port), call(1, 2, port, jax="1.1"))
    assert all("jax 1.0 on host0, 1.1 on host1" in str(error) for error in found)


def test_a_number_that_comes_twice_or_another_count_is_refused() -> None:
    port = free_port()
    found = together(call(0, 3, port), call(1, 3, port), call(1, 3, port))
    assert all("process 1 on host1 came twice" in str(error) for error in found)
    port = free_port()
    found = together(call(0, 2, port), call(1, 3, port))
    assert all("expects 3 processes, the first one expects 2" in str(error) for error in found)


def test_strangers_are_turned_away() -> None:
    port = free_port()

    def strange() -> None:
        for _ in range(100):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1) as line:
                    line.sendall(b"GET / HTTP/1.1\r\n\r\n[[[\n")
                return
            except OSError:
                threading.Event().wait(0.02)

    found = together(call(0, 2, port, timeout=1.5), strange, call(1, 2, port, timeout=1.0, run="another run"))
    assert "process 1 of 2 did not arrive" in str(found[0])
    assert isinstance(found[2], HostsNotFound)
    port = free_port()
    found = together(call(0, 2, port), strange, call(1, 2, port))
    assert found[0] == found[2] == [presence(0), presence(1)]


def test_a_port_in_use_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(HostsNotFound, match="choose another port"):
        call(0, 2, taken.getsockname()[1])()


@pytest.mark.parametrize("address", ["", "127.0.1.1"])
def test_a_host_whose_name_nobody_reaches_is_named(address: str) -> None:
    hidden = presence(1)._replace(address=address)
    with pytest.raises(HostsNotFound, match="process 1, host1, stands for"):
        check_addresses([presence(0), hidden])
    check_addresses([hidden, hidden])  # of one host it does not matter
    check_addresses([presence(0), presence(1)])


def test_rows_must_be_equally_many() -> None:
    for data in ({"x": np.zeros((4, 2)), "y": np.zeros(3)}, np.zeros((0, 2)), np.zeros(())):
        with pytest.raises(BadInput, match="spread_rows: the arrays have"):
            spread_rows(data)
    assert rows_mesh(spread_rows(np.zeros((4, 2)))) is None or jax.device_count() > 1
    with pytest.raises(BadInput, match="must divide that of the devices"):
        spread_rows(np.zeros((4, 2)), chains=jax.device_count() + 1)


def test_a_lone_process_is_left_alone() -> None:
    assert use_hosts() == (0, 1)
    assert use_hosts().first
    with pytest.raises(ValueError, match="timeout=0"):
        use_hosts(0)
