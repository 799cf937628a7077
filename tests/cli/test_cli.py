"""The command line: tables on success, one line and a code on an error, a traceback only with --debug."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import orthodrome.cli.main as cli
from orthodrome.cli import terminal
from orthodrome.errors import BadInput
from orthodrome.experiments.support import contract


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("orthodrome 0.")


def test_list_names_the_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--list"]) == 0
    assert "gmc-bvmf" in capsys.readouterr().out


WRONG = {
    "no name": (["reproduce"], "--list"),
    "unknown name": (["reproduce", "nosuch"], "gmc-bvmf"),
    "name and --all": (["reproduce", "gmc-bvmf", "--all"], "--all"),
    "unknown option": (["reproduce", "--frobnicate"], "--frobnicate"),
    "unknown command": (["frobnicate"], "frobnicate"),
    "seed is no number": (["reproduce", "gmc-bvmf", "--seed", "one"], "integer"),
    "unknown scale": (["reproduce", "gmc-bvmf", "--scale", "huge"], "quick"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_error_is_one_line_and_a_code(case: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments, hint = WRONG[case]
    code = cli.main([*arguments, *(["--out", str(tmp_path)] if arguments[0] == "reproduce" else [])])
    error = capsys.readouterr().err
    assert code != 0
    assert error.count("\n") == 1 and error.startswith("orthodrome: ") and hint in error


def test_a_folder_that_cannot_be_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert cli.main(["reproduce", "gmc-bvmf", "--out", str(tmp_path / "file")]) == 1
    error = capsys.readouterr().err
    assert "--out" in error and "Traceback" not in error and error.count("\n") == 1


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("a fault\nof two lines")


def test_a_fault_is_one_line_unless_debug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(contract, "reproduce", broken)
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    assert cli.main(["reproduce", "gmc-bvmf"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "ZeroDivisionError" in error and "--debug" in error
    with pytest.raises(ZeroDivisionError):
        cli.main(["reproduce", "gmc-bvmf", "--debug"])


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(contract, "reproduce", stop)
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    assert cli.main(["reproduce", "gmc-bvmf"]) == 130


def test_explain_keeps_our_own_words() -> None:
    assert cli.explain(BadInput("start is off")) == "start is off"


def test_claims_are_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    claims = [
        contract.Claim("a", "one thing", 1, {"mean": 0.123456}, True),
        contract.Claim("b", "another", 2, 3, False),
    ]
    monkeypatch.setattr(contract.load("gmc-bvmf"), "run", lambda context: claims)
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    assert cli.main(["reproduce", "gmc-bvmf", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "one thing" in out and "0.1235" in out and "1 of 2 claims hold" in out
    assert len(json.loads((tmp_path / "gmc-bvmf" / "result.json").read_text())["claims"]) == 2
