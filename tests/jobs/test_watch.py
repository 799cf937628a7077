"""Watching: the state of a run from its events, in the terminal and as a page on loopback behind a token."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from orthodrome.cli.main import main
from orthodrome.errors import BadInput
from orthodrome.jobs.fit_folder import RESULTS
from orthodrome.jobs.watch.follow import Follower, events_folder
from orthodrome.jobs.watch.look import look
from orthodrome.jobs.watch.server import serving
from orthodrome.storage.events import EVENTS, STOP, EventReader
from support.pages import PageParts, addresses
from support.watched import CHUNK, folder_with


def ended_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_the_states_of_a_run(tmp_path: Path) -> None:
    chunk = CHUNK | {"done": 40}
    running = folder_with(tmp_path, chunk)
    assert look(running, now=1005.0).state == "running"
    stalled = look(running, now=1200.0)
    assert stalled.state == "stalled" and "3 min" in stalled.words and not stalled.over
    assert look(folder_with(tmp_path, chunk, process=ended_process()), now=1002.0).state == "gone"
    assert look(folder_with(tmp_path, chunk, host="elsewhere"), now=1200.0).state == "silent"
    for reason, state in {"finished": "finished", "Stop(ess=400)": "finished", "interrupted": "interrupted"}.items():
        assert look(folder_with(tmp_path, chunk, {"event": "end", "reason": reason}), now=9e9).state == state
    assert look(tmp_path).state == "waiting"


def test_a_run_that_takes_long_for_a_chunk_is_not_stalled_sooner(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, CHUNK | {"done": 1})
    with open(folder / EVENTS, "a") as file:
        file.write(json.dumps(CHUNK | {"done": 2, "time": 1101.0}) + "\n")
    assert look(folder, now=1500.0).state == "running" and look(folder, now=1700.0).state == "stalled"


def test_a_reader_parses_what_is_new_and_follows_a_run_that_is_killed_and_resumed(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, CHUNK | {"done": 40}, process=ended_process())
    reader = EventReader(folder)
    assert look(folder, now=1002.0, reader=reader).state == "gone"
    with open(folder / EVENTS, "a") as file:
        file.write('{"event": "chunk", "time": 1')  # torn by the kill
        file.flush()
        assert len(reader.read()) == 2
        begin = {"event": "begin", "time": 1010.0, "process": os.getpid(), "host": socket.gethostname()}
        file.write("\n" + json.dumps(begin) + "\n")
    assert look(folder, now=1011.0, reader=reader).state == "running" and len(reader.read()) == 3
    folder_with(tmp_path, CHUNK | {"done": 7})  # shorter: read from its beginning
    assert [event.get("done") for event in reader.read()] == [0, 7]
    (folder / EVENTS).unlink()
    assert reader.read() == []


def test_the_terminal_shows_it_and_asks_to_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = [CHUNK | {"done": 10 * k, "ess": 5.0 * k} for k in range(1, 8)]
    folder = folder_with(tmp_path, *many, process=ended_process())
    before = sorted(folder.rglob("*"))
    assert main(["watch", str(folder), "--once"]) == 0
    out = capsys.readouterr().out
    assert "ended without a word" in out and "70 of 100" in out and "divergences" in out and "▁" in out
    assert sorted(folder.rglob("*")) == before
    assert main(["watch", str(folder), "--stop"]) == 1  # nobody would hear it
    assert "nothing to stop" in capsys.readouterr().err and sorted(folder.rglob("*")) == before
    folder_with(tmp_path, *many)
    assert main(["watch", str(folder), "--stop"]) == 0
    assert sorted(set(folder.rglob("*")) - set(before)) == [folder / STOP]


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="is no run"):
        events_folder(tmp_path)
    assert main(["watch", str(tmp_path / "no")]) == 1
    assert "there is no folder" in capsys.readouterr().err
    (tmp_path / "fit").mkdir()
    folder_with(tmp_path / "fit").rename(tmp_path / "fit" / "state")
    assert events_folder(tmp_path / "fit") == tmp_path / "fit" / "state"


def test_a_fit_is_followed_from_its_plain_run_to_the_tempered_one_and_to_its_results(tmp_path: Path) -> None:
    fit, ended = tmp_path / "fit", {"event": "end", "reason": "finished"}
    folder_with(tmp_path, CHUNK | {"done": 100}, ended).rename(tmp_path / "state")
    folder_with(tmp_path).rename(fit)  # the marker of the fit
    (fit / EVENTS).unlink()
    (tmp_path / "state").rename(fit / "state")
    follower = Follower(fit)
    drawn = follower.look()
    assert drawn.state == "drawn" and not drawn.over and not drawn.can_stop
    folder_with(tmp_path, CHUNK | {"done": 3}).rename(fit / "state-tempered")
    os.utime(fit / "state" / EVENTS, (1000, 1000))
    assert follower.look(now=1002.0).last["done"] == 3 and follower.place == fit / "state-tempered"
    assert events_folder(fit / "state") == fit / "state-tempered"
    assert look(fit / "state").state == "finished"  # what was told of the whole fit before
    folder_with(tmp_path, ended, process=ended_process()).joinpath(EVENTS).replace(fit / "state-tempered" / EVENTS)
    assert follower.look().state == "without results" and follower.look().over
    (fit / RESULTS).write_text("{}")
    assert follower.look().state == "finished"


def fetch(address: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, method=method, headers=headers), timeout=600) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_the_page_answers_those_who_know_the_token(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, CHUNK | {"done": 40}, CHUNK | {"done": 50})
    with serving(folder) as server:
        code, content = fetch(server.address)
        parts = PageParts(content.decode())
        assert code == 200 and "connect-src 'self'" in parts.policy and addresses(content.decode()) == set()
        seen = json.loads(fetch(server.address + "look")[1])
        assert seen["done"] == 50 and seen["state"] == "stalled" and seen["lines"]["rate"] == [[40, 2.0], [50, 2.0]]
        folder_with(tmp_path, CHUNK | {"done": 60})
        server.next_look = float("inf")  # as if the last look had been dear: it is told again
        assert json.loads(fetch(server.address + "look")[1])["done"] == 50
        wrong = server.address.replace(server.token, server.token[:-1] + "~")
        assert fetch(wrong)[0] == fetch(wrong + "stop", "POST")[0] == fetch(f"http://{server.host}/")[0] == 404
        assert fetch(server.address, Host="evil.example")[0] == 404
        assert fetch(server.address + "stop", "POST", Origin="http://evil.example")[0] == 404
        assert not (folder / STOP).exists()
        assert fetch(server.address + "stop", "POST", Origin=f"http://{server.host}")[0] == 200
        assert (folder / STOP).exists() and json.loads(fetch(server.address + "look")[1])["asked"]
