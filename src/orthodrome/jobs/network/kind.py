"""A network by few directions: the model, its tables and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.jobs import fitting
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.network.data import EdgeList, read_edges
from orthodrome.jobs.network.job import NetworkJob, check_job
from orthodrome.jobs.sampled.kind import Fitted, SampledFitting, folder_of
from orthodrome.jobs.sampled.result import NamedTable
from orthodrome.jobs.sampled.tempering import model_tempering
from orthodrome.models.network import NetworkEigenmodel

if TYPE_CHECKING:
    from rich.console import Console

FITS = folder_of(
    NetworkJob, "network", "network", ("parameters", "nodes", "likely-edges", "unlikely-edges"), ("network",)
)
MOST_PAIRS = 1000
"""Pairs in each table of edges."""


class NetworkFitting(SampledFitting[NetworkJob, EdgeList]):
    """The eigenmodel of a network."""

    @property
    def fits(self) -> FitFolder[NetworkJob]:
        return FITS

    def check(self, job: NetworkJob) -> None:
        check_job(job)

    def plain(self, data: EdgeList) -> dict[str, Any]:
        return data._asdict()

    def data(self, content: dict[str, Any]) -> EdgeList:
        pairs = {name: [tuple(pair) for pair in content[name]] for name in ("edges", "missing", "held_out")}
        return EdgeList(content["nodes"], pairs["edges"], pairs["missing"], pairs["held_out"])

    def announcement(self, job: NetworkJob, data: EdgeList) -> str:
        back = f", {len(data.held_out):,} pairs held out" if data.held_out else ""
        return f"{len(data.nodes):,} nodes, {len(data.edges):,} edges{back}; {job.rank} directions by {job.method}"

    def fitted(self, job: NetworkJob, data: EdgeList, progress: bool, saving: dict[str, Any]) -> NetworkEigenmodel:
        names = ("rank", "link", "method", "restarts", "num_steps", "num_chains", "num_warmup", "num_draws", "dtype")
        settings: dict[str, Any] = {name: getattr(job, name) for name in names}
        settings["tempering"] = model_tempering(job.tempering)
        model = NetworkEigenmodel(**settings, random_state=job.seed, progress=progress)
        return model.fit(data.matrix, nodes=data.nodes, **saving)

    def tables(self, job: NetworkJob, data: EdgeList, model: NetworkEigenmodel) -> dict[str, NamedTable]:
        likely, unlikely = surprising(data, model)
        return {
            "parameters": parameters(model),
            "nodes": nodes(model),
            "likely-edges": likely,
            "unlikely-edges": unlikely,
        }

    def numbers(self, job: NetworkJob, data: EdgeList, model: NetworkEigenmodel) -> dict[str, float]:
        found: dict[str, float] = {"nodes": len(data.nodes), "edges": len(data.edges), "tempered": model.tempered_}
        known = set(data.edges)
        joined = [pair in known for pair in data.held_out]
        if 0 < sum(joined) < len(joined):
            pairs = [(data.nodes[i], data.nodes[j]) for i, j in data.held_out]
            found["area under the ROC curve (held-out pairs)"] = model.score(pairs, joined)
        return found

    def figures(self, model: NetworkEigenmodel) -> dict[str, Any]:
        from orthodrome.plots.network import plot_network

        return {"network": plot_network(model)}


KIND = NetworkFitting()


def fit(job: NetworkJob, path: Path, folder: Path, console: Console, progress: bool = True) -> Fitted:
    """Fit the network of a file in a new folder."""
    return fitting.fit(KIND, job, lambda: read_edges(job, path), folder, console, progress)


def parameters(model: NetworkEigenmodel) -> NamedTable:
    """Return the eigenvalues and the intercept with 90 % intervals."""
    posterior = model.draws_["posterior"]
    columns = np.asarray(posterior["eigenvalues"], float)
    named = {f"eigenvalue {k}": columns[..., k] for k in range(columns.shape[-1])}
    named["intercept"] = np.asarray(posterior["intercept"], float)
    rows: list[list[Any]] = []
    for name, values in named.items():
        low, high = np.quantile(values, (0.05, 0.95))
        rows.append([name, float(values.mean()), float(values.std()), float(low), float(high)])
    return NamedTable(("parameter", "mean", "sd", "low", "high"), rows)


def nodes(model: NetworkEigenmodel) -> NamedTable:
    """Return a row per node: its edges, the edges expected, and its coordinate in every direction."""
    known = np.isfinite(model.edges_) & ~np.eye(len(model.nodes_), dtype=bool)
    degree = np.where(known, np.nan_to_num(model.edges_), 0).sum(axis=1)
    expected = np.where(known, model.edge_probability_, 0).sum(axis=1)
    head = ("node", "edges", "expected", *(f"column_{k}" for k in range(model.frame_.shape[1])))
    rows = [
        [str(name), int(degree[i]), float(expected[i]), *map(float, model.frame_[i])]
        for i, name in enumerate(model.nodes_)
    ]
    return NamedTable(head, rows)


def surprising(data: EdgeList, model: NetworkEigenmodel) -> tuple[NamedTable, NamedTable]:
    """Return the pairs without a known edge that are most likely joined, and the edges that are least likely."""
    i, j = np.triu_indices(len(data.nodes), 1)
    chance, seen = model.edge_probability_[i, j], model.edges_[i, j]
    without, joined = np.flatnonzero(seen != 1), np.flatnonzero(seen == 1)
    likely = without[np.argsort(-chance[without], kind="stable")][:MOST_PAIRS]
    unlikely = joined[np.argsort(chance[joined], kind="stable")][:MOST_PAIRS]
    head = ("node", "other", "probability", "known")
    table = lambda chosen: NamedTable(
        head, [[data.nodes[i[n]], data.nodes[j[n]], float(chance[n]), int(np.isfinite(seen[n]))] for n in chosen]
    )
    return table(likely), table(unlikely)
