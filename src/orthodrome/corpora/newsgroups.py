"""The set 20News-different of Liu, Zhu & Song (2016), supplement F.3, from the word counts of all twenty newsgroups.

Three groups (rec.sport.baseball, sci.space and alt.atheism) of the by-date Matlab version, words in 0.36 % to 11.77 %
of their documents, training and test documents together, and of these the 5,000 most frequent: 5,022 words lie in the
band, and among those in ten documents the first stay. tf-idf has D and df of its own in each part; a training document
without any of the words is then dropped. This gives the authors' own file to its last printed digit.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.corpora.corpus import moderate
from orthodrome.corpora.matrices import read_npz
from orthodrome.corpora.tfidf import nonempty, tfidf
from orthodrome.errors import BadInput

GROUPS = ("10", "15", "1")
"""The numbers of the three groups among the twenty, in the order of the authors' labels 1, 2 and 3."""
PARTS = ("train_counts.npz", "test_counts.npz")
MIN_DF, MAX_DF, NUM_WORDS = 0.0036, 0.1177, 5_000


class LabelledSet(NamedTuple):
    """Unit vectors to train and to test on, with their groups.

    train, test: unit vectors in rows
    train_labels, test_labels: the group of each row, 1, 2 or 3
    vocabulary: the word of each column
    """

    train: scipy.sparse.csr_array
    test: scipy.sparse.csr_array
    train_labels: np.ndarray
    test_labels: np.ndarray
    vocabulary: tuple[str, ...]


def newsgroups_set(folder: str | Path) -> LabelledSet:
    """Return the training and test sets of 20News-different.

    folder: with `train_counts.npz` and `test_counts.npz` on 61,188 words, which hold `labels` from 1 to 20, and
        `vocab.txt.gz`
    """
    folder = Path(folder)
    if missing := [name for name in PARTS if not (folder / name).exists()]:
        raise BadInput(f"there is no {folder / missing[0]}; the set needs {' and '.join(PARTS)} of 20news_bydate")
    counts, groups = [], []
    for name in PARTS:
        part = read_npz(folder / name)
        labels = np.array([str(label) for label in part.labels or ()])
        chosen = np.flatnonzero(np.isin(labels, GROUPS))
        if not len(chosen):
            raise BadInput(f"{folder / name} has no documents with the labels {', '.join(GROUPS)}")
        counts.append(scipy.sparse.csr_array(part.counts)[chosen])
        groups.append(np.array([1 + GROUPS.index(label) for label in labels[chosen]]))
    columns = moderate(scipy.sparse.csr_array(scipy.sparse.vstack(counts)), MIN_DF, MAX_DF, NUM_WORDS)
    train, test = (tfidf(part[:, columns]) for part in counts)
    kept = [nonempty(part) for part in (train, test)]
    vocabulary = tuple(part.vocabulary[column] for column in columns)
    return LabelledSet(train[kept[0]], test[kept[1]], groups[0][kept[0]], groups[1][kept[1]], vocabulary)
