"""The events of a run: one line a chunk, readable after a kill and a resume, and a request to stop that is honoured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome import sample
from orthodrome.errors import OrthodromeWarning
from orthodrome.run import pace
from orthodrome.storage.events import EVENTS, STOP, ask_to_stop, read_events
from support.walks import MISCHIEF, Walk


def run(folder: Path, **more: Any) -> Any:
    settings: dict[str, Any] = {"num_warmup": 20, "num_draws": 300, "seed": 1, "num_chains": 2, "check": False}
    return sample(Walk(1.0), None, checkpoint=folder, progress=False, **(settings | more))


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SECONDS", 1e-9)  # a chunk is one draw
    MISCHIEF.clear()


def kinds(folder: Path) -> list[str]:
    return [event["event"] for event in read_events(folder)]


def test_a_run_tells_what_it_does(tmp_path: Path) -> None:
    run(tmp_path / "run")
    events = read_events(tmp_path / "run")
    assert [e["phase"] for e in events if e["event"] == "begin"] == ["warmup", "draws"]
    assert (events[-1]["event"], events[-1]["reason"]) == ("end", "finished")
    last = [e for e in events if e["event"] == "chunk"][-1]
    assert (last["done"], last["planned"], last["acceptance"], last["divergences"]) == (300, 300, 0.75, 0)
    # an autoregression of coefficient 1/2 has a third as many effective draws as draws
    assert 100 < last["ess"] < 350 and last["rate"] > 0


def test_a_run_without_a_folder_tells_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sample(Walk(1.0), None, seed=0, num_chains=1, num_warmup=2, num_draws=3, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_a_torn_line_is_left_out_and_the_next_run_begins_a_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(folder, num_draws=5)
    whole = len(read_events(folder))
    with open(folder / EVENTS, "ab") as file:
        file.write(b'{"event":"chunk","time":17')  # killed in the middle of a line
    assert len(read_events(folder)) == whole
    draws = run(folder, num_draws=9)
    assert draws["posterior"].sizes["draw"] == 9
    assert kinds(folder).count("begin") == 3 and kinds(folder)[-1] == "end" and len(read_events(folder)) > whole
    (folder / EVENTS).write_bytes(b"\xff\xfe\n[1]\nnull\n" + b"[" * 100_000 + b"\n")
    assert read_events(folder) == []


def test_a_request_to_stop_is_honoured_and_the_run_can_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    whole = run(tmp_path / "whole")
    MISCHIEF.append(lambda: ask_to_stop(folder))
    with pytest.raises(KeyboardInterrupt):  # in the warm-up there is nothing to return
        run(folder)
    MISCHIEF.clear()
    assert read_events(folder)[-1]["reason"] == "interrupted" and not (folder / STOP).exists()
    assert np.array_equal(run(folder)["posterior"]["place"], whole["posterior"]["place"])


def test_a_stop_among_the_draws_keeps_them(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(folder, num_draws=2)
    MISCHIEF.append(lambda: ask_to_stop(folder))
    with pytest.warns(OrthodromeWarning, match="interrupted in draws"):
        draws = run(folder)
    assert draws.attrs["interrupted"] and 2 < draws["posterior"].sizes["draw"] < 300


def test_a_request_that_came_too_early_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(folder, num_draws=2)
    ask_to_stop(folder)
    assert run(folder, num_draws=4)["posterior"].sizes["draw"] == 4


def test_an_error_ends_the_journal(tmp_path: Path) -> None:
    MISCHIEF.append(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "run")
    assert read_events(tmp_path / "run")[-1] | {"time": 0} == {"event": "end", "reason": "failed", "time": 0}


def test_lines_grow_sparse_in_a_long_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import orthodrome.run.journal as journal

    monkeypatch.setattr(journal, "SHARE", 1e9)
    run(tmp_path / "run")
    told = [e["done"] for e in read_events(tmp_path / "run") if e["event"] == "chunk"]
    assert told[-1] == 300 and len(told) <= 4
