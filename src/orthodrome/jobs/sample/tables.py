"""The tables of a run: every variable with its convergence, and every number with its interval."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from orthodrome.diagnostics.diagnosis import Diagnosis
from orthodrome.jobs.sampled.result import NamedTable

MOST = 20_000
"""Numbers in the table; the draws have all of them."""
COLUMNS = ("rhat", "ess_bulk", "ess_tail", "mcse")
TRACED = 5
"""Numbers whose traces are drawn beside the log density."""


def variables(tree: Any, diagnosis: Diagnosis) -> NamedTable:
    """Return a row per variable: its space, its shape and the worst of its convergence."""
    kinds = json.loads(tree.attrs.get("manifolds", "{}"))
    rows: list[list[Any]] = []
    for name, values in tree["posterior"].dataset.data_vars.items():
        row = diagnosis.variables.get(str(name), {})
        size = "x".join(map(str, values.shape[2:])) or "1"
        rows.append([str(name), kinds.get(name, ""), size, *(float(row.get(key, np.nan)) for key in COLUMNS)])
    return NamedTable(("variable", "manifold", "size", *COLUMNS), rows)


def numbers(tree: Any) -> NamedTable:
    """Return a row per number: mean, standard deviation and 90 % interval."""
    rows: list[list[Any]] = []
    for name, one in each_number(tree, MOST):
        low, median, high = np.quantile(one, (0.05, 0.5, 0.95))
        rows.append([name, float(one.mean()), float(one.std()), float(low), float(median), float(high)])
    return NamedTable(("number", "mean", "sd", "low", "median", "high"), rows)


def each_number(tree: Any, most: int) -> Any:
    """Yield the name and the draws (chain, draw) of every number, the first `most` of them."""
    left = most
    for name, values in tree["posterior"].dataset.data_vars.items():
        draws = np.asarray(values.transpose("chain", "draw", ...), float)
        for index in np.ndindex(draws.shape[2:]):
            if not left:
                return
            left -= 1
            label = f"[{','.join(map(str, index))}]" if index else ""
            yield f"{name}{label}", draws[(slice(None), slice(None), *index)]


def traces(tree: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the traces of the log density and of some numbers."""
    found: dict[str, np.ndarray] = {}
    stats = tree["sample_stats"].dataset if "sample_stats" in tree else {}
    if "lp" in stats and np.isfinite(stats["lp"]).any():
        found["log density"] = np.asarray(stats["lp"], float)
    found |= dict(each_number(tree, TRACED))
    return {name: (np.arange(values.shape[1]), values) for name, values in found.items()}
