"""From the settings to unit vectors: read, select, weight, check, hold out some documents; and the same from the
folder.

Whole numbers are counts and are weighted by tf-idf. Anything else is taken as it is, and then every row must be a unit
vector, as the model is one of directions; `normalize` makes them so.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.corpora import Corpus, nonempty, normalise, python_docstrings, read_corpus, row_lengths
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.topics.job import BUILT_IN, Job
from orthodrome.storage import files

TOLERANCE = 1e-3
"""The largest deviation from one of the length of a row."""


class TopicCorpus(NamedTuple):
    """The documents of a fit.

    vectors: unit rows
    training: a mask of the rows that the topics are learnt from
    vocabulary: the word of each column
    names: the name of each row
    """

    vectors: scipy.sparse.csr_array
    training: np.ndarray
    vocabulary: tuple[str, ...]
    names: tuple[str, ...]


def read_documents(job: Job) -> TopicCorpus:
    """Return the documents of a job."""
    corpus = read(job)
    if is_counted(corpus):
        kept = corpus.keep_words(least(job.min_df), most(job.max_df), job.max_words).keep_long(job.min_words)
        vectors, corpus = kept.unit_vectors()
    else:
        vectors = directions(corpus, job)
    check_size(vectors, job)
    words, names = (tuple(map(one_line, texts)) for texts in (corpus.vocabulary, corpus.names))
    return TopicCorpus(vectors, split(vectors.shape[0], job), words, names)


def one_line(text: str) -> str:
    """Return a word or name without tabs and line breaks, which separate columns and lines in the tables."""
    return " ".join(text.split())


def read(job: Job) -> Corpus:
    """Read the built-in corpus, or a file or folder."""
    if job.input == BUILT_IN:
        return python_docstrings()
    return read_corpus(job.input, job.format, job.vocabulary, job.encoding, job.text_column)


def least(frequency: float) -> float | int:
    """Return a document frequency as a share if it is below 1, otherwise as a number of documents."""
    return frequency if frequency < 1 else int(frequency)


def most(frequency: float) -> float | int:
    """Return a document frequency as a share if it is at most 1, otherwise as a number of documents."""
    return float(frequency) if frequency <= 1 else int(frequency)


def is_counted(corpus: Corpus) -> bool:
    """Return whether the entries are whole numbers and not negative."""
    data = corpus.counts.data
    return bool(np.all(data >= 0) and (data.dtype.kind in "iu" or np.all(data == np.floor(data))))


def directions(corpus: Corpus, job: Job) -> scipy.sparse.csr_array:
    """Return the vectors of a corpus that are weights already, or raise unless they are unit vectors or made so."""
    vectors = scipy.sparse.csr_array(corpus.counts, dtype=np.float64)
    empty = np.flatnonzero(~nonempty(vectors))
    if len(empty):
        raise BadInput(f"{len(empty)} rows of {job.input} are empty (the first is row {empty[0]}): remove them")
    if job.normalize:
        return normalise(vectors.copy())
    lengths = row_lengths(vectors)
    worst = int(np.argmax(np.abs(lengths - 1)))
    if abs(lengths[worst] - 1) > TOLERANCE:
        raise BadInput(
            f"row {worst} of {job.input} has length {lengths[worst]:.4g}, but the model takes unit vectors; divide "
            "each row by its length with --normalize"
        )
    return vectors


def check_size(vectors: scipy.sparse.csr_array, job: Job) -> None:
    """Raise if too few documents or words are left to learn from."""
    documents, words = vectors.shape
    if documents < 10 or words < 3:
        raise BadInput(
            f"{documents} documents with {words} words are left of {job.input}: too few; "
            "widen --min-df, --max-df or lower --min-words"
        )


def split(count: int, job: Job) -> np.ndarray:
    """Return a mask of the rows to learn from."""
    held_out = np.random.default_rng(job.seed).permutation(count)[: round(job.held_out * count)]
    training = np.ones(count, bool)
    training[held_out] = False
    return training


def save_documents(documents: TopicCorpus, folder: Path) -> None:
    """Save the vectors, as the input may be gone when the run is resumed."""
    vectors = documents.vectors
    arrays = {"data": vectors.data, "indices": vectors.indices, "indptr": vectors.indptr}
    files.write_arrays(
        folder / "corpus.npz", {**arrays, "shape": np.array(vectors.shape), "training": documents.training}
    )
    for name, lines in {"vocabulary": documents.vocabulary, "documents": documents.names}.items():
        files.write_bytes(folder / f"{name}.txt", "".join(line + "\n" for line in lines).encode("utf-8"))


def load_documents(folder: Path) -> TopicCorpus:
    """Load the vectors of a fit."""
    try:
        arrays = files.read_arrays(folder / "corpus.npz")
        vocabulary, names = (
            tuple((folder / f"{name}.txt").read_text("utf-8").splitlines()) for name in ("vocabulary", "documents")
        )
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        vectors = scipy.sparse.csr_array(parts, shape=tuple(arrays["shape"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"the documents in {folder} cannot be read ({error}): restore them, or fit again in a new folder"
        ) from error
    return TopicCorpus(vectors, arrays["training"], vocabulary, names)
