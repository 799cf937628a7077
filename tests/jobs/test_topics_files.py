"""The files of `orthodrome topics`: the same after a stop, escaped where words are shown, never on others' files."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from orthodrome.cli import main as cli
from orthodrome.jobs.topics import demo as demonstration
from orthodrome.jobs.topics import fit as topics
from orthodrome.jobs.topics.documents import load_documents
from orthodrome.storage import ownership

WORDS = ["$\\frac1$", "[/bold]", "\x1b[31mred", "=1+1", "-minus", "@at", "$", ":smile:", "ünder", "x" * 500]
NAMES = ["a\tb", "c\nd", "  e  ", "\u2028f", "[/dim]", "=g"]


def corpus(folder: Path) -> Path:
    """Documents of two subjects, named with tabs and line breaks, of words that mean something elsewhere."""
    random = np.random.default_rng(0)
    rows = np.zeros((40, len(WORDS)), np.int64)
    for n, row in enumerate(rows):
        row[:] = random.poisson(np.where(np.arange(len(WORDS)) % 2 == n % 2, 3.0, 0.3))
    scipy.sparse.save_npz(folder / "words.npz", scipy.sparse.csr_array(rows))
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    return folder / "words.npz"


def arguments(source: Path, output: Path, *more: str) -> list[str]:
    size = ["--num-topics", "2", "--num-iterations", "20", "--min-df", "1", "--max-df", "1", "--min-words", "1"]
    return [
        *("topics", "fit", "--input", str(source), "--output", str(output)),
        *(*size, "--doc-topic-prior", "1", "--num-threads", "1", "--quiet", *more),
    ]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus(tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def named() -> Any:
    """Names that a matrix does not have: put in as a reader of texts would."""
    with pytest.MonkeyPatch.context() as patch:
        read = topics.read_documents.__globals__["read_corpus"]

        def renamed(*options: Any) -> Any:
            found = read(*options)
            names = tuple(NAMES[n % len(NAMES)] + str(n) for n in range(len(found)))
            return type(found)(found.counts, found.vocabulary, names)

        patch.setitem(topics.read_documents.__globals__, "read_corpus", renamed)
        yield


@pytest.fixture(scope="module")
def fitted(source: Path, named: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit")
    keys = ["--output-topic-keys", str(folder / "keys.txt"), "--output-doc-topics", str(folder / "documents.txt")]
    assert cli.main(arguments(source, folder / "out", *keys)) == 0
    return folder / "out"


def content(folder: Path) -> dict[str, Any]:
    """Every file but the state, the lock and identity, and what the clock says."""
    names = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    kept = {str(name): (folder / name).read_bytes() for name in names if name.parts[0] not in ("state", "_orthodrome")}
    summary = json.loads(kept.pop("summary.json")) | {"seconds": 0}
    # where the copies go; when the zip file was made; how long the run took, beside what the other files hold
    for name in ("job.json", "result.npz", "report.html"):
        kept.pop(name)
    return kept | {"summary": summary}


def test_a_stopped_fit_is_resumed_to_the_same_files(
    source: Path, fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ["--output-topic-keys", str(tmp_path / "keys.txt"), "--output-doc-topics", str(tmp_path / "documents.txt")]
    with monkeypatch.context() as patch:
        patch.setattr(topics, "write_tables", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
        assert cli.main(arguments(source, tmp_path / "out", *keys)) == 1
    assert not (tmp_path / "keys.txt").exists()
    monkeypatch.chdir(tmp_path)
    assert cli.main(["topics", "resume", "out", "--quiet"]) == 0
    assert content(tmp_path / "out") == content(fitted)
    for name in ("keys.txt", "documents.txt"):
        assert (tmp_path / name).read_bytes() == (fitted.parent / name).read_bytes()
    with np.load(tmp_path / "out" / "result.npz") as one, np.load(fitted / "result.npz") as other:
        found, expected = ({n: (file[n].dtype, file[n].tolist()) for n in file} for file in (one, other))
    assert found == expected
    assert cli.main(["topics", "resume", "out", "--quiet"]) == 0  # a finished fit: the copies are there already


def test_names_are_one_field_of_one_line(fitted: Path) -> None:
    lines = (fitted / "doc-topics.txt").read_text("utf-8").split("\n")
    assert lines[-1] == "" and all(len(line.split("\t")) == 4 for line in lines[:-1])
    assert [line.split("\t")[1] for line in lines[:3]] == ["a b0", "c d1", "e 2"]
    assert load_documents(fitted).names[:2] == ("a b0", "c d1")


def test_words_are_escaped_for_a_spreadsheet(fitted: Path) -> None:
    text = (fitted / "topics.csv").read_text("utf-8")
    assert "'=1+1" in text and "'-minus" in text and "'@at" in text
    assert not any(line.split(",")[2].startswith(("=", "+", "-", "@")) for line in text.splitlines()[1:])


def test_words_are_escaped_for_a_terminal(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["topics", "show", str(fitted)]) == 0
    out = capsys.readouterr().out
    assert "[/bold]" in out and ":smile:" in out and "\x1b" not in out and "\\x1b[31mred" in out
    assert "x…" in out and "x" * 61 not in out
    for word in ("[/bold]", "\x1b[31mred"):
        assert cli.main(["topics", "show", str(fitted), "--word", word]) == 0
        assert "\x1b" not in capsys.readouterr().out
    assert cli.main(["topics", "show", str(fitted), "--word", "\x1b[2J"]) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_figures_draw_words_literally(fitted: Path) -> None:
    """Both formats were written, although a word is no mathematics that can be drawn."""
    assert {path.name for path in (fitted / "figures").iterdir()} >= {"topics.png", "topics.svg", "map.png"}


@pytest.mark.slow
def test_words_of_lda_are_harmless_where_they_are_shown(
    source: Path, named: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same words in the probabilities of LDA: figures, terminal, spreadsheet and tables."""
    line = arguments(source, tmp_path / "out", "--model", "lda")
    assert cli.main(line) == 0
    assert cli.main(["topics", "show", str(tmp_path / "out"), "--word", "$\\frac1$"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\\x1b[31mred" in out and "[/bold]" in out and "probability of" in out
    text = (tmp_path / "out" / "topics.csv").read_text("utf-8")
    assert "'=1+1" in text and not any(row.split(",")[2].startswith(("=", "-", "@")) for row in text.splitlines()[1:])
    figures = {path.name for path in (tmp_path / "out" / "figures").iterdir()}
    assert figures == {f"{name}.{kind}" for name in ("topics", "map", "trace") for kind in ("png", "svg")}
    assert "\x1b" not in (tmp_path / "out" / "figures" / "topics.svg").read_text("utf-8")
    lines = (tmp_path / "out" / "doc-topics.txt").read_text("utf-8").split("\n")
    assert all(len(line.split("\t")) == 4 for line in lines[:-1])


def refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert cli.main(command) != 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "unexpected" not in error, error
    return error


def test_copies_are_never_written_on_top(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for option in ("--output-topic-keys", "--output-doc-topics"):
        error = refused(arguments(source, tmp_path / "out", option, str(tmp_path / "mine.txt")), capsys)
        assert "exists already" in error
    assert (tmp_path / "mine.txt").read_text() == "mine" and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ("--seed", "-1"),
        ("--seed", str(2**40)),
        ("--document-concentration", "nan"),
        ("--corpus-concentration", "0"),
        ("--checkpoint-every", "inf"),
        ("--doc-topic-prior", "1e-9"),
        ("--min-df", "nan"),
        ("--encoding", "nonsense"),
        ("--output-topic-keys", "nowhere/at/all.txt"),
        ("--text-column", "a"),
    ],
)
def test_settings_are_checked_before_a_folder_is_made(
    wrong: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.txt").write_text("ships harbour\n" * 30)
    refused(arguments(tmp_path / "x.txt", tmp_path / "out", *wrong), capsys)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["file", "below a file", "loop", "long"])
def test_an_output_that_cannot_be_is_one_line(
    source: Path, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    paths = {"file": "file", "below a file": "file/out", "loop": "loop", "long": "x" * 300}
    assert "--output" in refused(arguments(source, tmp_path / paths[kind]), capsys)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_at_the_end_is_one_line_and_can_be_resumed(
    fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(fitted, tmp_path / "out"))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "topics.csv")

    with monkeypatch.context() as patch:
        patch.setattr(topics, "write_tables", full)
        error = refused(["topics", "resume", str(folder), "--quiet"], capsys)
    assert "cannot write topics.csv: No space left on device" in error and "topics resume" in error
    assert cli.main(["topics", "resume", str(folder), "--quiet"]) == 0


def test_damaged_files_of_a_fit_are_named(fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree(fitted, tmp_path / "out"))
    for name in ("job.json", "corpus.npz", "vocabulary.txt", "documents.txt", "result.npz", "summary.json"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
        assert name in refused(["topics", "show", str(folder)], capsys)
        (folder / name).write_bytes(whole)
    assert cli.main(["topics", "show", str(folder)]) == 0


def test_two_processes_do_not_go_on_with_one_fit(fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.ExitStack() as locks:
        ownership.claim(fitted, "fit", locks)
        assert "another run is writing in" in refused(["topics", "resume", str(fitted), "--quiet"], capsys)


def test_the_demonstration_leaves_other_fits_alone(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(fitted, tmp_path / "topics"))
    before = content(folder)
    assert "holds something else than a demonstration" in refused(["demo", "--out", str(tmp_path)], capsys)
    assert content(folder) == before
    shutil.rmtree(folder / ownership.PLACE)
    assert "left alone" in refused(["demo", "--out", str(tmp_path)], capsys)
    assert content(folder) == before


def test_the_demonstration_leaves_a_file_among_its_own_alone(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {"input": str(source), "num_topics": 2, "num_iterations": 20, "min_df": 1, "max_df": 1.0, "min_words": 1}
    monkeypatch.setattr(demonstration, "SETTINGS", small | {"num_threads": 1, "doc_topic_prior": 1.0})
    monkeypatch.setattr(topics, "write_figures", lambda *_: [])
    for _ in range(2):  # a demonstration of before is made again
        assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    for place in (".", "state", "state/draws.zarr", "state/draws.zarr/posterior/topics/c"):
        thesis = tmp_path / "topics" / place / "thesis.txt"
        thesis.write_text("mine")
        assert "thesis.txt" in refused(["demo", "--out", str(tmp_path)], capsys)
        assert thesis.read_text() == "mine" and (tmp_path / "topics" / "topic-keys.txt").exists()
        thesis.unlink()


def test_an_earlier_fit_is_refused_with_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("job.json", "corpus.npz"):
        (tmp_path / name).write_text("{}")
    assert "was written by orthodrome 0.1.0 in format 1" in refused(["topics", "resume", str(tmp_path)], capsys)
