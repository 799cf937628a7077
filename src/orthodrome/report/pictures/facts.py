"""What was run: the sampler, the spaces, the lengths, the seed, the versions and the settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import short, shown
from orthodrome.report.section import Section

if TYPE_CHECKING:
    import xarray

NAMED = {
    "sampler": "sampler",
    "manifold": "space",
    "seed": "seed",
    "tuning_steps": "warm-up transitions",
    "thin": "transitions per draw",
    "warmup_time": "seconds of warm-up",
    "sampling_time": "seconds of drawing",
    "ended": "ended",
    "created_at": "written",
    "inference_library_version": "version of orthodrome",
}
"""The attributes of the draws that are shown, and what they are called."""


def facts(tree: xarray.DataTree, settings: dict[str, Any] | None) -> Section:
    """Return the section of what was run."""
    sizes = tree["posterior"].sizes
    rows: list[tuple[str, Any]] = [("chains", sizes["chain"]), ("draws per chain", sizes["draw"])]
    rows += [(name, text_of(tree.attrs[key])) for key, name in NAMED.items() if tree.attrs.get(key) not in (None, "")]
    kinds = json.loads(tree.attrs.get("manifolds", "{}"))
    variables = [[short(name), shape_text(values), kinds.get(name, "")] for name, values in of_posterior(tree)]
    own = [(name, "default" if value is None else text_of(value)) for name, value in (settings or {}).items()]
    data = {"run": rows, "variables": variables, "settings": own}
    return Section("facts", "What was run", "The settings with which the same draws are made again.", data)


def of_posterior(tree: xarray.DataTree) -> list[tuple[str, Any]]:
    """Return the variables of the posterior by name."""
    return [(str(name), values) for name, values in tree["posterior"].data_vars.items()]


def shape_text(values: Any) -> str:
    """Return the shape of one draw in words."""
    own = [(str(dim), size) for dim, size in values.sizes.items() if dim not in ("chain", "draw")]
    return " by ".join(f"{size:,} ({short(name)})" for name, size in own) or "a number"


def text_of(value: Any) -> str:
    """Return a setting as a text that is safe to show."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else shown(str(value))[:400]
