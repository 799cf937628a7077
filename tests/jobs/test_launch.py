"""`orthodrome launch`: numbers, prefixes, one failure ends all, and what to run on other hosts."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from orthodrome.cli.main import main
from orthodrome.core.processes import COORDINATOR, PROCESS, PROCESSES
from orthodrome.errors import BadInput
from orthodrome.jobs.launch import local, remote


def launched(n: int, script: str) -> int:
    return main(["launch", "-n", str(n), "--", "sh", "-c", script])


def test_every_process_knows_its_number_and_its_lines_say_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert launched(3, f"echo $ {PROCESS}=${PROCESS} of ${PROCESSES} at ${COORDINATOR}; echo oh >&2") == 0
    out, err = capfd.readouterr()
    lines = sorted(out.splitlines())
    assert [line[:4] for line in lines] == ["[0] ", "[1] ", "[2] "]
    assert [f"{PROCESS}={i} of 3" in line for i, line in enumerate(lines)] == [True] * 3
    assert len({line.split(" at ")[1] for line in lines}) == 1
    assert sorted(err.splitlines()) == ["[0] oh", "[1] oh", "[2] oh"]


def test_the_code_of_the_first_failure_and_the_end_of_the_others(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "GRACE", 0.2)
    script = f"echo $$ >> {tmp_path}/pids; test ${PROCESS} = 1 && exit 7; trap '' TERM; sleep 60 & wait; sleep 60"
    assert launched(3, script) == 7
    assert "process 1 of 3" in (said := capfd.readouterr().err) and "ended with code 7" in said
    assert not any(_alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_a_killed_process_is_named(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "GRACE", 0.2)
    assert launched(2, f"test ${PROCESS} = 0 && kill -9 $$; sleep 60") == 137
    assert "process 0 of 2" in (said := capfd.readouterr().err) and "was killed by SIGKILL" in said


def test_what_cannot_be_started_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "-n", "2", "--", "no-such-program"]) == 1
    assert capfd.readouterr().err == "orthodrome: cannot start 'no-such-program': No such file or directory\n"
    assert main(["launch", "--", "true"]) == 2
    assert "how many processes" in capfd.readouterr().err


def test_noise_of_the_collectives_is_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    assert launched(1, "echo '[Gloo] Rank 0 is connected'; echo kept") == 0
    assert capfd.readouterr().out == "[0] kept\n"


def test_each_process_has_cores_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("there is one core")
    assert launched(2, "grep Cpus_allowed_list /proc/self/status") == 0
    first, second = sorted(capfd.readouterr().out.splitlines())
    assert first.split(":")[1] != second.split(":")[1]
    assert sorted(os.sched_getaffinity(0)) == cores


def test_a_file_of_hosts_gives_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hosts").write_text("a slots=2  # the large one\n\nb\n")
    assert main(["launch", "--hosts", str(tmp_path / "hosts"), "--", "python", "my run.py", "--debug"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [shlex.split(line)[1] for line in lines] == ["a", "a", "b"]
    assert all(f"{COORDINATOR}=a:{remote.PORT} {PROCESSES}=3 {PROCESS}={i}" in line for i, line in enumerate(lines))
    inner = shlex.split(shlex.split(lines[2])[2])
    assert inner[-3:] == ["python", "my run.py", "--debug"]


@pytest.mark.parametrize(("text", "said"), [("", "names no host"), ("a b", "line 1"), ("a slots=0", "line 1")])
def test_wrong_files_of_hosts(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "hosts").write_text(text)
    with pytest.raises(BadInput, match=said):
        remote.read_hosts(tmp_path / "hosts")


def test_more_processes_than_slots() -> None:
    with pytest.raises(BadInput, match="2 slots in all"):
        list(remote.commands([("a", 2)], 3, ["x"]))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
