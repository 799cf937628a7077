"""Corpora: readers, vocabularies, tf-idf weights, streams, and a built-in corpus that needs no download."""

from orthodrome.corpora.corpus import Corpus, count_words, from_words
from orthodrome.corpora.docstrings import python_docstrings
from orthodrome.corpora.mapped import MappedCorpus, open_mapped, write_mapped
from orthodrome.corpora.newsgroups import LabelledSet, newsgroups_set
from orthodrome.corpora.read import read_corpus
from orthodrome.corpora.stream import batches, weigh_texts
from orthodrome.corpora.tfidf import Frequency, frequency_of, nonempty, normalise, row_lengths, tfidf
from orthodrome.corpora.wikipedia import TrainTest, wikipedia_set

__all__ = [
    "Corpus",
    "Frequency",
    "LabelledSet",
    "MappedCorpus",
    "TrainTest",
    "batches",
    "count_words",
    "frequency_of",
    "from_words",
    "newsgroups_set",
    "nonempty",
    "normalise",
    "open_mapped",
    "python_docstrings",
    "read_corpus",
    "row_lengths",
    "tfidf",
    "weigh_texts",
    "wikipedia_set",
    "write_mapped",
]
