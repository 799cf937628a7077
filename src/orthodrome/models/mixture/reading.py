"""What a fitted mixture says: predictive densities, clusters of rows, and what does not depend on labels.

Every draw numbers its clusters in its own way, so averages over draws are of things that have no numbers: densities,
whether two rows are together, how many clusters there are. `predict` shows one partition, that of the draw whose
clusters are closest, in squared distance, to the probabilities that rows are together (Dahl 2006).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from orthodrome.core.machine import physical_memory
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture.components import Components
from orthodrome.models.mixture.doors import read_rows
from orthodrome.models.mixture.sampler import log_predictive

if TYPE_CHECKING:
    import xarray

MOST_DRAWS, COMPARED = 50, 400
"""Draws over which densities are averaged, and rows by which partitions are compared."""


def codes(table: Any, bounds: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the code in every block of columns from rows that have a 1 there."""
    dense = np.asarray(table.todense())
    return np.stack([dense[:, a:b].argmax(axis=1) for a, b in itertools.pairwise(bounds)], axis=1)


class MixtureReading:
    """The part of `DirichletProcessMixture` that reads its draws."""

    family: str
    draws_: xarray.DataTree
    components_law_: Components
    reference_: int
    weights_: Reals
    parameters_: Reals
    rows_: Any
    seed_: int
    n_jobs: int | None

    def rows(self, X: Any) -> Any:
        """Return the rows of X, checked."""
        check_is_fitted(self)
        return read_rows(self, X, self.components_law_)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log predictive density of each row, averaged over draws; of counts, in the order they came."""
        rows = self.rows(X)
        with computing(self.n_jobs):
            found = [log_predictive(self.components_law_, rows, *draw) for draw in self.some_draws()]
        return np.asarray(logsumexp(found, axis=0) - np.log(len(found)), np.float64)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log predictive density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the clusters of one draw, the reference, for each row; the largest cluster
        first."""
        return np.asarray(self.shares(self.rows(X), self.weights_, self.parameters_), np.float64)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable cluster of each row."""
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def co_clustering(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that two rows of X are in one cluster, for all pairs, averaged over draws."""
        rows = self.rows(X)
        if (needed := 16 * rows.count**2) > physical_memory():
            raise BadInput(
                f"the pairs of {rows.count} rows take {needed / 2**30:.3g} GiB; pass some of the rows to co_clustering"
            )
        found = np.zeros((rows.count, rows.count))
        chosen = self.some_draws()
        for weights, parameters in chosen:
            own = np.flatnonzero(weights > 0)
            shares = self.shares(rows, weights[own], parameters[own])
            found += shares @ shares.T / len(chosen)
        np.fill_diagonal(found, 1.0)
        return found

    def sample(self, n_samples: int = 1) -> tuple[Any, NDArray[np.int64]]:
        """Draw rows from the predictive law, and return them with their clusters, as `predict` numbers them."""
        check_is_fitted(self)
        rng = np.random.default_rng(check_random_state(self.seed_).randint(2**31 - 1))
        chosen, lines = self.some_draws(), []
        for draw in rng.integers(len(chosen), size=n_samples):
            weights, parameters = chosen[draw]
            place = int(np.searchsorted(np.cumsum(weights), rng.random()))
            lines.append(parameters[place] if place < weights.shape[0] else self._fresh(rng))
        found = self.simulated(rng, np.array(lines))
        return found, self.predict(found)

    def simulated(self, rng: np.random.Generator, lines: Reals) -> Any:
        """Return one row for each line of parameters, as the user writes rows."""
        found = self.components_law_.simulate(rng, lines, self.rows_)
        return codes(found, self.rows_.bounds) if self.family == "categorical" else found

    def _fresh(self, rng: np.random.Generator) -> Reals:
        """Return the parameters of a component that no row has been in yet."""
        nothing = np.zeros((1, self.components_law_.num_statistics))
        return self.components_law_.draw(int(rng.integers(2**62)), nothing)[0]

    def shares(self, rows: Any, weights: Reals, parameters: Reals) -> Reals:
        """Return p(z_i = k | x_i) at one draw, new components left out."""
        with computing(self.n_jobs):
            own = np.ascontiguousarray(parameters)
            logs = np.log(weights) + self.components_law_.all_densities(rows, np.arange(rows.count), own)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

    def some_draws(self) -> list[tuple[Reals, Reals]]:
        """Return weights and parameters of draws, evenly spaced over all chains."""
        weights, parameters = self._lines()
        chosen = np.unique(np.linspace(0, weights.shape[0] - 1, MOST_DRAWS).astype(int))
        return [(weights[i], parameters[i]) for i in chosen]

    def _lines(self) -> tuple[Reals, Reals]:
        """Return weights and parameters of all draws."""
        group = self.draws_["posterior"]
        flat = {str(name): np.asarray(values) for name, values in group.data_vars.items()}
        flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in flat.items()}
        return flat["weights"], self.components_law_.unnamed(flat)

    def choose_reference(self, rows: Any) -> None:
        """Choose the draw whose partition is closest to the probabilities that rows are together."""
        weights, parameters = self._lines()
        chosen = np.unique(np.linspace(0, weights.shape[0] - 1, MOST_DRAWS).astype(int))
        some = np.unique(np.linspace(0, rows.count - 1, min(rows.count, COMPARED)).astype(np.int64))
        partitions = []
        for i in chosen:
            own = np.flatnonzero(weights[i] > 0)
            line = np.ascontiguousarray(parameters[i][own])
            logs = np.log(weights[i][own]) + self.components_law_.all_densities(rows, some, line)
            partitions.append(logs.argmax(axis=1))
        together = [labels[:, None] == labels for labels in partitions]
        mean = np.mean(together, axis=0)
        self.reference_ = int(chosen[np.argmin([np.sum((one - mean) ** 2) for one in together])])
        order = np.argsort(-weights[self.reference_], kind="stable")
        order = order[weights[self.reference_][order] > 0]
        self.weights_ = weights[self.reference_][order]
        self.parameters_ = parameters[self.reference_][order]
