"""Commands look for several modes as their models do, and a fit that is killed while it is tempered ends the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import orthodrome.cli.main as cli
from orthodrome import Directional, NetworkEigenmodel
from orthodrome.errors import BadInput
from orthodrome.jobs.directional.job import DirectionalJob, check_job
from orthodrome.jobs.directional.kind import estimator
from orthodrome.jobs.network.job import NetworkJob
from orthodrome.jobs.sampled.tempering import model_tempering
from orthodrome.models.modes import announced_rungs
from support.angles import grouped_angles


def test_the_default_of_a_command_is_that_of_its_model() -> None:
    assert estimator(DirectionalJob(kind="torus", law="cosine"), False).tempering == Directional().tempering == "auto"
    assert model_tempering(NetworkJob().tempering) == NetworkEigenmodel().tempering == "auto"


def test_the_words_of_tempering() -> None:
    asked = {"auto": "auto", "none": None, "6": 6, "1000": 1000}
    saved_before = {None: None, 4: 4}  # jobs that were saved when there were no words
    assert {word: model_tempering(word) for word in asked | saved_before} == asked | saved_before
    for word in ("1", "0", "-3", "2.5", "often", "", "1001", "99999", "²"):
        with pytest.raises(BadInput, match="must be auto, none or a number of replicas from 2 to 1,000"):
            check_job(DirectionalJob(tempering=word))


@pytest.mark.parametrize("progress", [True, False])
def test_a_tempered_run_says_why_it_is_one(progress: bool, capsys: pytest.CaptureFixture[str]) -> None:
    told = f"different modes: all is drawn once more with {announced_rungs(400, progress)} replicas"
    assert (told in capsys.readouterr().err) == progress


@pytest.mark.slow
def test_a_kill_while_it_is_tempered_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "angles.csv"
    rows = grouped_angles("two tops", 80)
    path.write_text("\n".join(["phi,psi", *(f"{a:.8f},{b:.8f}" for a, b in rows)]))
    run = ["--num-warmup", "60", "--num-draws", "60", "--num-chains", "2", "--checkpoint-every", "0", "--quiet"]
    line = ["directional", "fit", "--input", str(path), "--kind", "torus", "--law", "cosine", *run]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    start = lambda folder: subprocess.Popen([sys.executable, "-m", "orthodrome", *line, "--output", str(folder)])
    killed = start(cut)
    events = cut / "state-tempered" / "_orthodrome" / "events.jsonl"
    while not (events.exists() and '"event":"commit"' in events.read_text()):
        assert killed.poll() is None, "the fit ended before it was tempered"
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (cut / "result.json").exists() and (cut / "state-tempered" / "commit.json").exists()
    assert cli.main(["watch", str(cut), "--once"]) == 0
    again = ["directional", "resume", str(cut), "--quiet"]
    assert subprocess.run([sys.executable, "-m", "orthodrome", *again]).returncode == 0
    assert start(whole).wait() == 0
    for name in ("directions.csv", "parameters.csv", "rows.csv"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name
    summary = json.loads((cut / "summary.json").read_text())
    assert summary["tempered"] == 1
