"""`orthodrome report RUN`: a page of a finished run, and one clear line for everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from orthodrome import sample
from orthodrome.cli import terminal
from orthodrome.cli.main import main
from orthodrome.jobs import report as report_job
from support.pages import parts_of
from support.walks import MISCHIEF, Walk


def run(folder: Path) -> None:
    sample(Walk(1.0), None, seed=0, num_chains=2, num_warmup=5, num_draws=40, progress=False, checkpoint=folder)


def test_a_run_has_its_page_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "run")
    before = sorted((tmp_path / "run").rglob("*"))
    for words, page in ((["report", "run"], "run-report.html"), (["report", "run", "--output", "a.html"], "a.html")):
        place = [str(tmp_path / word) if word in ("run", "a.html") else word for word in words]
        assert main(place) == 0 and str(tmp_path / page) in capsys.readouterr().out
        kinds = [section["kind"] for section in parts_of(tmp_path / page).content["sections"]]
        assert kinds == ["health", "traces", "variables", "facts"]
    assert sorted((tmp_path / "run").rglob("*")) == before  # in which only a run writes


def test_what_has_no_page_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    MISCHIEF.append(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "broken")
    MISCHIEF.clear()
    (tmp_path / "mine").mkdir()
    run(tmp_path / "run")
    cases = {
        ("broken",): "has not ended",
        ("mine",): "is no run",
        ("none",): "there is no folder",
        ("run", "--output", str(tmp_path)): "is a folder",
    }
    for (name, *more), text in cases.items():
        assert main(["report", str(tmp_path / name), *more]) == 1
        told = capsys.readouterr().err
        assert text in told and told.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "mine", "run"]


def test_a_fit_is_opened_with_the_devices_that_it_was_drawn_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit of two chains on two cores would otherwise be refused as that of another run."""
    done: list[str] = []
    monkeypatch.setattr(terminal, "use_all_cores", lambda: done.append("cores"))
    monkeypatch.setattr(report_job, "report", lambda run, output: done.append("page") or run)
    assert main(["report", str(tmp_path)]) == 0 and done == ["cores", "page"]
