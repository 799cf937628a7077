"""`orthodrome topics`: planted topics come back, a kill changes nothing, and what is wrong is said in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import orthodrome.cli.main as cli
from orthodrome.corpora import from_words
from orthodrome.jobs.topics import demo, documents, fit
from orthodrome.jobs.topics.job import METHODS, Job
from orthodrome.jobs.topics.kinds import schedule
from orthodrome.jobs.topics.model import KINDS
from orthodrome.models.lda.methods import METHODS as LDA_METHODS
from orthodrome.models.sam.settings import METHODS as SAM_METHODS

SUBJECTS = {
    "garden": ["rose", "tulip", "soil", "rain", "seed", "leaf", "root", "spade"],
    "harbour": ["ship", "sail", "anchor", "mast", "crew", "tide", "dock", "rope"],
    "kitchen": ["bread", "salt", "oven", "knife", "spoon", "flour", "dough", "butter"],
}
ITERATIONS = {"sam": 400, "lda": 60}
FIT = ["--num-topics", "3", "--min-df", "1", "--max-df", "1", "--doc-topic-prior", "1", "--num-threads", "1", "--quiet"]


def planted(count: int = 90, length: int = 12) -> list[list[str]]:
    """Documents of one subject each, with a few words of the others."""
    random = np.random.default_rng(0)
    subjects = list(SUBJECTS.values())
    return [
        [str(random.choice(subjects[n % 3 if random.random() < 0.85 else random.integers(3)])) for _ in range(length)]
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "planted.jsonl"
    lines = (json.dumps({"id": f"text {n}", "text": " ".join(words)}) for n, words in enumerate(planted()))
    path.write_text("\n".join(lines))
    return path


def fit_arguments(corpus: Path, output: Path, iterations: int, model: str = "sam") -> list[str]:
    places = ["--input", str(corpus), "--output", str(output)]
    return ["topics", "fit", "--model", model, *places, "--num-iterations", str(iterations), *FIT]


@pytest.fixture(scope="module", params=["sam", "lda"])
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fitted(model: str, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit") / "out"
    keys = ["--output-topic-keys", str(folder.parent / "keys.txt")]
    assert cli.main([*fit_arguments(corpus, folder, ITERATIONS[model], model), *keys]) == 0
    return folder


def keys_of(path: Path) -> list[set[str]]:
    return [set(line.split("\t")[2].split()[:5]) for line in path.read_text().splitlines()]


def test_planted_topics_come_back(model: str, fitted: Path) -> None:
    """Each topic's five first words are of one subject, each subject once; a run that learnt nothing mixes them."""
    subjects = [set(words) for words in SUBJECTS.values()]
    owners = [
        [n for n, subject in enumerate(subjects) if words <= subject] for words in keys_of(fitted / "topic-keys.txt")
    ]
    assert sorted(owners) == [[0], [1], [2]]
    assert (fitted / "bottom-words.txt").exists() == (model == "sam")  # a law over words has no absent ones
    if model == "sam":
        against = keys_of(fitted / "bottom-words.txt")
        assert all(not words & subjects[owner[0]] for words, owner in zip(against, owners, strict=True))
    assert (fitted.parent / "keys.txt").read_text() == (fitted / "topic-keys.txt").read_text()


def test_documents_have_the_topic_of_their_subject(fitted: Path) -> None:
    lines = [line.split("\t") for line in (fitted / "doc-topics.txt").read_text().splitlines()]
    assert lines[4][1] == "text 4"
    shares = np.array([line[2:] for line in lines], float)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-3)
    largest = shares.argmax(axis=1)
    agree = [np.bincount(largest[subject::3], minlength=3).max() for subject in range(3)]
    assert sum(agree) > 0.9 * len(lines)


def test_everything_is_written(model: str, fitted: Path) -> None:
    for name in ("topics", "map", "trace"):
        assert (fitted / "figures" / f"{name}.png").stat().st_size > 10_000
        assert (fitted / "figures" / f"{name}.svg").exists()
    numbers = json.loads((fitted / "summary.json").read_text())
    watched = {"sam": "log-perplexity of single draws, held-out documents", "lda": "perplexity of averaged predictions"}
    with np.load(fitted / "result.npz") as arrays:
        seen = arrays[f"trace/{watched[model]}/at"]
    assert seen[0] <= ITERATIONS[model] / 20 and seen[-1] == ITERATIONS[model]  # from warm-up on
    if model == "sam":
        assert 0.9 < numbers["temperature"] < 1.1 and numbers["document concentration"] > 0
        assert numbers["log-perplexity (annealed)"] < numbers["log-perplexity (published)"] + 1
    else:  # 24 words; a topic has 8 of them
        assert 7 < numbers["perplexity (held-back words)"] < 20 and numbers["coherence (NPMI)"] > 0
    sides = 2 if model == "sam" else 1
    assert len((fitted / "topics.csv").read_text().splitlines()) == 1 + 3 * sides * 10
    assert any((fitted / "state").iterdir()) and (fitted / "doc-topics-sd.txt").exists()


def test_show(model: str, fitted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["topics", "show", str(fitted)]) == 0
    out = capsys.readouterr().out
    assert "rose" in out and ("bottom words" in out) == (model == "sam")
    assert cli.main(["topics", "show", str(fitted), "--word", "anchor"]) == 0
    out = capsys.readouterr().out
    assert "±" in out and {"sam": "coordinate of", "lda": "probability of"}[model] in out
    assert cli.main(["topics", "show", str(fitted), "--word", "anchro"]) == 1
    assert "anchor" in capsys.readouterr().err


def killed_in_the_middle(arguments: list[str], commit: Path) -> int:
    """Run in a process of its own, kill -9 after the first commits; how many draws were saved."""
    command = [sys.executable, "-m", "orthodrome", *arguments, "--checkpoint-every", "0"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (commit.exists() and json.loads(commit.read_text())["done"] > 5):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return int(json.loads(commit.read_text())["done"])


@pytest.mark.slow
def test_kill_and_resume_end_in_the_same_numbers(
    model: str, corpus: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, iterations = tmp_path / "killed", ITERATIONS[model]
    command = fit_arguments(corpus, folder, iterations, model)
    assert killed_in_the_middle(command, folder / "state" / "commit.json") < iterations
    assert cli.main(["topics", "show", str(folder)]) == 1
    assert "resume" in capsys.readouterr().err
    assert cli.main(["topics", "resume", str(folder), "--quiet"]) == 0
    for name in ("topic-keys.txt", "doc-topics.txt", "topics.csv"):
        assert (folder / name).read_text() == (fitted / name).read_text()
    with np.load(folder / "result.npz") as one, np.load(fitted / "result.npz") as other:
        assert all(np.array_equal(one[name], other[name]) for name in other.files)
    one, other = (json.loads((place / "summary.json").read_text()) for place in (folder, fitted))
    assert one | {"seconds": 0} == other | {"seconds": 0}


def matrix(path: Path, rows: np.ndarray) -> str:
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(rows))
    return str(path)


LONG = np.full((30, 4), 0.7)
WRONG = {
    "zero topics": (["--num-topics", "0"], "--num-topics"),
    "zero iterations": (["--num-iterations", "0"], "--num-iterations"),
    "unknown method": (["--method", "lda"], "gsgnht"),
    "no such file": (["--input", "nowhere.npz"], "nowhere.npz"),
    "no such vocabulary": (["--vocabulary", "nowhere.txt", "--input", LONG], "nowhere.txt"),
    "rows that are no unit vectors": (["--input", LONG], "--normalize"),
    "empty rows": (["--input", np.vstack([LONG, np.zeros((1, 4))])], "row 30"),
    "not finite": (["--input", LONG * np.nan], "finite"),
    "too few documents": (["--input", LONG[:4] / 1.4], "too few"),
    "no words left": (["--max-df", "0.001", "--min-df", "1"], "widen"),
    "concentration": (["--document-concentration", "-1"], "document_concentration"),
    "two priors": (["--alpha", "3"], "--doc-topic-prior times"),
    "a concentration for LDA": (["--model", "lda", "--topic-concentration", "3"], "belongs to --model sam"),
    "a beta for SAM": (["--beta", "0.1"], "--topic-word-prior belongs to --model lda"),
    "unit rows for LDA": (["--model", "lda", "--normalize"], "--normalize belongs to --model sam"),
    "a method of SAM": (["--model", "lda", "--method", "vi"], "it has gibbs, collapsed, scir"),
    "a method of LDA": (["--method", "gibbs"], "it has gsgnht"),
    "a batch for Gibbs": (["--model", "lda", "--batch-size", "9"], "leave --batch-size out, or use scir"),
    "a beta of 0": (["--model", "lda", "--beta", "0"], "topic_word_prior"),
    "weights for LDA": (["--model", "lda", "--input", LONG], "LDA counts words"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_line_and_a_code(
    case: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra, hint = WRONG[case]
    extra = [word if isinstance(word, str) else matrix(tmp_path / "rows.npz", word) for word in extra]
    code = cli.main([*fit_arguments(corpus, tmp_path / "out", 10), *extra])
    error = capsys.readouterr().err
    assert code != 0 and hint in error
    assert error.count("\n") == 1 and error.startswith("orthodrome: ") and "unexpected" not in error


def test_bad_folders(corpus: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in fitted.iterdir())
    (tmp_path / "file").write_text("")
    cases = {
        "not empty": (fit_arguments(corpus, fitted, 10), "resume"),
        "a file": (fit_arguments(corpus, tmp_path / "file", 10), "--output"),
        "no fit": (["topics", "resume", str(tmp_path)], "job.json"),
        "nothing": (["topics", "show", str(tmp_path / "nowhere")], "holds no fit"),
    }
    for case, (arguments, hint) in cases.items():
        assert cli.main(arguments) == 1, case
        error = capsys.readouterr().err
        assert hint in error and error.count("\n") == 1, case
    assert sorted(path.name for path in fitted.iterdir()) == before


def test_the_command_offers_the_methods_of_the_models() -> None:
    assert set(METHODS["sam"]) == set(SAM_METHODS) and {"auto", *METHODS["lda"]} == set(LDA_METHODS)


def test_alpha_is_that_of_mallet() -> None:
    """The sum over topics; 5 is what MALLET takes by itself."""
    assert Job(alpha=5.0).prior == 0.25 and Job(doc_topic_prior=0.3).prior == 0.3 and Job().prior is None


def test_rows_can_be_normalised(corpus: Path, tmp_path: Path) -> None:
    job = Job(input=matrix(tmp_path / "rows.npz", LONG), normalize=True)
    assert np.allclose(documents.read_documents(job, KINDS["sam"]).rows.toarray(), 0.5)


@pytest.mark.parametrize("iterations", [1, 2, 7, 100, 1000])
def test_schedule_adds_up(iterations: int) -> None:
    plan = schedule(iterations, 50)
    assert plan["num_warmup"] + plan["num_draws"] * plan["thin"] == iterations
    assert 1 <= plan["num_draws"] <= 50 and plan["num_warmup"] >= 0


def test_demo_and_demo_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With a small corpus in place of the docstrings: topics, figures, where they are; then again in the same place."""
    words = planted()
    monkeypatch.setattr(documents, "python_docstrings", lambda: from_words(words, [f"d{n}" for n in range(len(words))]))
    small = {"num_topics": 3, "num_iterations": 20, "max_df": 1.0, "num_threads": 1, "doc_topic_prior": 1}
    monkeypatch.setattr(demo, "SETTINGS", small)
    assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"{tmp_path}/topics/figures/ (topics.png" in out and "bottom words" in out
    keys = (tmp_path / "topics" / "topic-keys.txt").read_text()
    monkeypatch.setattr(fit, "write_figures", lambda *_: [])
    assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "topics" / "topic-keys.txt").read_text() == keys and "going on" not in capsys.readouterr().out
    (tmp_path / "topics" / "summary.json").unlink()
    assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    assert "going on" in capsys.readouterr().out


@pytest.mark.slow
def test_topics_of_the_docstrings_make_sense(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The whole demonstration: the subjects that the standard library is known for each have a topic."""
    assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    tops = [line.split("\t")[2].split() for line in (tmp_path / "topics" / "topic-keys.txt").read_text().splitlines()]
    for pair in [
        ("event", "loop"),
        ("header", "content"),
        ("element", "xml"),
        ("exponent", "digit"),
        ("logger", "record"),
    ]:
        assert any(set(pair) <= set(top) for top in tops), pair
