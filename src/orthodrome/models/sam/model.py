"""`SAM`: the spherical admixture model (Reisinger et al. 2010) as a scikit-learn estimator.

Documents and topics are unit vectors, a document leans towards a weighted mean of topics, and a topic says which words
are *absent* as much as which are present. The posterior of the topics is sampled by stochastic-gradient geodesic Monte
Carlo (Liu, Zhu & Song 2016) or by one of the methods they compare with; `models.sam.law` has the equations.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from orthodrome.errors import OrthodromeWarning
from orthodrome.kernels.threads.computing import computing
from orthodrome.kernels.timing import stopwatch
from orthodrome.models.sam.defaults import law_of
from orthodrome.models.sam.documents import DocumentVectors, read_documents
from orthodrome.models.sam.law import unit_rows
from orthodrome.models.sam.methods import sampler_of, watch_of
from orthodrome.models.sam.proportions import Sweep
from orthodrome.models.sam.reading import Reading
from orthodrome.models.sam.settings import EXACT, STOCHASTIC, check_settings
from orthodrome.models.sam.spread.survey import Survey, survey_of, survey_of_part
from orthodrome.models.sam.variational import proportion_step
from orthodrome.models.topics.chains import DIMS, all_topics, statistics
from orthodrome.models.topics.stream import DocumentStream
from orthodrome.run.parallel import Team
from orthodrome.storage.about import agreed_seed

if TYPE_CHECKING:
    import xarray


class SAM(Reading, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The spherical admixture model: topics of documents that are unit vectors (tf-idf).

    n_components: K, the number of topics
    method: 'gsgnht' or 'sggmc' (stochastic gradients), 'gmc-bgibbs' or 'gmc-apprmh' (all documents in every draw),
        'vi' or 'stovi' (variational: one point, no draws)
    batch_size: S, documents in a gradient; None is all of them
    corpus_concentration, topic_concentration, document_concentration: kappa0, sigma, kappa1; None: from the documents
        (`models.sam.defaults`)
    doc_topic_prior: alpha, any positive number; None: 1
    num_warmup, num_draws, thin: topic draws thrown away (and used for tuning), kept, and made for each kept one;
        for the variational methods their sum is the number of iterations
    num_chains: chains from different starts, one after the other; their topics are numbered alike
    num_steps: L, inner steps of a topic draw
    step_size, friction: eps and C; None: tuned so that the kinetic temperature stays near 1
    proportion_warmup, proportion_draws, proportion_steps: of each document's theta in each gradient
    proportion_space: 'sphere' (square-root map) or 'flat' (reflections at the walls); below doc_topic_prior = 1, where
        the density has poles, slices along one topic at a time
    rows: 'unit' (refuse other rows), 'normalize' (divide by their length) or 'counts' (make tf-idf)
    variance_reduction: batches correct what is remembered of all documents (D x K numbers) instead of standing for it
    total_documents: D for `partial_fit`; None: the documents seen so far
    published: the authors' settings for '20news' (or True) or 'wikipedia', for comparison: those of 'sggmc' and
        'gsgnht' heat the chain 100,000 times, those of the GMC methods hardly move it; concentrations not given are
        then 2V, 2V, 6V for V words and 10
    dtype: of the topics; random_state: an int, or None for a random one
    n_jobs: threads; None: as many as are fastest (the numbers do not depend on it); progress: show a progress bar

    After `fit`: components_ (K, V) the mean direction of the draws; draws_, an `xarray.DataTree` with `topics` (chain,
    draw, topic, word) in `posterior`, and the numbers of every kept draw and of the warm-up in `sample_stats` and
    `warmup_sample_stats`; law_, temperature_, acceptance_, step_size_, seconds_ (time in proportions, gradient and
    update).
    """

    seed_: int

    def __init__(
        self,
        n_components: int = 20,
        *,
        method: str = "gsgnht",
        batch_size: int | None = 50,
        corpus_concentration: float | None = None,
        topic_concentration: float | None = None,
        document_concentration: float | None = None,
        doc_topic_prior: float | None = None,
        num_warmup: int = 300,
        num_draws: int = 50,
        thin: int = 10,
        num_chains: int = 1,
        num_steps: int = 10,
        step_size: float | None = None,
        friction: float | None = None,
        proportion_warmup: int = 10,
        proportion_draws: int = 10,
        proportion_steps: int = 10,
        proportion_space: str = "sphere",
        rows: str = "unit",
        variance_reduction: bool = True,
        total_documents: int | None = None,
        published: bool | str = False,
        dtype: str = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.batch_size = batch_size
        self.corpus_concentration = corpus_concentration
        self.topic_concentration = topic_concentration
        self.document_concentration = document_concentration
        self.doc_topic_prior = doc_topic_prior
        self.num_warmup = num_warmup
        self.num_draws = num_draws
        self.thin = thin
        self.num_chains = num_chains
        self.num_steps = num_steps
        self.step_size = step_size
        self.friction = friction
        self.proportion_warmup = proportion_warmup
        self.proportion_draws = proportion_draws
        self.proportion_steps = proportion_steps
        self.proportion_space = proportion_space
        self.rows = rows
        self.variance_reduction = variance_reduction
        self.total_documents = total_documents
        self.published = published
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        vocabulary: Sequence[str] | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 10.0,
        held_out: Any = None,
    ) -> SAM:
        """Sample (or optimise) the topics.

        vocabulary: the words of the columns, which then label the draws (default: the names of the columns, if X has
            names)
        checkpoint: a folder that makes the run survive a kill: called again with the same folder, data and settings,
            it goes on, and ends in the same numbers
        held_out: other documents, whose log-perplexity is watched from the first draw on: beside the bar, and in
            draws_["warmup_sample_stats"] and draws_["sample_stats"]
        """
        survey = self._surveyed(X, Team() if self.method in (*STOCHASTIC, *EXACT) else None)
        about = self._about(held_out is not None)
        if checkpoint is not None:
            self.seed_ = agreed_seed(Path(checkpoint), about, self.random_state is None)
        watched = None if held_out is None else self.documents(held_out)
        watch = None if watched is None else watch_of(self, self.law_, watched, self.seed_)
        sampler = sampler_of(self, self.law_, survey.documents, watch=watch)
        with computing(self.n_jobs), stopwatch() as seconds:
            tree = self.drawn(
                sampler,
                self.num_draws,
                self.thin,
                dims=DIMS,
                vocabulary=vocabulary,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                about=about,
            )
        self.seconds_ = dict(seconds)
        return self.take(tree, survey.few)

    def partial_fit(self, X: Any, y: Any = None) -> SAM:
        """Take one more topic draw (or optimiser step) from these documents, which stand for `total_documents`."""
        if "stream_" not in vars(self):
            again = "draws_" in vars(self)
            documents = self.documents(X) if again else self.prepare(X)
            start = {"topics": all_topics(self.draws_)[-1].copy()} if again else None
            total = documents.count if self.total_documents is None else self.total_documents
            with computing(self.n_jobs):
                sampler = sampler_of(self, self.law_, documents, total=total)
                self.stream_ = DocumentStream(sampler, self.seed_, start, self.thin, self.num_draws)
        else:
            documents = self.documents(X)
            self.stream_.exchange(documents, self.total_documents)
        with computing(self.n_jobs), stopwatch() as seconds:
            self.stream_.advance()
        self.seconds_ = dict(seconds)
        return self.take(self.stream_.tree(coords=self.word_labels(None)), documents)

    def prepare(self, X: Any) -> DocumentVectors:
        """Check the settings and the data, fix the law and choose the seed, as `fit` does; return the documents."""
        found = self._surveyed(X, None).documents
        assert isinstance(found, DocumentVectors)
        return found

    def _surveyed(self, X: Any, team: Team | None) -> Survey:
        """Do what `prepare` does; team: the processes over which the documents are spread, if there are several."""
        check_settings(self)
        self.__dict__.pop("stream_", None)
        table, kind = self._table(X, True), np.dtype(self.dtype)
        if team is None or team.processes == 1:
            found = survey_of(read_documents(table, self.rows, kind))
        else:
            found = survey_of_part(table, self.rows, kind, team)
        if self.n_components > found.mean.shape[0]:
            warnings.warn(
                f"n_components is {self.n_components}, more than the {found.mean.shape[0]} words: topics cannot differ",
                OrthodromeWarning,
                stacklevel=3,
            )
        self.law_ = law_of(self, found.documents.count, found.sample, found.mean)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        return found

    def documents(self, X: Any, *, reset: bool = False) -> DocumentVectors:
        """Return the rows of X as unit vectors, checked; reset: with columns of their own, not those of `fit`."""
        return read_documents(self._table(X, reset), self.rows, np.dtype(self.dtype))

    def _table(self, X: Any, reset: bool) -> Any:
        advice = "`weigh_texts(texts)`, or `tfidf` of counts"
        return self.checked_table(X, [np.float64, np.float32], reset, 2, advice)

    def _about(self, watched: bool) -> dict[str, Any]:
        """Return the parameters that a checkpoint must agree with, by name; threads and the progress bar may change."""
        parameters = self.get_params() | dict.fromkeys(("random_state", "progress", "n_jobs"))
        return {"model": "SAM", "parameters": parameters, "seed": self.seed_, "held_out": watched}

    def take(self, tree: xarray.DataTree, documents: DocumentVectors) -> SAM:
        """Set the fitted attributes from the draws."""
        self.draws_, topics = tree, all_topics(tree)
        self.components_ = unit_rows(topics.mean(axis=0, dtype=np.float64)).astype(self.dtype)
        for name in ("temperature", "acceptance", "step_size"):
            values = statistics(tree, name)
            setattr(self, f"{name}_", None if values is None else float(np.mean(values)))
        self.n_iter_ = self._transitions(tree)
        steps = statistics(tree, "proportion_step")
        if steps is not None:
            self.proportion_step_ = float(np.mean(steps[:, -1]))
        else:
            sweep = Sweep(3, 0, self.proportion_steps, self.proportion_space == "flat")
            last = topics[-1].astype(np.float64)
            self.proportion_step_ = proportion_step(self.law_, last, documents, sweep, self.seed_)
        return self

    def _transitions(self, tree: xarray.DataTree) -> int:
        if "stream_" in vars(self):
            return self.stream_.taken
        return int(self.num_warmup + self.thin * tree["posterior"].sizes["draw"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
