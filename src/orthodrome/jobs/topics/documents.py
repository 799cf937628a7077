"""The documents of a fit: read, selected, checked, some of them held out; and the same from the folder of the fit."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.corpora import Corpus, python_docstrings, read_corpus
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.topics.job import BUILT_IN, Job
from orthodrome.jobs.topics.kinds import TopicKind
from orthodrome.storage import files


class TopicCorpus(NamedTuple):
    """The documents of a fit.

    rows: what the model is fitted to: unit vectors (SAM) or counts (LDA)
    training: a mask of the rows that the topics are learnt from
    vocabulary: the word of each column
    names: the name of each row
    """

    rows: scipy.sparse.csr_array
    training: np.ndarray
    vocabulary: tuple[str, ...]
    names: tuple[str, ...]


def read_documents(job: Job, kind: TopicKind) -> TopicCorpus:
    """Return the documents of a job, as its model takes them."""
    rows, corpus = kind.rows(read(job), job)
    check_size(rows, job)
    words, names = (tuple(map(one_line, texts)) for texts in (corpus.vocabulary, corpus.names))
    return TopicCorpus(rows, split(rows.shape[0], job), words, names)


def one_line(text: str) -> str:
    """Return a word or name without tabs and line breaks, which separate columns and lines in the tables."""
    return " ".join(text.split())


def read(job: Job) -> Corpus:
    """Read the built-in corpus, or a file or folder."""
    if job.input == BUILT_IN:
        return python_docstrings()
    return read_corpus(job.input, job.format, job.vocabulary, job.encoding, job.text_column)


def check_size(rows: scipy.sparse.csr_array, job: Job) -> None:
    """Raise if too few documents or words are left to learn from."""
    documents, words = rows.shape
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
    """Save the rows, as the input may be gone when the run is resumed."""
    rows = documents.rows
    arrays = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    files.write_arrays(folder / "corpus.npz", {**arrays, "shape": np.array(rows.shape), "training": documents.training})
    for name, lines in {"vocabulary": documents.vocabulary, "documents": documents.names}.items():
        files.write_bytes(folder / f"{name}.txt", "".join(line + "\n" for line in lines).encode("utf-8"))


def load_documents(folder: Path) -> TopicCorpus:
    """Load the documents of a fit."""
    try:
        arrays = files.read_arrays(folder / "corpus.npz")
        vocabulary, names = (
            tuple((folder / f"{name}.txt").read_text("utf-8").splitlines()) for name in ("vocabulary", "documents")
        )
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        rows = scipy.sparse.csr_array(parts, shape=tuple(arrays["shape"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"the documents in {folder} cannot be read ({error}): restore them, or fit again in a new folder"
        ) from error
    return TopicCorpus(rows, arrays["training"], vocabulary, names)
