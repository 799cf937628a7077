"""Where a chain begins: clusters found in few rows, then in more and more of them.

Among very many rows every wrong division is a trap. Three clusters that share the rows of two neighbours are worse than
the two by thousands of nats, but each merge and each split on the way is worse still; and a move that divides two
clusters anew in one step is hardly ever accepted by an exact test. Given the present labels z of n rows, and new ones
drawn with the parameters theta of a launch, the logarithm of its ratio is

    n { L(theta) - L(theta_z) - KL(p(z | x, theta_z) | p(z | x, theta)) },

L being the mean log likelihood with labels summed out: the reverse move would have to repeat labels that theta finds
improbable, and that costs more than the better fit gains. With few rows all these numbers are small, and the same chain
moves freely. So it is run on a random part of the rows, with splits and merges; then these keep their labels, others
join them, each in a component drawn in proportion to w_j f(x | theta_j), and the chain is run on all of these.

All this comes before the first transition: it chooses a start, and says nothing about the law of what follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from orthodrome.models.mixture.assigning import choose_components
from orthodrome.models.mixture.components.contract import Labels, Names
from orthodrome.models.mixture.dispensing import dispense
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureSampler, MixtureState
from orthodrome.models.mixture.settling import settle
from orthodrome.random.keys import DrawnSeed

FIRST_ROWS, GROWTH = 4_000, 4
"""Rows that the search begins with, and how many times as many come next."""
FIRST_TRANSITIONS, TRANSITIONS = 30, 8
"""Transitions on the first rows, and on each of the larger parts."""
MOST_DISPENSED = 20_000
"""The largest part that is asked which clusters it does without."""


def sizes_of_parts(count: int) -> list[int]:
    """Return the numbers of rows of the parts, the largest being at most half of all rows."""
    found, size = [], FIRST_ROWS
    while 2 * size <= count:
        found.append(size)
        size *= GROWTH
    return found


def searched_labels(
    seed: int, given: MixtureProblem, labels: Labels, sampler_for: Callable[[MixtureProblem], MixtureSampler]
) -> Labels:
    """Return labels of all rows from a search that begins with those of a few.

    labels: of all rows; sampler_for: the sampler with splits and merges of a problem
    """
    sizes = sizes_of_parts(given.data.count)
    if not sizes:
        return labels
    rng = np.random.Generator(np.random.Philox(seed))
    order = rng.permutation(given.data.count)
    rows, state = order[:0], None
    for number, size in enumerate(sizes):
        rows, joining = order[:size], order[rows.shape[0] : size]
        if state is not None:
            labels[joining] = joined(int(rng.integers(1 << 62)), given, joining, state)
        own = replace(given, data=given.data.take(rows), total=size, num_warmup=FIRST_TRANSITIONS, watch=None)
        sampler = sampler_for(own)
        state = sampler.init({"labels": labels[rows]}, DrawnSeed(int(rng.integers(1 << 62))))
        for left in reversed(range(TRANSITIONS if number else FIRST_TRANSITIONS)):
            if not left:  # small clusters would grow with those that join them
                settle(own, state, np.argsort(state.sizes)[-np.count_nonzero(state.sizes) :])
            if left in (0, FIRST_TRANSITIONS // 2) and size <= MOST_DISPENSED:
                dispense(rng, own, state)
            state, _ = sampler.move(int(rng.integers(1 << 62)), state)
        labels[rows] = state.labels
    assert state is not None  # there is a part
    rest = order[rows.shape[0] :]
    labels[rest] = joined(int(rng.integers(1 << 62)), given, rest, state)
    return labels


def joined(seed: int, given: MixtureProblem, rows: Names, state: MixtureState) -> Labels:
    """Draw labels of more rows, in proportion to w_j f(x | theta_j) over the clusters of a state."""
    slots = np.flatnonzero(state.sizes).astype(np.int32)
    levels, logs = np.full(rows.shape[0], -np.inf), np.log(np.maximum(state.weights[slots], 1e-300))
    facts = (given.components, given.data, rows, levels, logs, state.parameters, slots)
    return choose_components(seed, *facts, weighted=True)
