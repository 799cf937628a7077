"""Settings of a run, chosen from the rows where the user gives none, and what the settings may be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthodrome import doors
from orthodrome.core.machine import physical_memory
from orthodrome.errors import BadInput
from orthodrome.models.mixture.doors import FAMILIES
from orthodrome.models.mixture.updates import (
    ComponentUpdate,
    GaussianSGHMC,
    GaussianSGLD,
    SimplexSCIR,
    SimplexSGRLD,
    SphereGSGNHT,
    SphereSGGMC,
)

UPDATES: dict[str, dict[str, ComponentUpdate]] = {
    "gaussian": {"sghmc": GaussianSGHMC(), "sgld": GaussianSGLD()},
    "multinomial": {"scir": SimplexSCIR(), "sgrld": SimplexSGRLD()},
    "categorical": {"scir": SimplexSCIR(), "sgrld": SimplexSGRLD()},
    "vmf": {"gsgnht": SphereGSGNHT(), "sggmc": SphereSGGMC()},
}
"""Stochastic methods by family, the default one first."""
STEPS = {"scir": 0.1, "sgrld": 1e-3, "sghmc": 0.1, "sgld": 0.1, "gsgnht": 0.1, "sggmc": 0.1, "gibbs": 0.0}
STICK_STEPS = {"sgrld": 5e-3}
"""h of parameters, and of sticks where SGRLD moves them; otherwise 0.1."""
CAPACITY, LARGEST = 256, 1 << 30
"""Components that a chain can hold, and bytes that its draws may take."""
WORKING = 6
"""Arrays of the size of a draw that a chain works with."""
BATCH, WARMUP, DRAWS = 1_000, {"gibbs": 100, "stochastic": 1_000}, 50
MOVES = 5
"""Proposals of a split or a merge at a time."""

COUNTS = ("n_clusters_init", "max_components", "batch_size", "num_draws", "thin", "total_rows")
POSITIVE = (
    *("concentration", "category_prior", "mean_precision_prior", "degrees_of_freedom_prior"),
    *("step_size", "stick_step_size"),
)


class MixtureSettings(NamedTuple):
    """What is used, whether given or chosen."""

    method: str
    batch_size: int
    step_size: float
    stick_step_size: float
    n_clusters_init: int
    max_components: int
    split_merge: int
    label_swaps: int
    control_variates: bool
    num_warmup: int
    num_draws: int
    thin: int


def check_settings(model: Any) -> None:
    """Refuse what cannot be right, before anything is computed."""
    doors.check_choice("family", model.family, FAMILIES)
    methods = ("auto", "gibbs", *UPDATES[model.family])
    if not isinstance(model.method, str) or model.method not in methods:
        raise BadInput(
            f"method is {model.method!r:.60}; with family={model.family!r} it must be one of "
            f"{', '.join(map(repr, methods))}"
        )
    doors.check_whole("num_chains", model.num_chains, 1)
    for names, least in ((COUNTS, 1), (("num_warmup", "split_merge", "label_swaps"), 0), (("n_jobs",), -1)):
        for name in names:
            if getattr(model, name) is not None:
                doors.check_whole(name, getattr(model, name), least)
    for name in POSITIVE:
        if getattr(model, name) is not None:
            doors.check_positive(name, getattr(model, name))
    if not isinstance(model.control_variates, bool | np.bool_):
        raise BadInput(f"control_variates is {model.control_variates!r:.60}; it must be True or False")
    for name in ("concentration_prior", "kappa_range"):
        check_pair(name, getattr(model, name))
    if not model.kappa_range[0] < model.kappa_range[1]:
        raise BadInput(f"kappa_range is {model.kappa_range!r}; the first number must be the smaller one")


def check_pair(name: str, pair: Any) -> None:
    """Refuse what is not two positive numbers."""
    two = isinstance(pair, tuple | list | np.ndarray) and len(pair) == 2
    try:
        for value in pair if two else ():
            doors.check_positive(name, value)
    except BadInput:
        two = False
    if not two:
        raise BadInput(f"{name} is {pair!r:.60}; it must be two positive numbers")


def settings_for(model: Any, count: int, numbers: int, streams: bool = False) -> MixtureSettings:
    """Return the settings of a model for `count` rows and components of so many numbers; streams: they are a part."""
    pick = lambda name, chosen: chosen if getattr(model, name) is None else getattr(model, name)
    first = next(iter(UPDATES[model.family]))
    method = (first if streams else "gibbs") if model.method == "auto" else model.method
    gibbs = method == "gibbs"
    draws = int(pick("num_draws", DRAWS))
    room = max(8, LARGEST // (8 * max(1, numbers) * draws * int(model.num_chains)))
    moves = int(pick("split_merge", MOVES))
    # splits find clusters sooner than single rows leave superfluous ones
    clusters = int(pick("n_clusters_init", 1 if gibbs and moves else min(20, max(1, count // 5))))
    capacity = int(pick("max_components", min(max(CAPACITY, 2 * clusters), room)))
    if clusters > capacity:
        raise BadInput(f"n_clusters_init is {clusters}, more than max_components = {capacity}")
    check_memory(capacity, numbers, draws * int(model.num_chains))
    return MixtureSettings(
        method,
        min(count, int(pick("batch_size", count if gibbs or streams else BATCH))),
        float(pick("step_size", STEPS[method])),
        float(pick("stick_step_size", STICK_STEPS.get(method, 0.1))),
        clusters,
        capacity,
        moves,
        int(pick("label_swaps", 0 if gibbs else 5)),
        bool(model.control_variates) and not gibbs and not streams,
        int(pick("num_warmup", 0 if streams else WARMUP["gibbs" if gibbs else "stochastic"])),
        draws,
        int(pick("thin", 1 if gibbs else 10)),
    )


def check_memory(capacity: int, numbers: int, draws: int) -> None:
    """Refuse components that the memory cannot hold: those of the draws, and a few more for the chain itself."""
    needed, there = 8 * capacity * max(1, numbers) * (draws + WORKING), physical_memory()
    if needed > there:
        raise BadInput(
            f"max_components is {capacity}: with {numbers} numbers for each component, {draws} draws take "
            f"{needed / 2**30:.3g} GiB, but the machine has {there / 2**30:.3g}. Set a smaller "
            "max_components or num_draws"
        )
