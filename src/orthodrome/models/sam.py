"""`SAM`: the spherical admixture model (Reisinger et al. 2010) as a scikit-learn estimator.

Documents and topics are unit vectors, a document leans towards a weighted mean of topics, and a topic says which words
are *absent* as much as which are present. The posterior of the topics is sampled by stochastic-gradient geodesic Monte
Carlo (Liu, Zhu & Song 2016) or by one of the methods they compare with; `sam_law` has the equations.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.models import evaluation
from orthodrome.models.computing import computing
from orthodrome.models.kernels.topics import inner_products
from orthodrome.models.sam_documents import Documents, corpus_mean, read_documents
from orthodrome.models.sam_law import Law, Reals, default_concentrations, random_topics, unit_rows
from orthodrome.models.sam_proportions import Sweep, by_document, draw_proportions, first_guess, gram_of
from orthodrome.models.sam_run import Run, engine_of
from orthodrome.models.sam_settings import check_settings
from orthodrome.models.sam_store import read_seed, read_settings

TOPIC_DRAWS = 8
"""Draws of the topics over which `proportions` averages."""


class SAM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Spherical topics of documents that are unit vectors (tf-idf).

    n_components: K, the number of topics
    method: 'gsgnht' or 'sggmc' (stochastic gradients), 'gmc-bgibbs' or 'gmc-apprmh' (all documents in every draw),
        'vi' or 'stovi' (variational: one point, no draws)
    batch_size: S, documents in a gradient; None is all of them
    corpus_concentration, topic_concentration, document_concentration: kappa0, sigma, kappa1; None: 2V, 2V, 6V
    doc_topic_prior: alpha; None: 10, as in the paper
    num_warmup, num_draws, thin: topic draws thrown away (and used for tuning), kept, and made for each kept one;
        for the variational methods their sum is the number of iterations
    num_steps: L, inner steps of a topic draw
    step_size, friction: eps and C; None: tuned so that the kinetic temperature stays near 1
    proportion_warmup, proportion_draws, proportion_steps: of each document's theta in each gradient
    proportion_space: 'sphere' (square-root map) or 'flat' (reflections at the walls)
    rows: 'unit' (refuse other rows), 'normalize' (divide by their length) or 'counts' (make tf-idf)
    variance_reduction: batches correct what is remembered of all documents (D x K numbers) instead of standing for it
    total_documents: D for `partial_fit`; None: the documents seen so far
    published: the settings of the paper's experiment, which heat the chain 100,000 times (for comparison)
    dtype: of the topics; random_state: an int, or None for a random one
    n_jobs: threads, None for all cores (the numbers do not depend on it); progress: show a bar

    After `fit`: components_ (K, V) the mean direction of the draws, draws_ (num_draws, K, V), law_, trace_ (numbers of
    every topic draw), temperature_, acceptance_, step_size_, seconds_ (time in proportions, gradient and update).
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
        published: bool = False,
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
        self, X: Any, y: Any = None, *, checkpoint: str | Path | None = None, checkpoint_every: float = 10.0
    ) -> SAM:
        """Sample (or optimise) the topics; with `checkpoint`, a folder, the run survives a kill.

        Called again with the same folder, data and settings it goes on, and ends in the same numbers.
        """
        documents = self._begin(X)
        if checkpoint is not None and self.random_state is None:
            saved = read_seed(Path(checkpoint))
            self.seed_ = self.seed_ if saved is None else saved
        run = Run(engine_of(self, self.law_, documents, self.seed_), self._schedule(), self.dtype)
        with computing(self.n_jobs):
            run.start(lambda: self._first_topics(documents))
            if checkpoint is not None:
                run.keep_in(Path(checkpoint), checkpoint_every, self, documents)
            run.go(self.progress)
        return self._take(run)

    @classmethod
    def resume(cls, folder: str | Path, X: Any, *, checkpoint_every: float = 10.0, progress: bool = False) -> SAM:
        """Go on with the run whose checkpoint is in the folder, with the settings it was begun with."""
        model = cls(**read_settings(Path(folder)))
        return model.set_params(progress=progress).fit(X, checkpoint=folder, checkpoint_every=checkpoint_every)

    def partial_fit(self, X: Any, y: Any = None) -> SAM:
        """One more topic draw (or step of the optimiser) from these documents, which stand for `total_documents`."""
        if not hasattr(self, "run_"):
            again = hasattr(self, "draws_")
            documents = self._documents(X, reset=False) if again else self._begin(X)
            self.seen_ = documents.count
            self.run_ = Run(
                engine_of(self, self.law_, documents, self.seed_, self._total()), self._schedule(), self.dtype
            )
            with computing(self.n_jobs):
                self.run_.start(lambda: self.draws_[-1].copy() if again else self._first_topics(documents))
        else:
            documents = self._documents(X, reset=False)
            self.seen_ += documents.count
            self.run_.exchange(documents, self._total())
        with computing(self.n_jobs):
            self.run_.once()
        return self._take(self.run_)

    def transform(self, X: Any) -> NDArray[np.floating]:
        """The posterior mean of each document's topic proportions, (D, K); rows do not influence each other."""
        return self.proportions(X)[0]

    def proportions(
        self, X: Any, *, num_warmup: int = 100, num_draws: int = 50
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Mean and standard deviation of the topic proportions, over the draws of topics and proportions."""
        check_is_fitted(self)
        documents = self._documents(X, reset=False)
        chosen = self._some_draws(TOPIC_DRAWS)
        sweep = Sweep(num_warmup, num_draws, self.proportion_steps, self.proportion_space == "flat")
        with computing(self.n_jobs):
            draws = np.concatenate([self._proportions_at(topics, documents, sweep) for topics in chosen], axis=1)
        return draws.mean(axis=1), draws.std(axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log predictive density of the documents, by annealed importance sampling (see `evaluation`)."""
        check_is_fitted(self)
        return -self.log_perplexity(X)

    def log_perplexity(
        self, X: Any, *, estimator: str = "annealed", num_topics: int = 8, num_draws: int = 200
    ) -> float:
        """Minus the mean log predictive density per document: 'annealed' (almost unbiased) or 'prior' (as published).

        num_topics: draws of the topics, evenly spaced; num_draws: 'prior' draws of theta, shared by all documents
        """
        check_is_fitted(self)
        documents, topics = self._documents(X, reset=False), self._some_draws(num_topics)
        if estimator not in ("annealed", "prior"):
            raise BadInput(f"estimator is {estimator!r}; it must be 'annealed' or 'prior'")
        if estimator == "prior":
            return evaluation.log_perplexity(self.law_, documents, topics, num_draws, seed=self.seed_)
        with computing(self.n_jobs):
            return -float(evaluation.annealed_log_density(self.law_, documents, topics, seed=self.seed_).mean())

    def top_words(self, vocabulary: Any, count: int = 10) -> list[list[str]]:
        """The words of largest weight of every topic."""
        return self._words(vocabulary, count, -1)

    def bottom_words(self, vocabulary: Any, count: int = 10) -> list[list[str]]:
        """The words of smallest weight, relative to the corpus mean: what a topic says is absent."""
        return self._words(vocabulary, count, 1)

    def _words(self, vocabulary: Any, count: int, sign: int) -> list[list[str]]:
        check_is_fitted(self)
        if len(vocabulary) != self.n_features_in_:
            raise BadInput(f"the vocabulary has {len(vocabulary)} words, X has {self.n_features_in_} columns")
        weights = self.components_ if sign < 0 else self.components_ - self.law_.mean
        order = np.argsort(sign * weights, axis=1, kind="stable")[:, :count]
        return [[str(vocabulary[word]) for word in row] for row in order]

    def _begin(self, X: Any) -> Documents:
        """Settings and data checked, the law fixed, the seed chosen."""
        check_settings(self)
        self.__dict__.pop("run_", None)
        documents = self._documents(X, reset=True)
        if self.n_components > documents.num_words:
            warnings.warn(
                f"n_components is {self.n_components}, more than the {documents.num_words} words: topics cannot differ",
                OrthodromeWarning,
                stacklevel=3,
            )
        defaults = default_concentrations(documents.num_words)
        given = (self.corpus_concentration, self.topic_concentration, self.document_concentration)
        chosen = [float(default if value is None else value) for value, default in zip(given, defaults, strict=True)]
        alpha = 10.0 if self.doc_topic_prior is None else float(self.doc_topic_prior)
        self.law_ = Law(corpus_mean(documents), chosen[0], chosen[1], chosen[2], alpha)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        return documents

    def _documents(self, X: Any, *, reset: bool) -> Documents:
        settings = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_min_features": 2 if reset else 1}
        table = validate_data(self, X, reset=reset, **settings)
        return read_documents(table, self.rows, np.dtype(self.dtype))

    def _schedule(self) -> tuple[int, int, int]:
        return self.num_warmup, self.num_draws, self.thin

    def _total(self) -> int:
        return self.seen_ if self.total_documents is None else max(self.total_documents, 1)

    def _first_topics(self, documents: Documents) -> Reals:
        return random_topics(self.law_, self.n_components, np.random.default_rng(self.seed_), np.dtype(self.dtype))

    def _take(self, run: Run) -> SAM:
        """The fitted attributes."""
        self.draws_ = run.draws()
        self.components_ = unit_rows(self.draws_.mean(axis=0, dtype=np.float64)).astype(self.dtype)
        self.trace_, self.seconds_ = run.trace(), dict(run.engine.seconds)
        self.n_iter_ = run.done
        self.proportion_step_ = run.engine.proportion_step(run.state)
        kept = slice(-len(self.draws_) * self.thin, None)
        for name in ("temperature", "acceptance", "step_size"):
            values = self.trace_.get(name)
            setattr(self, f"{name}_", float(np.mean(values[kept])) if values is not None and len(values) else None)
        return self

    def _some_draws(self, count: int) -> Reals:
        """Evenly spaced among the kept draws, the last one always."""
        every = len(self.draws_) / min(count, len(self.draws_))
        return self.draws_[[int(every * (i + 1)) - 1 for i in range(min(count, len(self.draws_)))]]

    def _proportions_at(self, topics: Reals, documents: Documents, sweep: Sweep) -> Reals:
        """(D, kept, K) at one draw of the topics."""
        rows = np.arange(documents.count)
        b = inner_products(topics, documents.indptr, documents.indices, documents.values, rows)
        gram, law = gram_of(topics), self.law_
        kappa, alpha = law.document_concentration, law.doc_topic_prior
        start = first_guess(gram, b)
        drawn = draw_proportions(
            gram, b, start, kappa, alpha, self.proportion_step_, sweep, self.seed_, 1 << 60, documents.keys()
        )
        return by_document(drawn.draws, documents.count, topics.shape[0])

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
