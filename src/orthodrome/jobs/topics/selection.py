"""Which words and documents of a corpus of counts a fit keeps."""

from __future__ import annotations

import numpy as np

from orthodrome.corpora import Corpus
from orthodrome.jobs.topics.job import Job


def is_counted(corpus: Corpus) -> bool:
    """Return whether the entries are whole numbers and not negative."""
    data = corpus.counts.data
    return bool(np.all(data >= 0) and (data.dtype.kind in "iu" or np.all(data == np.floor(data))))


def selected(corpus: Corpus, job: Job) -> Corpus:
    """Return the corpus of the words of moderate frequency, without the documents that are too short."""
    return corpus.keep_words(least(job.min_df), most(job.max_df), job.max_words).keep_long(job.min_words)


def least(frequency: float) -> float | int:
    """Return a document frequency as a share if it is below 1, otherwise as a number of documents."""
    return frequency if frequency < 1 else int(frequency)


def most(frequency: float) -> float | int:
    """Return a document frequency as a share if it is at most 1, otherwise as a number of documents."""
    return float(frequency) if frequency <= 1 else int(frequency)
