"""`reproduce`: three verdicts, one page of all claims, texts that are no markup, and a list of what is no result."""

from __future__ import annotations

import csv
import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import orthodrome.cli.main as cli
from orthodrome.cli import terminal
from orthodrome.errors import CheckpointError
from orthodrome.experiments import EXPERIMENTS
from orthodrome.experiments.support import contract
from orthodrome.experiments.support.claims.claim import Claim, still_moving, too_short, unfinished, within_error
from orthodrome.experiments.support.claims.coverage import PAPERS
from orthodrome.experiments.support.claims.reasons import REASONS
from orthodrome.jobs.reproduce import lanes
from orthodrome.jobs.reproduce.page import caption

NASTY = "<script>alert(1)</script> & \x1b[31m |x| `y`"
FAILED, HELD = Claim("a", "a", 1, 2, False), Claim("a", "a", 1, 1, True)


def test_a_claim_is_undecided_within_its_error_and_fails_beyond() -> None:
    assert within_error(FAILED, 4.9, 1.0).holds is None and "4.9" in within_error(FAILED, 4.9, 1.0).why
    assert within_error(FAILED, 5.1, 1.0).holds is False
    assert within_error(FAILED, 1.0, float("nan")).holds is False
    assert within_error(FAILED, 1.0, 0.0).holds is False
    alone = within_error(FAILED, 1.0, float("inf"))
    assert alone.holds is None and "single runs" in alone.why
    assert within_error(HELD, 4.0, 1.0) == HELD


def test_chains_that_move_decide_nothing() -> None:
    noise = np.random.default_rng(0).normal(size=(3, 80))
    assert still_moving(FAILED, noise).holds is False
    assert still_moving(FAILED, noise + np.arange(80)).holds is None
    assert still_moving(FAILED, noise[:, :8]).holds is None
    assert still_moving(HELD, noise + np.arange(80)) == HELD
    assert too_short(FAILED, 0.5).holds is None and too_short(FAILED, 5.0).holds is False
    assert unfinished(FAILED, 250, 1000, "steps").why == "250 of the 1,000 steps that the claim is about"
    assert unfinished(FAILED, 1000, 1000, "steps").holds is False


def test_nothing_is_undecided_at_the_papers_scale(tmp_path: Path) -> None:
    open_ = within_error(FAILED, 1.0, 1.0)
    context = contract.Context("scir-bias", "paper", 0, tmp_path)
    assert contract.judged(open_, context).holds is False and contract.judged(open_, context).why == open_.why
    known = Claim("cost-update", "the update", "the same", 11.0, False)
    assert "Gamma number" in contract.judged(known, context).why


def test_everything_in_the_papers_is_an_experiment_or_no_result() -> None:
    items = [item for part in PAPERS.values() for item in part]
    assert all(bool(item.experiment) != bool(item.why) for item in items)
    assert {item.experiment for item in items if item.experiment} == set(EXPERIMENTS)
    assert {name for name, _ in REASONS} <= set(EXPERIMENTS)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every experiment claims three things; one breaks off; those with data need it."""

    def run(context: contract.Context) -> list[Claim]:
        from orthodrome.plots.style import new_figure

        if context.name == "recipe-2d":
            raise CheckpointError("the disk is full")
        context.save_figure(new_figure(1, 1, size=(1.0, 1.0))[0], "figure")
        failed = Claim("no", "b", 1, [1.0, 2.0], False, "=because")
        open_ = within_error(Claim("open", "c", 1, 1.5, False), 2.0, 1.0)
        return [Claim("yes", NASTY, None, 0.25, True), failed, open_]

    monkeypatch.delenv("ORTHODROME_DATA", raising=False)
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    real = contract.load

    def load(name: str) -> types.SimpleNamespace:
        module = real(name)
        return types.SimpleNamespace(NAME=name, TITLE=module.TITLE, PAPER=module.PAPER, DATA=module.DATA, run=run)

    monkeypatch.setattr(contract, "load", load)


def test_captions_are_words() -> None:
    found = [caption(stem) for stem in ("figure2-left", "figure3b", "few_documents_figure5", "bias")]
    assert found == ["Figure 2 left", "Figure 3b", "Few documents figure 5", "Bias"]


def test_all_of_them_on_one_page(small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--all", "--out", str(tmp_path), "--quiet", "--jobs", "1"]) == 1  # one broke off
    out = capsys.readouterr().out
    free = [name for name in EXPERIMENTS if contract.load(name).DATA is None and name != "recipe-2d"]
    assert "sam-wiki is left out: sam-wiki needs data: " in out and "recipe-2d broke off: the disk is full" in out
    assert f"{len(free)} of {3 * len(free)} claims hold, {len(free)} undecided at this scale in {len(free)}" in out
    assert "\x1b" not in out
    page = (tmp_path / "all" / "index.html").read_text("utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page and "undecided at this scale" in page
    assert page.count("data:image/png;base64,") == len(free) and not re.search(r"(src|href)=\"(?!data:|#)", page)
    assert "What is not a result" in page and "a drawing of an idea" in page and "sam-wiki needs data" in page
    with open(tmp_path / "all" / "claims.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * len(free) and {row["holds"] for row in rows} == {"yes", "no", "undecided at this scale"}
    assert rows[1]["why"] == "'=because" and rows[1]["measured"] == "1, 2"
    markdown = (tmp_path / "all" / "claims.md").read_text("utf-8")
    assert "<script" not in markdown and "**undecided at this scale**" in markdown


def test_children_are_run_some_at_a_time_and_say_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import sys; name = sys.argv[2]; sys.exit('orthodrome: the disk is full' if name == 'bad' else 0)"
    started: list[str] = []

    def begin(command: list[str]) -> lanes.RunningChild:
        started.append(command[4])
        return real([sys.executable, "-c", program, *command[3:]])

    real = lanes.begin
    monkeypatch.setattr(lanes, "begin", begin)
    found = list(lanes.in_lanes(["b", "bad", "sam-20news"], 2, ["--scale", "quick"]))
    assert started[0] == "sam-20news" and len(started) == 3
    assert sorted(found) == [("b", ""), ("bad", "the disk is full"), ("sam-20news", "")]
    left = lanes.in_lanes(["b"] * 3, 1, [])
    next(left)
    left.close()  # whoever stops early ends what runs


def test_the_page_alone(small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--page", "--out", str(tmp_path)]) == 1
    assert "holds no result" in capsys.readouterr().err
    assert cli.main(["reproduce", "gmc-bvmf", "--out", str(tmp_path), "--quiet"]) == 0
    assert cli.main(["reproduce", "--page", "--output", str(tmp_path)]) == 0
    assert "gmc-bvmf" in (tmp_path / "all" / "claims.csv").read_text()
    (tmp_path / "gmc-bvmf" / "result.json").write_text(json.dumps({"experiment": "gmc-bvmf", "claims": [1]}))
    assert cli.main(["reproduce", "--page", "--out", str(tmp_path)]) == 1
    assert "is not a result of gmc-bvmf" in capsys.readouterr().err
    (tmp_path / "other" / "gmc-bvmf").mkdir(parents=True)
    assert cli.main(["reproduce", "--page", "gmc-bvmf"]) == 2
