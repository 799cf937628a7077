"""One line at the end of a run that did not converge: a quick look (`quick`), where `diagnose` looks at everything.

The rule: a run of at least FEWEST draws a chain is told

    if no chain ever moved,
    if an R-hat is above RHAT,
    if a variable has fewer effective draws than a tenth of the draws or, in longer runs, ESS for each chain,
    if more than one draw in a hundred diverged,
    if the temperature of stochastic gradients is surely wrong, on average or along any direction (`temperature`),
    if a metric was not positive definite at any draw, or on the way of more than one exact move in a hundred
    (`indefinite`).

All of these are problems to `diagnose` too, whose limits are stricter. The R-hat and ESS of shorter runs are mostly
noise, and left alone.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import orthodrome.diagnostics.convergence as convergence
from orthodrome.diagnostics.indefinite import closed_problem, indefinite_problem
from orthodrome.diagnostics.movement import moved
from orthodrome.diagnostics.quick import look, quick_ess, quick_rhat
from orthodrome.diagnostics.temperature import temperature_of, temperature_problem
from orthodrome.errors import NotConverged

if TYPE_CHECKING:
    import xarray

FEWEST, RHAT, DIVERGED = 100, 1.05, 0.01
SHARE, ESS = 0.1, 100
"""Each chain should have this share of its draws as effective draws, but need not have more than ESS."""


def warn_not_converged(tree: xarray.DataTree, stacklevel: int = 2) -> None:
    """Warn, in one line, if a run did not converge."""
    found = objections(tree)
    if found:
        text = f"the run did not converge: {'; '.join(found)}; `diagnose(draws)` says more"
        warnings.warn(text, NotConverged, stacklevel=stacklevel + 1)


def objections(tree: xarray.DataTree) -> list[str]:
    """Return what speaks against a run, in few words."""
    heat = temperature_problem(temperature_of(tree))
    stats: Any = tree["sample_stats"] if "sample_stats" in tree.children else {}
    told = (heat, indefinite_problem(stats), closed_problem(stats, DIVERGED))
    found = [text for text in told if text is not None]
    return found + (_chains(tree) if tree["posterior"].sizes.get("draw", 0) >= FEWEST else [])


def _chains(tree: xarray.DataTree) -> list[str]:
    posterior, kinds = moved(tree), json.loads(tree.attrs.get("manifolds", "{}"))
    looks = {str(name): look(values, kinds.get(name, "")) for name, values in posterior.data_vars.items()}
    if looks and all(np.all(values == values[:, :1]) for values in looks.values()):
        return ["no chain ever moved"]
    few = _few(looks, posterior.sizes["chain"], posterior.sizes["draw"])
    return _disagreement(looks) + few + _diverged(tree["sample_stats"] if "sample_stats" in tree.children else {})


def _disagreement(looks: dict[str, np.ndarray]) -> list[str]:
    worst = {name: np.nan_to_num(convergence.most(quick_rhat(values)), nan=0.0) for name, values in looks.items()}
    name = max(worst, key=lambda n: worst[n], default="")
    return [f"R-hat is {worst[name]:.2f} for {name}"] if name and worst[name] > RHAT else []


def _few(looks: dict[str, np.ndarray], chains: int, draws: int) -> list[str]:
    least = {name: np.nan_to_num(convergence.least(quick_ess(values)), nan=np.inf) for name, values in looks.items()}
    name = min(least, key=lambda n: least[n], default="")
    wanted = chains * min(ESS, SHARE * draws)
    return [f"only {least[name]:.0f} effective draws for {name}"] if name and least[name] < wanted else []


def _diverged(stats: Any) -> list[str]:
    if "diverging" not in stats:
        return []
    share = float(np.mean(np.asarray(stats["diverging"])))
    return [f"{share:.0%} of the draws diverged"] if share > DIVERGED else []
