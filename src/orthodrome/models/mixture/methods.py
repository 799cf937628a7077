"""From the settings of `DirichletProcessMixture` to the sampler of its method."""

from __future__ import annotations

from typing import Any

from orthodrome.models.mixture.components import Components
from orthodrome.models.mixture.defaults import UPDATES, MixtureSettings
from orthodrome.models.mixture.gibbs import MixtureGibbs
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureSampler, ScoreWatch
from orthodrome.models.mixture.stochastic import StochasticMixture

LOOKS = 50
"""How often held-out rows are looked at in a run."""


def sampler_of(
    model: Any,
    settings: MixtureSettings,
    components: Components,
    data: Any,
    *,
    total: int | None = None,
    watch: ScoreWatch | None = None,
) -> MixtureSampler:
    """Return the sampler that the settings ask for; total: the number of rows that these stand for."""
    fixed, (shape, rate) = model.concentration is not None, model.concentration_prior
    problem = MixtureProblem(
        components,
        data,
        float(model.concentration) if fixed else 1.0,
        None if fixed else (float(shape), float(rate)),
        settings.n_clusters_init,
        settings.max_components,
        settings.num_warmup,
        data.count if total is None else total,
        watch,
    )
    if settings.method == "gibbs":
        return MixtureGibbs(problem, settings.split_merge or None, settings.batch_size)
    update = UPDATES[model.family][settings.method]
    every = max(1, -(-data.count // settings.batch_size)) if settings.split_merge else None
    steps = (settings.batch_size, settings.step_size, settings.stick_step_size)
    moves = (settings.split_merge or None, every, settings.label_swaps or None)
    return StochasticMixture(problem, update, *steps, *moves, settings.control_variates)


def watch_of(settings: MixtureSettings, rows: Any) -> ScoreWatch:
    """Return the watch on held-out rows in a run."""
    total = settings.num_warmup + settings.num_draws * settings.thin
    return ScoreWatch(rows, max(1, total // LOOKS), total)
