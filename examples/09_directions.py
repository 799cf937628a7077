"""Two clouds of directions: a mixture of von Mises-Fisher laws, and the picture of it.

Run: python examples/09_directions.py [--out figure.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from orthodrome import Directional

rng = np.random.default_rng(0)
clouds = [centre + spread * rng.normal(size=(n, 3)) for centre, spread, n in (
    (np.array([1.0, 0.0, 0.0]), 0.3, 90),
    (np.array([0.0, 0.6, 0.8]), 0.15, 40),
)]  # fmt: skip
directions = np.concatenate(clouds)
directions /= np.linalg.norm(directions, axis=1, keepdims=True)

model = Directional("mixture", components=2, method="hmc", num_chains=2, num_warmup=300, num_draws=300)
model.fit(directions)
print(model.summary())
assigned = model.predict_proba(directions).argmax(axis=1)
print(f"{np.mean(assigned == np.repeat([0, 1], [90, 40])):.1%} of the rows are with their own cloud")

parser = argparse.ArgumentParser()
parser.add_argument("--out", type=Path)
out = parser.parse_args().out
if out is not None:
    from orthodrome.plots.directional import plot_directional

    plot_directional(model).savefig(out, dpi=150)
