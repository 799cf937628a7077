"""Whether a mixture can do without one of its clusters, if all others may change: for the search of a start.

Where three clusters share the rows of two, no pair of them is one cluster, and no merge helps. So a cluster is left
out, its rows join the others, and all rows are redistributed a number of times given typical parameters. The result is
compared with what was there by an estimate of the marginal likelihood of the rows: for any labels z,

    log p(x) = log p(z) + sum_k log m(S_k) - log p(z | x),
    p(z | x) ~ prod_i r_i,    r_i = w_{z_i} f(x_i | theta_{z_i}) / sum_k w_k f(x_i | theta_k),

where p(z) is the Chinese restaurant's law and the approximation takes typical parameters given z. It would be exact if
parameters were known, and it hardly depends on how labels were drawn. A search may choose by it; a chain may not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from orthodrome.core.types import Reals
from orthodrome.models.mixture.assigning import choose_components
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureState, clear, relabel

SWEEPS = 10
"""How often rows are redistributed without a cluster."""


def dispense(rng: np.random.Generator, given: MixtureProblem, state: MixtureState) -> int:
    """Leave out clusters that the rows do without; count them. The smallest are tried first."""
    rows, gone = np.arange(given.data.count), 0
    order = np.argsort(state.sizes, kind="stable")[-np.count_nonzero(state.sizes) :]
    alpha, evidence = float(state.concentration), None
    for slot in order:
        others = np.flatnonzero(state.sizes)
        others = others[others != slot]
        if not others.shape[0]:
            break
        if evidence is None:
            evidence = log_evidence(given.components, given.data, rows, state, alpha)
        labels, statistics = redistributed(rng, given.components, given.data, rows, state.statistics[others])
        found = estimate(given.components, given.data, rows, labels, statistics, alpha)
        if found > evidence:
            relabel(given, state, rows, others[labels].astype(np.int32))
            clear(state, np.flatnonzero(state.sizes == 0))
            evidence, gone = None, gone + 1
    return gone


def redistributed(
    rng: np.random.Generator, components: Components, data: Any, rows: Names, statistics: Reals
) -> tuple[Labels, Reals]:
    """Return labels of all rows, and their statistics, after rows were redistributed a number of times."""
    labels = np.zeros(rows.shape[0], np.int32)
    for _ in range(SWEEPS):
        weights = np.log(np.maximum(statistics[:, 0], 0.5))
        facts = (np.full(rows.shape[0], -np.inf), weights, components.centre(statistics))
        slots = np.arange(weights.shape[0], dtype=np.int32)
        labels = choose_components(int(rng.integers(1 << 62)), components, data, rows, *facts, slots, weighted=True)
        statistics = components.statistics(data, rows, labels, statistics.shape[0])
    return labels, statistics


def log_evidence(components: Components, data: Any, rows: Names, state: MixtureState, alpha: float) -> float:
    """Return the estimate for the labels of a state."""
    slots = np.flatnonzero(state.sizes)
    place = np.zeros(state.sizes.shape[0], np.int32)
    place[slots] = np.arange(slots.shape[0])
    return estimate(components, data, rows, place[state.labels], state.statistics[slots], alpha)


def estimate(
    components: Components, data: Any, rows: Names, labels: NDArray[np.int32], statistics: Reals, alpha: float
) -> float:
    """Return the estimate of log p(x), up to a constant that does not depend on the labels."""
    held = statistics[:, 0] > 0
    place = np.cumsum(held) - 1
    statistics, labels = statistics[held], place[labels]
    sizes = statistics[:, 0]
    prior = sizes.shape[0] * math.log(alpha) + float(gammaln(sizes).sum())
    densities = components.all_densities(data, rows, components.centre(statistics)) + np.log(sizes)
    top = densities.max(axis=1)
    totals = top + np.log(np.exp(densities - top[:, None]).sum(axis=1))
    own = densities[np.arange(rows.shape[0]), labels]
    return prior + float(components.log_marginal(statistics).sum()) - float(np.sum(own - totals))
