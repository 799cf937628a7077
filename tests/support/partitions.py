"""All partitions of a few rows, the exact posterior of a Dirichlet-process mixture over them, and a test against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2


def partitions(count: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of rows as labels in the order in which clusters first occur."""

    def extended(labels: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(labels) == count:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extended((*labels, label))

    return extended(())


def canonical(labels: Any) -> tuple[int, ...]:
    """Return labels numbered in the order in which they first occur."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(int(label), len(numbers)) for label in labels)


def posterior(components: Any, data: Any, concentration: float) -> dict[tuple[int, ...], float]:
    """Return p(partition | rows) ~ alpha^K prod_k Gamma(n_k) m(S_k)."""
    logs = {}
    for labels in partitions(data.count):
        size = max(labels) + 1
        lines = components.statistics(data, np.arange(data.count), np.array(labels, np.int32), size)
        logs[labels] = size * np.log(concentration) + np.sum(gammaln(lines[:, 0]) + components.log_marginal(lines))
    top = max(logs.values())
    total = sum(np.exp(value - top) for value in logs.values())
    return {labels: float(np.exp(value - top) / total) for labels, value in logs.items()}


def p_value(law: dict[tuple[int, ...], float], step: Callable[[Any, int], Any], count: int, seed: int = 0) -> float:
    """Return the p-value of chi-square for the partitions after `step`, which starts at exact draws of the law.

    step: from labels and the number of the replicate to labels; classes that expect fewer than 5 are put together
    """
    names, p = list(law), np.array(list(law.values()))
    starts = np.random.default_rng(seed).choice(len(names), count, p=p / p.sum())
    place = {name: i for i, name in enumerate(names)}
    seen = np.bincount([place[canonical(step(names[i], n))] for n, i in enumerate(starts)], minlength=len(names))
    rare = p * count < 5
    classes = [*zip(seen[~rare], p[~rare] * count, strict=True)]
    if rare.any():
        classes.append((seen[rare].sum(), max(p[rare].sum() * count, 1e-9)))
    statistic = sum((found - expected) ** 2 / expected for found, expected in classes)
    return float(chi2.sf(statistic, len(classes) - 1))
