"""`DirichletProcessMixture`: a mixture with as many clusters as its rows ask for, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state

from orthodrome.diagnostics.verdict import warn_not_converged
from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture.defaults import check_settings, settings_for
from orthodrome.models.mixture.doors import components_for, read_rows
from orthodrome.models.mixture.methods import sampler_of, watch_of
from orthodrome.models.mixture.reading import MixtureReading
from orthodrome.models.mixture.spread import can_spread, spread_or_whole
from orthodrome.models.topics.stream import DocumentStream
from orthodrome.random.keys import new_key
from orthodrome.run.loop import transition_key
from orthodrome.run.sample import sample
from orthodrome.storage.about import agreed_seed, read_parameters

if TYPE_CHECKING:
    import xarray

FIRST_SWEEPS, FIRST = 30, np.uint32(1)
"""Exact sweeps over the first rows of a stream, and the number of the chain whose keys they have."""


class DirichletProcessMixture(MixtureReading, DensityMixin, BaseEstimator):
    """A Dirichlet process mixture: clusters of rows, their number unknown, with posterior uncertainty.

    Nothing needs to be set; None stands for a choice from the rows, which `settings_` shows after `fit`.

    family: 'gaussian' (real numbers), 'multinomial' (counts, also sparse), 'categorical' (codes 0, 1, ..., one
        variable in each column) or 'vmf' (unit vectors; von Mises-Fisher components)
    method: 'gibbs' (exact); by minibatches 'scir' or 'sgrld' (multinomial, categorical), 'sghmc' or 'sgld' (gaussian),
        'gsgnht' or 'sggmc' (vmf); 'auto': 'gibbs', and the first of the others for `partial_fit`
    concentration: alpha, a positive number; None: learnt, with the prior Gamma(*concentration_prior), shape and rate
    category_prior: a of the base measure Dirichlet(a, ..., a)
    mean_prior, mean_precision_prior, degrees_of_freedom_prior, covariance_prior: m_0, k, nu and Psi of the Gaussian
        base measure; None: the mean of the rows, d + 2, and a tenth of their variances
    kappa_range: the interval of the concentration of von Mises-Fisher, log-uniform
    n_clusters_init: clusters into which rows are divided at random: what the search of a start begins with if there are
        8,000 rows or more, splits and merges, and a warm-up, else the start; None: 1 for 'gibbs' with splits and
        merges, else 20
    max_components: the largest number of components; a run that asks for more says so
    batch_size: rows of a transition; 'gibbs' with fewer than all rows stays exact
    step_size, stick_step_size: h of the parameters and of the sticks, for minibatches
    split_merge: proposals of a split or a merge for each transition ('gibbs') or for each pass through the rows; births
        and deaths of small clusters follow them
    label_swaps: proposals of an exchange in the order of the sticks for each transition, for minibatches
    control_variates: for minibatches in `fit`, move parameters and sticks by sums of all rows at their present labels,
        which are kept up to date, instead of N / n times those of the batch, which has noise
    num_warmup, num_draws, thin: transitions before the first draw, draws of each chain, transitions for each draw
    num_chains: chains, one after the other
    total_rows: N for `partial_fit`; None: the rows seen so far
    random_state: an int, or None for a random one
    n_jobs: threads; None: all cores or one, whichever is faster (the numbers do not depend on it)
    progress: whether to show a progress bar

    After `fit`: draws_, an `xarray.DataTree` with `num_clusters`, `concentration`, `weights` (chain, draw, component;
    0 where there is none) and the parameters of the family in `posterior`; labels_, the clusters of the rows; weights_
    and cluster_parameters_, those of the clusters of the reference draw, the largest first; n_clusters_; settings_;
    n_iter_.
    """

    seed_: int

    def __init__(
        self,
        family: str = "gaussian",
        *,
        method: str = "auto",
        concentration: float | None = None,
        concentration_prior: Any = (1.0, 1.0),
        category_prior: float = 0.5,
        mean_prior: Any = None,
        mean_precision_prior: float = 0.1,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        kappa_range: Any = (0.1, 1e5),
        n_clusters_init: int | None = None,
        max_components: int | None = None,
        batch_size: int | None = None,
        step_size: float | None = None,
        stick_step_size: float | None = None,
        split_merge: int | None = None,
        label_swaps: int | None = None,
        control_variates: bool = True,
        num_warmup: int | None = None,
        num_draws: int | None = None,
        thin: int | None = None,
        num_chains: int = 1,
        total_rows: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.family = family
        self.method = method
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.category_prior = category_prior
        self.mean_prior = mean_prior
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.kappa_range = kappa_range
        self.n_clusters_init = n_clusters_init
        self.max_components = max_components
        self.batch_size = batch_size
        self.step_size = step_size
        self.stick_step_size = stick_step_size
        self.split_merge = split_merge
        self.label_swaps = label_swaps
        self.control_variates = control_variates
        self.num_warmup = num_warmup
        self.num_draws = num_draws
        self.thin = thin
        self.num_chains = num_chains
        self.total_rows = total_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 10.0,
        held_out: Any = None,
    ) -> Self:
        """Sample the clusters.

        checkpoint: a folder that makes the run survive a kill: called again with the same folder, data and settings,
            it goes on, and ends in the same numbers
        held_out: other rows, whose mean log predictive density at single states is in draws_["sample_stats"] and
            draws_["warmup_sample_stats"] as `score`, of every fiftieth part of the run
        """
        rows = self.prepare(X)
        about = self._about(held_out is not None)
        if checkpoint is not None:
            self.seed_ = agreed_seed(Path(checkpoint), about, self.random_state is None)
        watch = None if held_out is None else watch_of(self.settings_, self.rows(held_out))
        chosen = self.settings_
        spreads = can_spread(rows, chosen.method, chosen.split_merge, chosen.batch_size)
        held = spread_or_whole(rows, spreads, self.num_chains)
        sampler = sampler_of(self, chosen, self.components_law_, held, watch=watch)
        with computing(self.n_jobs):
            tree = sample(
                sampler,
                None,
                seed=self.seed_,
                num_chains=self.num_chains,
                num_draws=self.settings_.num_draws,
                thin=self.settings_.thin,
                keep_warmup_stats=True,
                progress=self.progress,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                dims=self._dims(),
                about=about | {"seed": self.seed_},
                check=False,  # looked at below, by what does not depend on labels
            )
        self._warn(tree)
        self.n_iter_ = self.settings_.num_warmup + self.settings_.thin * tree["posterior"].sizes["draw"]
        return self._take(tree, rows)

    @classmethod
    def resume(
        cls, folder: str | Path, X: Any, *, checkpoint_every: float = 10.0, held_out: Any = None, progress: bool = False
    ) -> Self:
        """Go on with the run whose checkpoint is in the folder, with the settings it was begun with."""
        model = cls(**read_parameters(Path(folder)))
        model.progress = progress
        return model.fit(X, checkpoint=folder, checkpoint_every=checkpoint_every, held_out=held_out)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one update from these rows, which stand for `total_rows`."""
        if "stream_" not in vars(self):
            again = "draws_" in vars(self)
            rows = self.rows(X) if again else self.prepare(X, streams=True)
            start = self._last_draw() if again else None
            if again:
                self.settings_ = settings_for(self, rows.count, self.components_law_.num_parameters, streams=True)
            self._open_stream(rows, start)
        else:
            rows = self.rows(X)
            self.stream_.exchange(rows, self.total_rows)
        with computing(self.n_jobs):
            self.stream_.advance()
        self.n_iter_ = self.stream_.taken
        return self._take(self.stream_.tree(self._dims(), None), rows)

    def _open_stream(self, rows: Any, start: Any) -> None:
        if self.settings_.method == "gibbs":
            raise BadInput("method='gibbs' needs all rows at once; for `partial_fit` use a stochastic method")
        settings = self.settings_._replace(batch_size=rows.count, split_merge=0, control_variates=False)
        total = rows.count if self.total_rows is None else self.total_rows
        with computing(self.n_jobs):
            sampler = sampler_of(self, settings, self.components_law_, rows, total=total)
            begin = {"labels": self._first_labels(rows)} if start is None else start
            self.stream_ = DocumentStream(sampler, self.seed_, begin, settings.thin, settings.num_draws)

    def _first_labels(self, rows: Any) -> Any:
        """Return clusters of the first rows of a stream by a short exact run: later nothing can be split or merged."""
        settings = self.settings_._replace(method="gibbs", batch_size=rows.count, num_warmup=FIRST_SWEEPS)
        sampler = sampler_of(self, settings, self.components_law_, rows)
        state = sampler.init(None, new_key(np.uint32(self.seed_)))
        for sweep in range(FIRST_SWEEPS):
            state, _ = sampler.step(transition_key(new_key(np.uint32(self.seed_)), FIRST, np.uint32(sweep)), state)
        return state.labels

    def _last_draw(self) -> dict[str, Any]:
        group = self.draws_["posterior"]
        return {str(name): np.asarray(values)[-1, -1].copy() for name, values in group.data_vars.items()}

    def prepare(self, X: Any, streams: bool = False) -> Any:
        """Check the settings and the data, choose the settings and the seed, as `fit` does; return the rows."""
        check_settings(self)
        self.__dict__.pop("stream_", None)
        rows = read_rows(self, X)
        self.components_law_, rows = components_for(self, rows)
        self.settings_ = settings_for(self, rows.count, self.components_law_.num_parameters, streams)
        try:
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            raise BadInput(f"random_state: {error}") from error
        return rows

    def _dims(self) -> dict[str, tuple[str, ...]]:
        return {"weights": ("component",)} | self.components_law_.dims()

    def _about(self, watched: bool) -> dict[str, Any]:
        """Return what a checkpoint must agree with, by name; threads and the bar may change."""
        parameters = self.get_params() | dict.fromkeys(("random_state", "progress", "n_jobs"))
        for name in ("mean_prior", "covariance_prior", "concentration_prior", "kappa_range"):
            if parameters[name] is not None:
                parameters[name] = np.asarray(parameters[name], float).tolist()
        about = {"model": "DirichletProcessMixture", "parameters": parameters, "seed": self.seed_}
        return about | {"held_out": watched}

    def _warn(self, tree: xarray.DataTree) -> None:
        """Warn if the chains disagree on what does not depend on labels, or if components were missing."""
        names = ["num_clusters"] + ["concentration"] * (self.concentration is None)
        kept = type(tree).from_dict({"posterior": tree["posterior"].to_dataset()[names]})
        warn_not_converged(kept, stacklevel=3)
        groups = [tree[name]["capped"] for name in ("sample_stats", "warmup_sample_stats") if name in tree.children]
        if count := sum(int(np.sum(np.asarray(flags))) for flags in groups):
            warnings.warn(
                f"in {count} transitions the rows needed more components than max_components = "
                f"{self.settings_.max_components}, and had to do without: set max_components higher (a draw takes 8 "
                f"bytes for each of the {self.components_law_.num_parameters} numbers of a component), or a smaller "
                "concentration",
                OrthodromeWarning,
                stacklevel=3,
            )

    def _take(self, tree: xarray.DataTree, rows: Any) -> Self:
        """Set the fitted attributes from the draws."""
        self.draws_, self.rows_ = tree, rows
        self.choose_reference(rows)
        self.n_clusters_ = int(self.weights_.shape[0])
        self.cluster_parameters_ = self.components_law_.named(self.parameters_)
        shares = self.shares(rows, self.weights_, self.parameters_)
        self.labels_ = np.asarray(shares.argmax(axis=1), np.int64)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.family == "multinomial"
        tags.input_tags.positive_only = self.family in ("multinomial", "categorical")
        return tags
