"""The runs of Fig. 3(b) of Baker et al. (2018): users of a site (MSWeb), clusters by SCIR, SGRLD and Gibbs.

Settings are those of the authors' code (errata, 1.3): the two methods have different base measures, starts and steps.
The score is the mean over test users of -log p(x), without multinomial coefficients, at single states. The authors sum
over the occupied labels; here the weight that no label has goes to a new component, which changes little.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.core.types import Reals
from orthodrome.experiments.support.visits.faults import with_faults
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture import DirichletProcessMixture
from orthodrome.models.mixture.methods import sampler_of
from orthodrome.models.mixture.sampler import ScoreWatch
from orthodrome.run.sample import sample

DATA = "msweb (UCI, Anonymous Microsoft Web Data): train.npz and test.npz, users x areas of the site as sparse matrices"
BATCH, LOOKS = 1_000, 50


class VisitCase(NamedTuple):
    """The settings of a run.

    prior: a of Dirichlet(a); clusters: of the start; steps: h of the parameters and of the sticks
    faults: letters of `faults`; concentration: alpha where it is fixed; moves: splits and merges proposed at a time
    control: sums of all rows instead of estimates from the batch
    """

    method: str
    prior: float
    clusters: int
    steps: tuple[float, float] = (0.1, 0.1)
    faults: str = ""
    concentration: float | None = None
    moves: int = 0
    control: bool = False


SCIR, SGRLD = VisitCase("scir", 0.5, 20), VisitCase("sgrld", 0.001, 30, (1e-3, 5e-3))
GIBBS = VisitCase("gibbs", 0.5, 20)


class Curves(NamedTuple):
    """What was seen of a run: transitions, and (seed, transition) negative log predictives and numbers of clusters;
    concentration: the last of each seed."""

    at: np.ndarray
    scores: Reals
    clusters: Reals
    concentration: Reals

    @property
    def last(self) -> Reals:
        """The last scores, one for each seed."""
        return self.scores[:, -1]


def read_visits(data: Path) -> tuple[Any, Any]:
    """Return training and test users."""
    folder = data / "msweb" if (data / "msweb").is_dir() else data
    read = lambda part: scipy.sparse.csr_matrix(scipy.sparse.load_npz(folder / f"{part}.npz"), dtype=np.float64)
    return read("train"), read("test")


def run_case(case: VisitCase, visits: tuple[Any, Any], iterations: int, seeds: int, seed: int) -> Curves:
    """Run independent chains of a case, with looks at the test users in between."""
    model = DirichletProcessMixture(
        "multinomial",
        method=case.method,
        concentration=case.concentration,
        category_prior=case.prior,
        n_clusters_init=case.clusters,
        batch_size=None if case.method == "gibbs" else min(BATCH, visits[0].shape[0]),
        step_size=case.steps[0],
        stick_step_size=case.steps[1],
        split_merge=case.moves,
        label_swaps=5 if case.moves else 0,
        control_variates=case.control,
        num_warmup=iterations - 1,
        num_draws=1,
        thin=1,
    )
    rows = model.prepare(visits[0])
    watch = ScoreWatch(held_out_rows(model, visits[1]), max(1, iterations // LOOKS), iterations)
    sampler = sampler_of(model, model.settings_, model.components_law_, rows, watch=watch)
    sampler = with_faults(sampler, case.faults) if case.faults else sampler
    with computing(None):
        tree = sample(
            sampler, None, seed=seed, num_chains=seeds, num_draws=1, keep_warmup_stats=True, progress=False, check=False
        )
    return curves_of(tree, watch, iterations)


def held_out_rows(model: DirichletProcessMixture, table: Any) -> Any:
    """Return test users in the form of the training users."""
    from orthodrome.models.mixture.doors import read_rows

    return read_rows(model, table, model.components_law_)


def curves_of(tree: Any, watch: ScoreWatch, iterations: int) -> Curves:
    """Return what was seen at the looks."""
    groups = [tree[name] for name in ("warmup_sample_stats", "sample_stats") if name in tree.children]
    whole = lambda name: np.concatenate([np.asarray(group[name], float) for group in groups], axis=1)
    at = np.array([t for t in range(1, iterations + 1) if watch.due(t)])
    alpha = np.asarray(tree["posterior"]["concentration"], float)[:, -1]
    return Curves(at, -whole("score")[:, at - 1], whole("num_clusters")[:, at - 1], alpha)


def one_component(visits: tuple[Any, Any], prior: float = 0.5) -> float:
    """Return the score of one component for all users, at the mean of its posterior."""
    counts = np.asarray(visits[0].sum(axis=0)).ravel() + prior
    return float(-np.mean(visits[1] @ np.log(counts / counts.sum())))
