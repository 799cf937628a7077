"""Topics of Python's own documentation.

Latent Dirichlet allocation of the standard library's docstrings (no download): words of
ten topics with the spread of the draws.
"""

import sys

from orthodrome import LDA
from orthodrome.corpora import python_docstrings
from orthodrome.plots import plot_topics


def figure():
    corpus = python_docstrings()
    model = LDA(10, num_warmup=60, num_draws=20, random_state=0, progress=False)
    model.fit(corpus.counts, vocabulary=corpus.vocabulary)
    return plot_topics(model, corpus.counts)


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
