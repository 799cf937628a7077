"""Two clouds of directions.

A mixture of two von Mises-Fisher laws, fitted by `Directional`: data, mean directions,
and the regions that hold 50, 90 and 99 per cent of the predictive law.
"""

import sys

import numpy as np

from orthodrome import Directional
from orthodrome.plots import plot_directional


def figure():
    random = np.random.default_rng(0)
    one = np.array([1.0, 0.0, 0.0]) + 0.3 * random.normal(size=(90, 3))
    other = np.array([0.0, 0.6, 0.8]) + 0.15 * random.normal(size=(40, 3))
    rows = np.concatenate([one, other])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    model = Directional(
        "mixture",
        components=2,
        method="hmc",
        num_chains=2,
        num_warmup=300,
        num_draws=300,
    )
    return plot_directional(model.fit(rows))


if __name__ == "__main__":
    figure().savefig(sys.argv[1], dpi=130)
