"""The result of a fit as plain arrays, from which all files, figures and tables are made.

family      of the fit
clusters    see `summary.Clusters`
sample      some rows in the order of their clusters, and `pairs`, the probabilities that any two of them are together
traces      name -> (iterations, values (chain, iteration))
numbers     what one line of a table would hold: clusters, concentration, seconds
verdict     whether the draws can be trusted, as the report page says it
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.errors import CheckpointError
from orthodrome.jobs.cluster.profiles import PROFILES
from orthodrome.jobs.cluster.summary import Clusters, DrawSummary
from orthodrome.storage import files

Traces = dict[str, tuple[np.ndarray, np.ndarray]]
PLAIN = ("labels", "probability", "other", "other_probability", "sizes", "overall", "together")


class ClusterResult(NamedTuple):
    """The clusters, some pairs of rows, and the statistics of the run; see the module for the fields."""

    family: str
    clusters: Clusters
    sample: np.ndarray
    pairs: Reals
    traces: Traces
    numbers: dict[str, float]
    verdict: str = ""

    def top(self, cluster: int, count: int) -> np.ndarray:
        """Return the entries of a cluster's profile that say most about it."""
        line, overall = self.clusters.profiles.mean[cluster], self.clusters.overall
        return np.argsort(-PROFILES[self.family].importance(line, overall), kind="stable")[:count]


def save_result(result: ClusterResult, folder: Path) -> None:
    """Save the arrays in result.npz and the numbers in summary.json."""
    found = result.clusters
    arrays: dict[str, Any] = {name: getattr(found, name) for name in PLAIN}
    arrays |= {"sample": result.sample, "pairs": result.pairs}
    for name in ("weights", "profiles"):
        arrays |= {f"{name}/{part}": values for part, values in getattr(found, name)._asdict().items()}
    for name, (at, values) in result.traces.items():
        arrays |= {f"trace/{name}/at": at, f"trace/{name}/values": values}
    files.write_arrays(folder / "result.npz", arrays)
    files.write_json(folder / "summary.json", {**result.numbers, "verdict": result.verdict})


def load_result(folder: Path, family: str) -> ClusterResult:
    """Load what `save_result` wrote, or raise if the fit is not finished."""
    try:
        arrays = files.read_arrays(folder / "result.npz")
        numbers = json.loads((folder / "summary.json").read_text("utf-8"))
    except FileNotFoundError:
        raise CheckpointError(
            f"the fit in {folder} is not finished; go on with `orthodrome cluster resume {folder}`"
        ) from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"the result in {folder} cannot be read ({error}); fit again in a new folder") from error
    over = lambda name: DrawSummary(*(arrays[f"{name}/{part}"] for part in DrawSummary._fields))
    clusters = Clusters(weights=over("weights"), profiles=over("profiles"), **{name: arrays[name] for name in PLAIN})
    named = [name.split("/")[1] for name in arrays if name.startswith("trace/") and name.endswith("/at")]
    traces = {name: (arrays[f"trace/{name}/at"], arrays[f"trace/{name}/values"]) for name in named}
    verdict = numbers.pop("verdict", "")
    return ClusterResult(family, clusters, arrays["sample"], arrays["pairs"], traces, numbers, verdict)
