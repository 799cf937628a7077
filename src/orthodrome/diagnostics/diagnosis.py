"""`diagnose`: is the run sound, and if not, what is wrong and what to do.

R-hat and ESS (Vehtari et al. 2021) of every coordinate and, on spheres and frames, of the invariants x x';
divergences; the energy fraction E-BFMI (Betancourt 2016); the largest distance from the manifold; whether the chains
moved at all, and how many of their moves were accepted (`movement`); with stochastic gradients the temperature, on
average and along the worst direction (`temperature`); draws at which a metric was not positive definite (`indefinite`).
Where chains disagree, `agreement` asks why. Draws of a run with decreasing steps are weighted by them (`weights`).
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np

import orthodrome.diagnostics.convergence as convergence
from orthodrome.diagnostics.agreement import disagreement
from orthodrome.diagnostics.divergences import divergence_problem
from orthodrome.diagnostics.given import check_draws
from orthodrome.diagnostics.indefinite import closed_problem, indefinite_problem
from orthodrome.diagnostics.movement import acceptance_problems, moved, movement_problems
from orthodrome.diagnostics.summaries import AXES, Summary, summary
from orthodrome.diagnostics.temperature import Temperature, temperature_of, temperature_problem
from orthodrome.diagnostics.weights import at_equal_times, falling_steps
from orthodrome.manifolds import manifold_named

if TYPE_CHECKING:
    import xarray

__all__ = ["Diagnosis", "Summary", "diagnose", "summary"]

ESS_PER_CHAIN, BFMI = 100, 0.3
DISTANCE = {"float32": 1e-4, "float64": 1e-8}
COLUMNS = "rhat", "ess_bulk", "ess_tail", "mcse", "rhat_invariant", "ess_invariant"
WIDTHS = {column: 2 + max(9, len(column)) for column in COLUMNS}
"""The width of every column where a diagnosis is printed: that of a number or of the title, and two spaces."""


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a run: `ok`, the `problems` with their remedies, and the figures of every variable, the worst
    over its elements."""

    problems: tuple[str, ...]
    variables: dict[str, dict[str, float]]
    divergences: int
    bfmi: float
    distance: float
    temperature: Temperature | None = None

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """The problems and their remedies as one paragraph."""
        return (
            " ".join(self.problems)
            if self.problems
            else "Nothing looks wrong: chains agree, and there are enough draws."
        )

    def __repr__(self) -> str:
        width = max(len(name) for name in [*self.variables, "variable"])
        lines = [f"{'variable':<{width}}" + "".join(f"{column:>{WIDTHS[column]}}" for column in COLUMNS)]
        for name, row in self.variables.items():
            numbers = (f"{row.get(column, float('nan')):>{WIDTHS[column]}.4g}" for column in COLUMNS)
            lines.append(f"{name:<{width}}" + "".join(numbers))
        lines.append(f"divergences {self.divergences}, E-BFMI {self.bfmi:.2f}, off the manifold by {self.distance:.1e}")
        lines += [] if self.temperature is None else [str(self.temperature)]
        return "\n".join([*lines, self.verdict])


def diagnose(tree: xarray.DataTree) -> Diagnosis:
    """Return what the draws of a run say about its convergence: movement, R-hat, ESS, divergences and temperature.

    tree: the draws that `sample` returns, or `draws_` of a fitted model
    """
    check_draws(tree)
    kinds, posterior, stats = json.loads(tree.attrs.get("manifolds", "{}")), moved(tree), tree["sample_stats"]
    arrays = {str(n): np.asarray(v.transpose("chain", "draw", ...)) for n, v in posterior.data_vars.items()}
    steps = falling_steps(tree)
    timed = {name: at_equal_times(values, steps) for name, values in arrays.items()}
    variables = {name: _variable(values, kinds.get(name, "")) for name, values in timed.items()}
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else 0
    bfmi = convergence.least(convergence.bfmi(np.asarray(stats["energy"]))) if "energy" in stats else float("nan")
    distance = float(stats["distance"].max()) if "distance" in stats else float("nan")
    chains, num_draws = next(iter(arrays.values())).shape[:2]
    temperature = temperature_of(tree)
    problems = [
        *movement_problems(arrays, kinds),
        *acceptance_problems(stats, float(tree.attrs.get("target_acceptance", "nan"))),
        *(text for name, row in variables.items() for text in _variable_problems(name, timed[name], row, chains)),
        *([divergence_problem(divergences, chains * num_draws, arrays, kinds)] if divergences else []),
        *_run_problems(bfmi, distance, stats),
        *_sentences(temperature_problem(temperature), indefinite_problem(stats), closed_problem(stats)),
    ]
    return Diagnosis(tuple(problems), variables, divergences, bfmi, distance, temperature)


def _variable(values: np.ndarray, kind: str) -> dict[str, float]:
    numbers = convergence.chosen(values)
    row = {
        "rhat": convergence.most(convergence.rhat(numbers)),
        "ess_bulk": convergence.least(convergence.ess(numbers)),
        "ess_tail": convergence.least(convergence.ess(numbers, "tail")),
        "mcse": convergence.most(convergence.mcse(numbers)),
    }
    manifold, axes = manifold_named(kind), kind == AXES
    if manifold.mirrored or axes:
        columns = np.swapaxes(values, -1, -2) if axes else values  # of axes each column for itself
        products = convergence.invariants(columns, 1 if axes else manifold.point_ndim)
        row["rhat_invariant"] = convergence.most(convergence.rhat(products))
        row["ess_invariant"] = convergence.least(convergence.ess(products))
    return row


def _variable_problems(name: str, values: np.ndarray, row: dict[str, float], chains: int) -> list[str]:
    text = disagreement(name, values, row)
    if text is not None:
        return [text]
    if min(row["ess_bulk"], row["ess_tail"]) < ESS_PER_CHAIN * chains:
        fewest = min(row["ess_bulk"], row["ess_tail"])
        return [f"{name}: only {fewest:.0f} effective draws (wanted: {ESS_PER_CHAIN} per chain): draw longer."]
    return []


def _sentences(*texts: str | None) -> list[str]:
    return [f"{text[0].upper()}{text[1:]}." for text in texts if text is not None]


def _run_problems(bfmi: float, distance: float, stats: Any) -> list[str]:
    found = []
    if bfmi < BFMI:
        found.append(
            f"E-BFMI is {bfmi:.2f} (below {BFMI}): the energy mixes slowly; heavy tails or a funnel: reparametrise."
        )
    limit = DISTANCE.get(str(stats["distance"].dtype), np.inf) if "distance" in stats else np.inf
    if distance > limit:
        found.append(
            f"draws are off the manifold by {distance:.0e} (tolerance {limit:.0e}): report this, or use float64."
        )
    return found
