"""Traces and rank plots: the path of each chain, and how its ranks among all draws are spread.

If all chains draw from one law, the ranks of each chain's draws among those of all chains are uniform (Vehtari et al.
2021); a chain that is too high, too low or too narrow shows as a slope, a hill or a valley. The numbers with the worst
R-hat of every variable are shown, with the statistics of the sampler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import orthodrome.diagnostics.convergence as convergence
from orthodrome.diagnostics.movement import moved
from orthodrome.report.packing import packed
from orthodrome.report.pictures.labels import array_of, element_names, flat_draws
from orthodrome.report.section import Section, TableTwin

if TYPE_CHECKING:
    import xarray

POINTS = 400
"""The largest number of points of a trace."""
BINS = 20
"""The bins of a rank plot."""
MOST_CHAINS = 8
"""The largest number of chains that are drawn."""
EACH, MOST = 6, 40
"""The largest number of traces of one variable, and of all."""
STATISTICS = ("lp", "energy", "acceptance_rate", "temperature", "log_perplexity", "perplexity", "score", "cosine")
TEXT = (
    "Left: the draws of each chain, which should look alike and wander around one level. Right: the ranks of each "
    "chain's draws among those of all chains, which should be flat within the grey band. The numbers that agree least "
    "come first."
)


class Traced(NamedTuple):
    """A number that is traced: its name, its R-hat and its draws (chain, draw)."""

    name: str
    rhat: float
    values: np.ndarray


def traces(tree: xarray.DataTree) -> Section | None:
    """Return the section of traces; None if there is nothing to trace."""
    if tree["posterior"].sizes["draw"] < 2:
        return None
    listed = sorted(_parameters(tree), key=lambda one: -np.nan_to_num(one.rhat, nan=0.0))[:MOST]
    listed += _statistics(tree)
    if not listed:
        return None
    head = ("number", "R-hat", "chain", "mean", "sd", "5 %", "95 %")
    rows = [row for one in listed for row in _rows(one)]
    data = {"traces": [_content(one) for one in listed], "draws": tree["posterior"].sizes["draw"]}
    return Section("traces", "Traces and ranks", TEXT, data, TableTwin("The chains of every traced number", head, rows))


def _parameters(tree: xarray.DataTree) -> list[Traced]:
    found = []
    for values in moved(tree).data_vars.values():
        flat = flat_draws(values)
        some = np.unique(np.linspace(0, flat.shape[-1] - 1, min(flat.shape[-1], convergence.MOST)).astype(int))
        rhat = np.atleast_1d(convergence.rhat(flat[..., some])) if flat.shape[1] >= 4 else np.full(some.size, np.nan)
        worst = np.argsort(-np.nan_to_num(rhat, nan=0.0), kind="stable")[:EACH]
        names = element_names(values, some[worst])
        found += [
            Traced(n, float(rhat[i]), flat[..., some[i]].astype(float)) for n, i in zip(names, worst, strict=True)
        ]
    return found


def _statistics(tree: xarray.DataTree) -> list[Traced]:
    stats: Any = tree["sample_stats"] if "sample_stats" in tree.children else {}
    found = []
    for name in STATISTICS:
        if name in stats and stats[name].ndim == 2 and np.isfinite(array_of(stats[name])).any():
            found.append(Traced(name.replace("_", " "), float("nan"), array_of(stats[name])))
    return found


def _content(one: Traced) -> dict[str, Any]:
    values = one.values[:MOST_CHAINS]
    some = np.unique(np.linspace(0, values.shape[1] - 1, min(values.shape[1], POINTS)).astype(int))
    return {
        "name": one.name,
        "rhat": one.rhat,
        "values": packed(values[:, some]),
        "at": [int(some[0]), int(some[-1])],
        "ranks": rank_counts(one.values)[:MOST_CHAINS],
    }


def rank_counts(values: np.ndarray) -> np.ndarray:
    """Return, for each chain, how many of its draws fall into each of `BINS` equal ranges of ranks among all draws."""
    from scipy.stats import rankdata

    ranks = rankdata(values, method="average", axis=None, nan_policy="omit").reshape(values.shape)
    share = (ranks - 0.5) / np.isfinite(values).sum()
    known = np.isfinite(share)
    bins = np.where(known, np.clip(np.floor(np.where(known, share, 0) * BINS), 0, BINS - 1), -1).astype(int)
    return np.stack([np.bincount(row[row >= 0], minlength=BINS) for row in bins])


def _rows(one: Traced) -> list[list[Any]]:
    rows = []
    for chain, values in enumerate(one.values):
        known = values[np.isfinite(values)]
        if known.size:
            low, high = np.quantile(known, (0.05, 0.95))
            rows.append([one.name, one.rhat, chain, known.mean(), known.std(), low, high])
    return rows
