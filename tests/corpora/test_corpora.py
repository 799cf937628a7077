"""Corpora: readers give back what was written, and name the file and line of what is wrong; tf-idf as F.3 has it."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from orthodrome.corpora import (
    Corpus,
    batches,
    from_words,
    newsgroups_set,
    nonempty,
    python_docstrings,
    read_corpus,
    row_lengths,
    tfidf,
    weigh_texts,
    wikipedia_set,
)
from orthodrome.corpora.words import fold_plurals, words_of
from orthodrome.errors import BadInput

COUNTS = np.array([[2, 0, 1, 0], [0, 3, 0, 0], [1, 1, 1, 0]])
WORDS = ["cat", "dog", "mouse", "unicorn"]
DATA = Path(os.environ.get("ORTHODROME_DATA", "nowhere"))


def write_npz(folder: Path) -> Path:
    scipy.sparse.save_npz(folder / "counts.npz", scipy.sparse.csr_array(COUNTS.astype(np.uint16)))
    return folder / "counts.npz"


def write_ldac(folder: Path) -> Path:
    rows = [[f"{word}:{row[word]}" for word in np.flatnonzero(row)] for row in COUNTS]
    (folder / "corpus.ldac").write_text("".join(f"{len(row)} {' '.join(row)}\n" for row in rows))
    return folder / "corpus.ldac"


def write_docword(folder: Path) -> Path:
    entries = [f"{row + 1} {word + 1} {COUNTS[row, word]}\n" for row, word in np.argwhere(COUNTS)]
    with gzip.open(folder / "docword.pets.txt.gz", "wt") as file:
        file.write(f"3\n4\n{len(entries)}\n" + "".join(entries))
    return folder / "docword.pets.txt.gz"


@pytest.mark.parametrize("write", [write_npz, write_ldac, write_docword], ids=lambda write: write.__name__)
def test_counts_come_back(write, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    corpus = read_corpus(write(tmp_path))
    assert np.array_equal(corpus.counts.toarray(), COUNTS) and corpus.vocabulary == tuple(WORDS)
    assert corpus.counts.dtype == np.int64  # unsigned counts overflow in products
    assert corpus.counts.indices.dtype == np.int32  # scikit-learn takes no other


def test_npz_keeps_its_labels_and_words_have_names(tmp_path: Path) -> None:
    path = write_npz(tmp_path)
    with np.load(path) as file:
        np.savez(path, labels=np.array([1, 2, 1]), **{name: file[name] for name in file.files})
    corpus = read_corpus(path)
    assert corpus.labels == ("1", "2", "1") and corpus.vocabulary[2] == "word-2"


TEXTS = {"pets/a.txt": "Two cats and the dog.", "pets/b.txt": "A cat; read_line(), os.path!", "space/c.txt": "Moons"}


def test_folder_of_texts(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    corpus = read_corpus(tmp_path)
    assert corpus.names == tuple(TEXTS) and corpus.labels == ("pets", "pets", "space")
    assert corpus.vocabulary == ("cat", "dog", "moons") and corpus.counts.toarray().tolist() == [
        [1, 1, 0],
        [1, 0, 0],
        [0, 0, 1],
    ]


def test_json_lines_and_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "text": text}) for name, text in TEXTS.items()]
    (tmp_path / "texts.jsonl").write_text("\n".join([*lines, ""]))
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS.values()))
    one, other = read_corpus(tmp_path / "texts.jsonl"), read_corpus(tmp_path / "texts.txt")
    assert one.names == tuple(TEXTS) and other.names[1] == "line-2" and one.labels is None
    assert (one.counts != other.counts).nnz == 0


WRONG = {
    "short line": ("a.ldac", "2 0:1 1:2\n2 0:1\n", "a.ldac, line 2"),
    "not a pair": ("a.ldac", "1 0:1\n\n1 0-1\n", "a.ldac, line 2"),
    "nothing": ("a.ldac", "", "empty"),
    "head": ("docword.a.txt", "3\nfour\n5\n", "line 2"),
    "entry": ("docword.a.txt", "1\n1\n2\n1 1 1\n1 x 1\n", "docword.a.txt, line 5"),
    "range": ("docword.a.txt", "1\n2\n2\n1 1 1\n1 3 1\n", "docword.a.txt, line 5"),
    "cut short": ("docword.a.txt", "1\n2\n5\n1 1 1\n", "truncated"),
    "JSON": ("a.jsonl", '{"text": "a"}\n{"text": \n', "a.jsonl, line 2"),
    "no text": ("a.jsonl", '{"text": "a"}\n{"words": "b"}\n', "a.jsonl, line 2"),
    "no matrix": ("a.npz", "PK", "a.npz"),
    "no words": ("a.txt", "the of\n12 34\n", "no word"),
    "unknown format": ("a.xml", "<a/>", "docword"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_files_are_named(case: str, tmp_path: Path) -> None:
    name, content, hint = WRONG[case]
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=hint):
        read_corpus(tmp_path / name)


def test_bad_bytes_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("caf\u00e9".encode("latin-1"))
    with pytest.raises(BadInput, match=r"byte 0xe9.*latin-1"):
        read_corpus(tmp_path / "a.txt")
    assert len(read_corpus(tmp_path / "a.txt", encoding="latin-1")) == 1
    with pytest.raises(BadInput, match="there is no"):
        read_corpus(tmp_path / "b.txt")
    (tmp_path / "vocab.txt").write_text("cat\n")
    with pytest.raises(BadInput, match="1 words"):
        read_corpus(write_npz(tmp_path))


def test_tfidf_by_hand() -> None:
    """D = 3; cat in 2 documents weighs log(3/3) = 0, mouse likewise, dog too; unicorn in none: nothing to see."""
    assert not nonempty(tfidf(scipy.sparse.csr_array(COUNTS))).any()
    counts = scipy.sparse.csr_array(np.array([[2, 1, 0], [0, 1, 5], [0, 1, 0], [0, 1, 0]]))
    rare, everywhere = math.log(4 / 2), math.log(4 / 5)
    first = np.array([2 * rare, everywhere, 0]) / math.hypot(2 * rare, everywhere)
    np.testing.assert_allclose(tfidf(counts).toarray()[0], first, rtol=1e-12)
    np.testing.assert_allclose(tfidf(counts).toarray()[2], [0, -1, 0], rtol=1e-12)
    np.testing.assert_allclose(row_lengths(tfidf(counts, dtype=np.float32)), 1, rtol=1e-6)


@pytest.mark.skipif(not (DATA / "20news_different").is_dir(), reason="needs 20news_different in ORTHODROME_DATA")
def test_tfidf_is_the_authors() -> None:
    folder = DATA / "20news_different"
    theirs = scipy.sparse.load_npz(folder / "test_tfidf.npz")
    assert abs(read_corpus(folder / "test_counts.npz").unit_vectors()[0] - theirs).max() < 1e-11


def many(seed: int = 0, documents: int = 40) -> Corpus:
    """Word w is in about (w + 1) / 10 of the documents."""
    random = np.random.default_rng(seed)
    words = [[f"w{word}" for word in range(10) if random.random() < (word + 1) / 10] for _ in range(documents)]
    return from_words([*words, ["w9"], []], [f"d{n}" for n in range(documents + 2)])


def test_cut_by_document_frequency() -> None:
    corpus = many()
    share = (corpus.counts.toarray() > 0).mean(axis=0)
    cut = corpus.keep_words(0.2, 0.6)
    assert cut.vocabulary == tuple(f"w{word}" for word in range(10) if 0.2 <= share[word] <= 0.6)
    assert len(cut) < len(corpus) and "d40" not in cut.names and nonempty(cut.counts).all()
    most = corpus.keep_words(1, 0.6, max_words=2)
    assert set(most.vocabulary) == {f"w{word}" for word in np.argsort(-np.where(share <= 0.6, share, 0))[:2]}
    assert corpus.keep_long(6).counts.sum(axis=1).min() >= 6
    with pytest.raises(BadInput, match="widen"):
        corpus.keep_words(0.99, 1.0)


def test_batches_repeat_and_cover() -> None:
    matrix = scipy.sparse.csr_array(np.diag(np.arange(1.0, 11)))
    rounds = [[batch.sum(axis=1) for batch in batches(matrix, 5, seed=3, rounds=2)] for _ in range(2)]
    assert np.array_equal(rounds[0], rounds[1])
    first, second = np.concatenate(rounds[0][:2]), np.concatenate(rounds[0][2:])
    assert sorted(first) == sorted(second) == list(range(1, 11)) and not np.array_equal(first, second)
    assert len(list(itertools.islice(batches(matrix, 4, seed=0), 7))) == 7
    with pytest.raises(BadInput, match="batch_size"):
        next(batches(matrix, 11, seed=0))


def test_new_texts_are_weighed_like_the_old() -> None:
    texts = ["cats dogs", "cat mouse", "mouse mouse horse", "horse", "moon"]
    like = from_words(fold_plurals([words_of(text) for text in texts]), texts)
    stream = list(weigh_texts([*texts[:3], "unheard words", texts[4]], like, batch_size=2))
    assert [batch.shape[0] for batch in stream] == [2, 1, 1]
    np.testing.assert_allclose(scipy.sparse.vstack(stream).toarray(), tfidf(like.counts).toarray()[[0, 1, 2, 4]])


def test_words() -> None:
    text = "Files: the file's XML, see os.path.join(a, b), `read_lines`, StreamReader and https://a.org. End of file."
    assert words_of(text) == ["files", "file", "xml", "end", "file"]
    assert fold_plurals(
        [["files", "entries", "class", "addresses", "pickles"], ["file", "entry", "address", "clas"]]
    ) == [
        ["file", "entry", "class", "address", "pickles"],
        ["file", "entry", "address", "clas"],
    ]


@pytest.fixture(scope="module")
def docstrings() -> Corpus:
    return python_docstrings()


def test_docstrings_are_many_and_clean(docstrings: Corpus) -> None:
    assert len(docstrings) > 1_500 and 1_000 < len(docstrings.vocabulary) < 3_000
    assert not {"self", "returns", "argument", "none"} & set(docstrings.vocabulary)
    assert not any(name.startswith(("test.", "lib2to3.", "tkinter.test.")) for name in docstrings.names)


def test_docstrings_know_their_subjects(docstrings: Corpus) -> None:
    """The words that set a module's documents apart are those of its subject."""
    vectors, kept = docstrings.unit_vectors()
    expected = {"asyncio": "loop", "email": "header", "xml": "xml", "unittest": "test", "_pydecimal": "exponent"}
    for module, word in expected.items():
        rows = np.array([name.split(".")[0] == module for name in kept.names])
        contrast = vectors[rows].mean(axis=0) - vectors[~rows].mean(axis=0)
        assert word in [kept.vocabulary[column] for column in np.argsort(-contrast)[:6]], module


def test_newsgroups_set_follows_its_rule(tmp_path: Path) -> None:
    """Three of twenty groups; words in 0.36 % to 11.77 % of their documents, of those the 5,000 most frequent."""
    random = np.random.default_rng(1)
    counts = (random.random((600, 5_600)) < 0.03).astype(np.uint16)
    counts[:, 0], counts[::2, 1] = 1, 1  # in every document and in half of them: too frequent
    counts[:, 2:5] = 0
    labels = random.choice([1, 2, 10, 15], 600)
    counts[300:][labels[300:] == 10] *= 2
    for name, rows in {"train": slice(0, 400), "test": slice(400, 600)}.items():
        matrix = scipy.sparse.csr_array(counts[rows])
        arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
        np.savez(tmp_path / f"{name}_counts.npz", labels=labels[rows], format=np.array(b"csr"), **arrays)
    made = newsgroups_set(tmp_path)
    ours = np.isin(labels, (1, 10, 15))
    frequency = (counts[ours] > 0).sum(axis=0)
    columns = np.array([int(word.removeprefix("word-")) for word in made.vocabulary])
    assert len(columns) == 5_000 and not {0, 1, 2, 3, 4} & set(columns.tolist())
    left = np.setdiff1d(np.arange(5, 5_600), columns)
    assert frequency[columns].max() <= 0.1177 * ours.sum() and frequency[left].max() <= frequency[columns].min()
    assert made.train.shape[0] == ours[:400].sum() and made.test.shape[0] == ours[400:].sum()
    wanted = np.select([labels == 10, labels == 15, labels == 1], [1, 2, 3])[ours]
    np.testing.assert_array_equal(np.concatenate([made.train_labels, made.test_labels]), wanted)
    np.testing.assert_allclose(row_lengths(made.test), 1)
    with pytest.raises(BadInput, match="train_counts"):
        newsgroups_set(tmp_path / "nowhere")


def test_wikipedia_set_follows_its_rule(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    counts = random.poisson(0.02, (400, 3_300)) * (random.random((400, 1)) < 0.8)
    counts[:, :2] = 1  # in every document: too frequent
    for name, rows in {"en2014": slice(0, 300), "en2015": slice(300, 400)}.items():
        scipy.sparse.save_npz(tmp_path / f"{name}_counts.npz", scipy.sparse.csr_array(counts[rows].astype(np.uint16)))
    long = counts[counts.sum(axis=1) > 20]
    train, test, vocabulary = wikipedia_set(tmp_path, num_train=250, num_test=20)
    assert train.shape == (250, 3_000) and test.shape == (20, 3_000) and len(vocabulary) == 3_000
    share = (long > 0).mean(axis=0)[[int(word.removeprefix("word-")) for word in vocabulary]]
    assert share.max() <= 0.0599
    np.testing.assert_allclose(row_lengths(train), 1)
    with pytest.raises(BadInput, match="were requested"):
        wikipedia_set(tmp_path)
    with pytest.raises(BadInput, match="en2014"):
        wikipedia_set(tmp_path / "nowhere")
