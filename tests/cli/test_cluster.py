"""`orthodrome cluster`: planted clusters come back with their columns, a kill changes nothing, errors are one line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import orthodrome.cli.main as cli
from orthodrome.jobs.cluster import fit as job_fit
from orthodrome.jobs.cluster.job import METHODS, ClusterJob
from orthodrome.jobs.cluster.rows import ClusterRows
from orthodrome.jobs.cluster.summary import renumbered
from orthodrome.models.mixture.defaults import UPDATES

QUICK = ["--num-warmup", "30", "--num-draws", "10", "--num-clusters-init", "4", "--num-threads", "1", "--quiet"]
FEW = ["--name-column", "who", "--held-out", "0.1", "--concentration", "0.05"]
COLUMNS = ["=height", "$width$", "junk"]


def planted(count: int = 60) -> np.ndarray:
    """Rows of two clusters: even ones around (0, 0), odd ones around (8, 8); the third column is the same for both."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, 3))
    x[1::2, :2] += 8
    return x


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    lines = [",".join(["who", *COLUMNS])]
    lines += [",".join([f"+name {n}", *(f"{value:.4f}" for value in row)]) for n, row in enumerate(planted())]
    path.write_text("\n".join(lines))
    return path


def line(path: Path, output: Path, *more: str) -> list[str]:
    return ["cluster", "fit", "--input", str(path), "--output", str(output), *QUICK, *more]


@pytest.fixture(scope="module")
def fitted(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit") / "out"
    assert cli.main(line(rows, folder, *FEW)) == 0
    return folder


def table(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_planted_clusters_come_back(fitted: Path) -> None:
    labels = table(fitted / "labels.csv")
    found = np.array([int(row["cluster"]) for row in labels])
    assert len(set(found[::2])) == len(set(found[1::2])) == 1 and found[0] != found[1]
    assert min(float(row["probability"]) for row in labels) > 0.9
    assert labels[4]["name"] == "'+name 4"  # no spreadsheet takes it for a formula
    assert sum(int(row["held_out"]) for row in labels) == 6
    clusters = table(fitted / "clusters.csv")
    assert [int(row["rows"]) for row in clusters] == [30, 30]
    assert all(float(row["low"]) < float(row["weight"]) < float(row["high"]) for row in clusters)
    together = {
        (row["cluster"], row["other"]): float(row["probability"]) for row in table(fitted / "co-clustering.csv")
    }
    assert together["0", "0"] > 0.9 and together["0", "1"] < 0.05


def test_profiles_are_those_of_the_rows(fitted: Path) -> None:
    x, labels = planted(), np.array([int(row["cluster"]) for row in table(fitted / "labels.csv")])
    for row in table(fitted / "profiles.csv"):
        column = COLUMNS.index(row["column"].lstrip("'"))
        own = x[labels == int(row["cluster"]), column]
        wanted = own.mean() if row["quantity"] == "mean" else own.std()
        assert float(row["mean"]) == pytest.approx(wanted, abs=0.35)
        assert float(row["low"]) <= float(row["mean"]) <= float(row["high"])


def test_everything_is_written_and_shown(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("profiles", "co-clustering", "trace"):
        assert (fitted / "figures" / f"{name}.png").stat().st_size > 5_000
        assert (fitted / "figures" / f"{name}.svg").exists()
    numbers = json.loads((fitted / "summary.json").read_text())
    assert 2 <= numbers["clusters (5 %)"] <= numbers["clusters (mean over draws)"] <= numbers["clusters (95 %)"] < 6
    assert -8 < numbers["log predictive density (held-out rows)"] < -4
    assert (fitted / "state" / "draws.zarr").is_dir()
    assert cli.main(["cluster", "show", str(fitted)]) == 0
    out = capsys.readouterr().out
    assert "=height" in out and "±" in out
    assert cli.main(["cluster", "show", str(fitted), "--cluster", "1"]) == 0
    assert "sd" in capsys.readouterr().out
    assert cli.main(["cluster", "show", str(fitted), "--cluster", "7"]) == 1
    assert "there are 0 to 1" in capsys.readouterr().err


def test_a_fit_that_was_stopped_ends_in_the_same_numbers(
    rows: Path, fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "stopped"
    monkeypatch.setattr(job_fit, "write_figures", lambda *_: [])
    with monkeypatch.context() as patch:
        patch.setattr(job_fit, "learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert cli.main(line(rows, folder, *FEW)) == 130
    assert capsys.readouterr().out.endswith(f"stopped; go on with: orthodrome cluster resume {folder}\n")
    assert cli.main(["cluster", "show", str(folder)]) == 1
    assert "resume" in capsys.readouterr().err
    assert cli.main(["topics", "resume", str(folder)]) == 1  # not a fit of topics
    assert cli.main(["cluster", "resume", str(folder), "--quiet"]) == 0
    for name in ("labels.csv", "clusters.csv", "profiles.csv", "co-clustering.csv"):
        assert (folder / name).read_bytes() == (fitted / name).read_bytes()
    assert cli.main(line(rows, folder)) == 1  # never on top of anything


@pytest.mark.parametrize("family", ["multinomial", "categorical", "vmf"])
def test_other_kinds_of_rows(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse counts, categories that are texts, and vectors that are made unit vectors."""
    monkeypatch.setattr(job_fit, "write_figures", lambda *_: [])
    rng = np.random.default_rng(1)
    odd = np.arange(60) % 2
    path = tmp_path / {"multinomial": "rows.npz", "categorical": "rows.csv", "vmf": "rows.npy"}[family]
    if family == "multinomial":
        scipy.sparse.save_npz(
            path, scipy.sparse.csr_matrix(rng.poisson(np.where(odd[:, None], [9, 1, 1], [1, 1, 9]) + 0.5))
        )
    elif family == "categorical":
        words = np.where(rng.random((60, 4)) < 0.9, np.where(odd, "red", "blue")[:, None], "green")
        path.write_text("\n".join(["a,b,c,d", *(",".join(row) for row in words)]))
    else:
        np.save(path, np.where(odd[:, None], [5.0, 0, 0], [0, 5.0, 0]) + 0.3 * rng.standard_normal((60, 3)))
    more = ["--family", family, *(["--normalize"] if family == "vmf" else [])]
    assert cli.main(line(path, tmp_path / "out", *more)) == 0
    found = np.array([int(row["cluster"]) for row in table(tmp_path / "out" / "labels.csv")])
    assert np.mean(found[odd == 1] == found[1]) > 0.9 and np.mean(found[odd == 0] == found[1]) < 0.1
    columns = {row["column"] for row in table(tmp_path / "out" / "profiles.csv")}
    names = {"multinomial": "column-2", "categorical": "d = red", "vmf": "of the mean"}
    assert names[family] in columns


def bad_files(folder: Path) -> dict[str, tuple[Path, list[str], str]]:
    """Return what is wrong -> a file, options, and what the error says."""
    x = planted(12)
    write = lambda name, text: (folder / name).write_text(text)
    write("gap.csv", "a,b\n1,2\n,3\n4,5\nnan,6\n")
    write("word.csv", "a,b\n1,2\n1,red\n")
    write("rows.xlsx", "PK")
    write("twice.csv", "a,b,a\n1,2,3\n4,5,6\n7,8,9\n")
    write("short.csv", "a,b\n1,2\n1\n")
    np.save(folder / "plain.npy", x)
    np.save(folder / "nan.npy", np.where(np.arange(36).reshape(12, 3) == 10, np.nan, x))
    np.save(folder / "counts.npy", np.array([[1, 2], [3, -1], [0, 4]]))
    np.save(folder / "empty.npy", np.array([[1, 2], [0, 0], [0, 4]]))
    np.save(folder / "line.npy", np.arange(5))
    whole = (folder / "plain.npy").read_bytes()
    (folder / "lie.npy").write_bytes(whole.replace(b"(12, 3)", b"(9999999999, 3)").replace(b" " * 9, b"", 1))
    (folder / "cut.npy").write_bytes(whole[:-40])
    scipy.sparse.save_npz(folder / "sparse.npz", scipy.sparse.csr_matrix(np.eye(4)))
    at = lambda name: folder / name
    return {
        "missing": (at("nowhere.csv"), [], "there is no"),
        "ending": (at("rows.xlsx"), [], "rows are read from .csv"),
        "column": (at("gap.csv"), ["--columns", "a,bb"], "no column 'bb'; there is 'b'"),
        "nan lines": (at("gap.csv"), [], "lines 3, 5: empty or not finite (first in column 'a')"),
        "one name twice": (at("twice.csv"), [], "2 columns are called 'a'; rename them, or choose others"),
        "one of two": (at("twice.csv"), ["--columns", "a,b"], "2 columns are called 'a'; rename them"),
        "text": (at("word.csv"), [], "line 3, column 'b': 'red' is no number"),
        "fields": (at("short.csv"), [], "line 3: 1 fields, but the header has 2"),
        "nan rows": (at("nan.npy"), [], "row 3"),
        "negative": (at("counts.npy"), ["--family", "multinomial"], "row 1 has a count of -1"),
        "no counts": (at("empty.npy"), ["--family", "multinomial"], "row 1 of X: all counts are 0"),
        "fractions": (at("plain.npy"), ["--family", "multinomial"], "Negative values in data"),
        "not unit": (at("plain.npy"), ["--family", "vmf"], "needs unit vectors"),
        "shape": (at("line.npy"), [], "shape (5,)"),
        "a header that lies": (at("lie.npy"), [], "cannot read"),
        "cut": (at("cut.npy"), [], "cannot read"),
        "nothing to learn from": (at("plain.npy"), ["--held-out", "0.9"], "leaves 1 of 12 rows to learn from"),
        "sparse": (at("sparse.npz"), [], "--family multinomial"),
        "method": (at("plain.npy"), ["--method", "scir"], "--family gaussian has no method 'scir'"),
        "owner": (at("plain.npy"), ["--normalize"], "--normalize belongs to --family vmf"),
        "concentration": (at("plain.npy"), ["--concentration", "0"], "concentration is 0.0; it must be"),
        "family": (at("plain.npy"), ["--family", "gauss"], "gauss"),
        "columns of npy": (at("plain.npy"), ["--columns", "a"], "for a CSV file"),
    }


def test_bad_input_is_one_line_and_makes_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for what, (path, options, said) in bad_files(tmp_path).items():
        output: Any = tmp_path / "out"
        assert cli.main(line(path, output, *options)) != 0, what
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1, (what, err)
        assert not output.exists(), what


def test_the_options_are_those_of_the_model() -> None:
    assert {family: ("gibbs", *updates) for family, updates in UPDATES.items()} == METHODS
    np.testing.assert_array_equal(renumbered(np.array([2, 2, 0, 2, 0, 5])), [0, 0, 1, 0, 1, 2])


def test_counts_that_are_taken_for_real_numbers_are_remarked_upon() -> None:
    values = np.array([[0.0, 3.0], [1.0, 12.0]])
    found = [
        job_fit.counts_hint(ClusterJob(family=family), ClusterRows(x, ("a", "b"), ("c", "d")))
        for family, x in (("gaussian", values), ("gaussian", values / 4), ("multinomial", values))
    ]
    assert "--family multinomial" in found[0] and found[1:] == ["", ""]


def test_the_verdict_is_shown_again(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = json.loads((fitted / "summary.json").read_text())["verdict"]
    capsys.readouterr()
    assert cli.main(["cluster", "show", str(fitted)]) == 0
    assert verdict and verdict in capsys.readouterr().out
