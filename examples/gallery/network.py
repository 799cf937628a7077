"""A network with two camps.

`NetworkEigenmodel`: edges, their fitted probabilities, the nodes' positions, and the
traces of the eigenvalue.
"""

import sys

import numpy as np

from orthodrome import NetworkEigenmodel
from orthodrome.plots import plot_network


def figure():
    side = np.repeat([1, -1], 12)
    likely = np.where(np.outer(side, side) > 0, 0.7, 0.1)
    edges = np.triu(np.random.default_rng(0).uniform(size=likely.shape) < likely, 1)
    steps = {"frame": 0.05, "eigenvalues": 1.0, "intercept": 0.05}
    model = NetworkEigenmodel(
        rank=1,
        step_size=steps,
        num_steps=5,
        num_chains=2,
        num_warmup=200,
        num_draws=200,
    )
    return plot_network(model.fit((edges | edges.T).astype(float)))


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
