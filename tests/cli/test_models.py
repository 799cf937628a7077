"""The commands of models: planted structure comes back, a kill changes nothing, draws open in xarray."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import orthodrome.cli.main as cli
from orthodrome.cli import terminal
from orthodrome.errors import BadInput
from orthodrome.jobs.directional.data import read_directions
from orthodrome.jobs.directional.job import LAWS, DirectionalJob
from orthodrome.jobs.network.data import read_edges
from orthodrome.jobs.network.job import NetworkJob
from orthodrome.jobs.sample.job import SAMPLERS
from orthodrome.jobs.sampled import kind as sampled_kind
from support.bad_tables import MODEL, SDE

pytestmark = pytest.mark.filterwarnings("ignore::orthodrome.errors.OrthodromeWarning")
RUN = ["--num-warmup", "60", "--num-draws", "40", "--num-chains", "2", "--quiet"]


@pytest.fixture(autouse=True)
def one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)


def table(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def content(folder: Path, *names: str) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def contests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty contests of three players: =a beats most, c loses most."""
    path = tmp_path_factory.mktemp("teams") / "sets.csv"
    rows = [("=a", "b c")] * 15 + [("=a", "b")] * 10 + [("b", "c")] * 8 + [("c", "b")] * 2 + [("c", "=a")] * 2
    path.write_text("\n".join(["who won;who lost", *(f"{won};{lost}" for won, lost in rows)]))
    return path


def test_the_stronger_team_is_found_and_a_stopped_fit_ends_the_same(
    contests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["compare-teams", "fit", "--input", str(contests), "--winners", "who won", "--losers", "who lost", *RUN]
    line += ["--method", "random-walk"]
    assert cli.main([*line, "--output", str(tmp_path / "whole")]) == 0
    strengths = table(tmp_path / "whole" / "strengths.csv")
    assert [row["player"] for row in strengths] == ["'=a", "b", "c"]
    assert sum(float(row["strength"]) for row in strengths) == pytest.approx(1, abs=1e-4)
    assert all(float(row["low"]) < float(row["strength"]) < float(row["high"]) for row in strengths)
    assert (strengths[0]["won"], strengths[0]["lost"]) == ("25", "2")
    assert float(table(tmp_path / "whole" / "contests.csv")[0]["probability"]) > 0.7
    tree = xarray.open_datatree(tmp_path / "whole" / "draws.zarr", engine="zarr")
    assert tree["posterior"]["strength"].sizes == {"chain": 2, "draw": 40, "player": 3}
    assert list(tree["posterior"]["player"].values) == ["=a", "b", "c"]
    assert {"verdict", "largest R-hat", "seconds"} <= set(json.loads((tmp_path / "whole" / "summary.json").read_text()))
    assert (tmp_path / "whole" / "figures" / "strengths.svg").exists()

    with monkeypatch.context() as patch:
        patch.setattr(sampled_kind, "save_draws", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert cli.main([*line, "--output", str(tmp_path / "cut")]) == 130
    assert cli.main(["compare-teams", "show", str(tmp_path / "cut")]) == 1
    assert cli.main(["network", "resume", str(tmp_path / "cut")]) == 1
    assert cli.main(["compare-teams", "resume", str(tmp_path / "cut"), "--quiet"]) == 0
    names = ("strengths.csv", "contests.csv")
    assert content(tmp_path / "cut", *names) == content(tmp_path / "whole", *names)
    capsys.readouterr()
    assert cli.main(["compare-teams", "show", str(tmp_path / "cut"), "--table", "contests"]) == 0
    assert "probability" in capsys.readouterr().out
    assert cli.main(["compare-teams", "show", str(tmp_path / "cut"), "--table", "nosuch"]) == 1
    assert "there is strengths, contests" in capsys.readouterr().err
    assert cli.main([*line, "--output", str(tmp_path / "cut")]) == 1


def test_a_model_file_is_drawn_from_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.replace("start = mean", ""))  # the density takes vectors of three numbers and no others
    walk = ["--sampler", "RandomWalk", "--set", "step_size=0.4", "--num-warmup", "100", "--num-draws", "400"]
    line = ["sample", str(path), *walk, "--num-chains", "2", "--quiet", "--output", str(tmp_path / "run")]
    assert cli.main(line) == 0
    means = {row["number"]: float(row["mean"]) for row in table(tmp_path / "run" / "numbers.csv")}
    assert np.allclose([means[f"x[{n}]"] for n in range(3)], np.array([0, 0.6, 0.8]) * 0.9, atol=0.2)
    tree = xarray.open_datatree(tmp_path / "run" / "draws.zarr", engine="zarr")
    assert tree["posterior"]["x"].shape == (2, 400, 3) and "lp" in tree["sample_stats"]
    before = content(tmp_path / "run", "numbers.csv")
    assert cli.main(["sample", "resume", str(tmp_path / "run"), "--quiet"]) == 0
    assert content(tmp_path / "run", "numbers.csv") == before
    path.write_text(MODEL + "x = 1\n")
    capsys.readouterr()
    assert cli.main(["sample", "resume", str(tmp_path / "run"), "--quiet"]) == 1
    assert "has changed since the run began" in capsys.readouterr().err


WRONG_MODELS = {
    "line": (MODEL + "1 / 0\n", [], "line 19: ZeroDivisionError: division by zero"),
    "syntax": ("def f(:\n", [], "line 1: invalid syntax"),
    "nothing": ("x = 1\n", [], "defines neither `target` nor `posterior`"),
    "not a target": (MODEL + "target = 3\n", [], "`target` in"),
    "option": (MODEL, ["--set", "depth=3"], "GeodesicNUTS has no such option; it has step_size, max_depth"),
    "value": (MODEL, ["--set", "step_size=f(1)"], "write a number, a text, a list or a dict"),
    "name": (MODEL, ["--set", "step_size=nowhere"], "defines no `nowhere`"),
    "metric": (MODEL, ["--sampler", "SGRLD"], "SGRLD needs metric: define it in"),
    "rows": (MODEL, ["--batch-size", "2", "--sampler", "SGLD"], "defines no `posterior`"),
    "start": (MODEL.replace("start = mean", "").replace("10 * mean @ x", "-sum(x**2)"), [], "defines no `start`"),
    "group": (MODEL + "start = {'a/b': mean}\n", [], "has a '/' in its name"),
    "exit": (MODEL + "raise SystemExit(3)\n", [], "line 19: SystemExit: 3"),
}


def test_a_model_that_was_refused_may_be_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its start is looked at where the run begins; nothing was drawn, so the same command begins again."""
    path, out = tmp_path / "model.py", tmp_path / "run"
    walk = ["--sampler", "RandomWalk", "--set", "step_size=0.4", "--num-warmup", "10", "--num-draws", "20"]
    line = ["sample", str(path), *walk, "--num-chains", "2", "--quiet", "--output", str(out)]
    path.write_text(MODEL.replace("start = mean", "start = 2 * mean"))
    assert cli.main(line) == 1
    assert "is off the Sphere" in capsys.readouterr().err
    path.write_text(MODEL)
    assert cli.main(line) == 0 and (out / "result.json").exists()
    assert cli.main(line) == 1
    assert "is not empty" in capsys.readouterr().err
    assert cli.main(["sample", "show", str(tmp_path)]) == 1
    assert "`orthodrome sample MODEL.py --output DIR`" in capsys.readouterr().err


@pytest.mark.parametrize("what", WRONG_MODELS)
def test_a_wrong_model_is_one_line(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, options, said = WRONG_MODELS[what]
    (tmp_path / "model.py").write_text(text)
    assert cli.main(["sample", str(tmp_path / "model.py"), *options, "--output", str(tmp_path / "run")]) == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1, error
    assert not (tmp_path / "run").exists()


def test_every_sampler_has_its_name() -> None:
    import dataclasses

    from orthodrome import samplers

    made = {name for name in samplers.__all__ if dataclasses.is_dataclass(getattr(samplers, name))}
    steps = {name for name in made if callable(getattr(getattr(samplers, name), "step", None))}
    assert set(SAMPLERS) == steps - {"Scheduled", "Streamed", "Tempering"}


def test_a_right_and_a_wrong_sde(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, code, said in (
        (SDE, 0, "SDE: stationary"),
        (SDE.replace("return -z", "return -2 * z"), 1, "NOT stationary"),
    ):
        (tmp_path / "sde.py").write_text(text)
        assert cli.main(["check", str(tmp_path / "sde.py")]) == code
        assert said in capsys.readouterr().out


# --- readers ----------------------------------------------------------------------------------------------------------


def directions(folder: Path, text: str, **settings: Any) -> np.ndarray:
    (folder / "in.csv").write_text(text)
    job = DirectionalJob(**settings)
    return read_directions(job, folder / "in.csv").values(job.kind)


def test_directions_are_read_as_people_have_them(tmp_path: Path) -> None:
    right = np.array([[0, 1, 0], [0, 0, 1], [np.sqrt(0.5), 0, np.sqrt(0.5)]])
    rows = "lon,lat\n90,0\n0,90\n0,45\n"
    np.testing.assert_allclose(directions(tmp_path, rows, kind="latlon"), right, atol=1e-7)  # whatever their order
    swapped = "lat,lon\n0,90\n90,0\n45,0\n"
    np.testing.assert_allclose(directions(tmp_path, swapped, kind="latlon"), right, atol=1e-7)
    np.testing.assert_allclose(directions(tmp_path, swapped, kind="axes", units="degrees"), right, atol=1e-7)
    hours = directions(tmp_path, "at\n6\n12\n30\n", kind="angles", units="hours")
    np.testing.assert_allclose(hours, [np.pi / 2, np.pi, np.pi / 2])
    axes = directions(tmp_path, "a\n0\n90\n45\n", kind="axes", units="degrees")
    np.testing.assert_allclose(axes, [[1, 0], [0, 1], [np.sqrt(0.5)] * 2], atol=1e-12)
    unit = directions(tmp_path, "x,y,z\n3,4,0\n0,0,2\n1,0,0\n", kind="vectors", normalize=True)
    np.testing.assert_allclose(unit, [[0.6, 0.8, 0], [0, 0, 1], [1, 0, 0]])
    with pytest.raises(BadInput, match="2 columns are called 'x'; rename them"):
        directions(tmp_path, "x,y,x\n1,0,0\n0,1,0\n0,0,1\n", kind="vectors")


def test_laws_are_those_of_the_model() -> None:
    from orthodrome.models.directional.model import FAMILIES

    assert {law for laws in LAWS.values() for law in laws} == set(FAMILIES) - {"matrix-fisher"}


def test_edges_are_read_once_and_some_are_held_out(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("w,i,j\n1,2,10\n1,10,2\n1,1,2\n1,3,1\n")
    found = read_edges(NetworkJob(source="i", target="j", num_nodes=12, held_out=0.25), tmp_path / "e.csv")
    assert found.nodes == [str(n) for n in range(12)] and found.edges == [(2, 10), (1, 2), (1, 3)]
    assert len(found.held_out) == round(0.25 * 66) and np.isnan(found.matrix[found.held_out[0]])
    assert read_edges(NetworkJob(source="i", target="j"), tmp_path / "e.csv").nodes == ["1", "2", "3", "10"]


# --- fits that take a while -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_planted_network(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    side = np.arange(30) % 2
    edge = np.triu(rng.uniform(size=(30, 30)) < np.where(side[:, None] == side, 0.6, 0.05), 1)
    (tmp_path / "e.csv").write_text("\n".join(["a,b", *(f"n{i},n{j}" for i, j in np.argwhere(edge))]))
    line = ["network", "fit", "--input", str(tmp_path / "e.csv"), "--rank", "2", "--held-out", "0.1"]
    run = ["--num-warmup", "200", "--num-draws", "200", "--num-chains", "2", "--quiet"]
    assert cli.main([*line, *run, "--output", str(tmp_path / "out")]) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["area under the ROC curve (held-out pairs)"] > 0.7
    tree = xarray.open_datatree(tmp_path / "out" / "draws.zarr", engine="zarr")
    assert tree["posterior"]["frame"].sizes["node"] == 30
    before = content(tmp_path / "out", "nodes.csv", "parameters.csv")
    shutil.rmtree(tmp_path / "out" / "draws.zarr")
    assert cli.main(["network", "resume", str(tmp_path / "out"), "--quiet"]) == 0
    assert content(tmp_path / "out", "nodes.csv", "parameters.csv") == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["latlon", "axes", "torus", "mixture"])
def test_planted_directions(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    if kind == "torus":
        rows, head = np.mod(rng.normal([1.0, 2.0], 0.3, (60, 2)), 2 * np.pi), ["phi", "psi"]
    else:
        x = rng.normal([0, 0.6, 0.8], 0.15, (60, 3))
        x = x * np.where((np.arange(60) % 2 == 1) & (kind != "latlon"), -1, 1)[:, None]
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        rows, head = x, ["x", "y", "z"]
        if kind == "latlon":
            rows = np.degrees(np.stack([np.arcsin(x[:, 2]), np.arctan2(x[:, 1], x[:, 0])], axis=1))
            head = ["lat", "lon"]
    path = tmp_path / "in.csv"
    path.write_text("\n".join([",".join(head), *(",".join(f"{v:.8f}" for v in row) for row in rows)]))
    asked = ["--kind", "vectors", "--law", "mixture"] if kind == "mixture" else ["--kind", kind]
    line = ["directional", "fit", "--input", str(path), *asked, "--normalize"]
    line = line if kind in ("axes", "mixture") else line[:-1]
    run = ["--num-warmup", "200", "--num-draws", "200", "--num-chains", "2", "--quiet"]
    assert cli.main([*line, *run, "--output", str(tmp_path / "out")]) == 0
    found = table(tmp_path / "out" / "directions.csv")
    if kind == "torus":
        assert np.allclose([float(row["angle"]) for row in found], [1.0, 2.0], atol=0.15)
    else:
        cosines = [abs(np.dot([float(row[f"x_{n}"]) for n in range(3)], [0, 0.6, 0.8])) for row in found]
        assert cosines[0] > 0.99 and (kind != "mixture" or cosines[1] > 0.99)
    assert len(table(tmp_path / "out" / "rows.csv")) == 60
