"""Perplexity against time.

Two samplers of the same topic model on the same held-out documents: Gibbs sweeps over
all documents, and SCIR with minibatches.
"""

import sys

import numpy as np

from orthodrome import LDA
from orthodrome.corpora import python_docstrings
from orthodrome.plots import plot_perplexity


def figure():
    counts = python_docstrings().counts
    test = np.arange(counts.shape[0]) % 10 == 0
    settings = {"num_warmup": 20, "num_draws": 60, "random_state": 0, "progress": False}
    runs = {}
    for method in ("gibbs", "scir"):
        model = LDA(6, method=method, **settings).fit(
            counts[~test], held_out=counts[test]
        )
        runs[method] = model.draws_
    return plot_perplexity(runs)


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
