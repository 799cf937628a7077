"""The documents of the experiments on LDA: a stream of articles to learn from, and others to be completed.

As Patterson & Teh (2013) and Baker et al. (2018) do it (errata, 2.3): the first articles of a stream in random order
are held out, of each of which every tenth word is predicted from the others; the stream goes on after them. The
articles are those of English Wikipedia on the same 7,702 words, but others than the papers', which are lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.errors import BadInput
from orthodrome.models.topics.completion import CompletionTask, completion_task, split_documents


class Articles(NamedTuple):
    """Counts to learn from, articles to complete, and the word of each column."""

    train: scipy.sparse.csr_array
    task: CompletionTask
    vocabulary: tuple[str, ...]


def folder_of(data: Path, name: str, needed: str) -> Path:
    """Return the folder of a corpus, inside the data folder or that folder itself."""
    folder = data / name if (data / name).is_dir() else data
    if not (folder / needed).exists():
        raise BadInput(f"there is no {needed} in {folder}; the experiment needs the corpus {name}")
    return folder


def wikipedia_articles(data: Path, num_train: int, num_test: int, seed: int) -> Articles:
    """Return articles of English Wikipedia in a random order, the first ones held out."""
    folder = folder_of(data, "wikipedia_en", "en2014_counts.npz")
    counts, held = (whole(folder / f"en2014_{part}.npz") for part in ("counts", "heldout"))
    order = np.random.default_rng(seed).permutation(counts.shape[0])[: num_test + num_train]
    test = order[:num_test]
    words = tuple((folder / "vocab.txt").read_text(encoding="utf-8").split())
    return Articles(counts[order[num_test:]], completion_task(counts[test] - held[test], held[test]), words)


def newsgroup_posts(data: Path, num_words: int, num_test: int, seed: int) -> Articles:
    """Return the posts of 20 Newsgroups on their most frequent words; posts of the test set are completed."""
    folder = folder_of(data, "20news_bydate", "train_counts.npz")
    train, test = (whole(folder / f"{part}_counts.npz") for part in ("train", "test"))
    frequent = np.sort(np.argsort(-np.asarray(train.sum(axis=0)).ravel(), kind="stable")[:num_words])
    rows = np.random.default_rng(seed).permutation(test.shape[0])[:num_test]
    return Articles(train[:, frequent], completion_task(*split_documents(test[rows][:, frequent], seed)), ())


def whole(path: Path) -> Any:
    """Read a matrix of counts as whole numbers that do not overflow."""
    return scipy.sparse.csr_array(scipy.sparse.load_npz(path)).astype(np.int64)
