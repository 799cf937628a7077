"""Which mode of a network's posterior do the chains start in? Several starts are tried, and the best are kept.

The posterior of the eigenmodel has modes that differ in which directions of the network its columns describe: a chain
whose column has settled on noise, or on an attraction where a repulsion explains more, hardly ever leaves. For each
number q of positive eigenvalues the spectrum (`starts`) gives one candidate, the q largest eigenvalues and the p - q
smallest; random frames are added. From every candidate a short run of the model's own sampler is made. Its mean log
density fluctuates by about s = sqrt(dimension / 2), so candidates within NEAR s of the best are taken to be in modes
that count; the chains start where these ended, in turns, so that modes of about equal density are seen as chains that
disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.network.starts import near, split_spectrum

TRIED, LOOKED = 120, 30
"""The transitions from a candidate, all of them warm-up but the last."""
NEAR = 2.0
"""How far below the best a mean log density may be, in standard deviations of the log density."""

Start = dict[str, Any]


def candidates(edges: Reals, rank: int, link: str, restarts: int, seed: int, dtype: str) -> list[Start]:
    """Return a start for each number of positive eigenvalues, and some with random frames."""
    rng = np.random.default_rng([seed, 1])
    found = [near(split_spectrum(edges, rank, link, positive), rng) for positive in range(rank + 1)]
    _, _, intercept = split_spectrum(edges, rank, link, rank)
    for _ in range(restarts):
        frame = np.linalg.qr(rng.normal(size=(len(edges), rank)))[0]
        values = rng.normal(size=rank) * len(edges) ** 0.5  # the prior's
        found.append({"frame": frame, "eigenvalues": values, "intercept": np.array(intercept)})
    return [{name: np.asarray(value, dtype) for name, value in one.items()} for one in found]


def best_starts(tried: list[Start], draw: Callable[[list[Start]], Any], chains: int) -> list[Start]:
    """Return one start for each chain, from the candidates that a short run takes to the highest densities.

    draw: starts, one for each chain -> draws of a short run
    """
    ends, heights = [], []
    for first in range(0, len(tried), chains):
        # every run has all chains, the first candidates again if need be: one compiled program
        tree = draw([tried[i % len(tried)] for i in range(first, first + chains)])
        new = len(tried[first : first + chains])
        ends += _ends(tree)[:new]
        heights += np.asarray(tree["sample_stats"]["lp"], float).mean(axis=1)[:new].tolist()
    good = near_best(np.asarray(heights), dimension(ends[0]))
    return [ends[good[chain % len(good)]] for chain in range(chains)]


def near_best(heights: Reals, size: int) -> list[int]:
    """Return the numbers of the candidates whose mean log density is near the best, from the best on."""
    order = np.argsort(-heights)
    return [int(i) for i in order if heights[i] >= heights[order[0]] - NEAR * (size / 2) ** 0.5]


def dimension(start: Start) -> int:
    """Return the dimension of the posterior: of the frames, the eigenvalues and the intercept."""
    nodes, rank = start["frame"].shape
    return nodes * rank - rank * (rank + 1) // 2 + rank + 1


def _ends(tree: Any) -> list[Start]:
    last = {str(name): np.asarray(values)[:, -1] for name, values in tree["posterior"].data_vars.items()}
    return [{name: values[chain] for name, values in last.items()} for chain in range(tree["posterior"].sizes["chain"])]
