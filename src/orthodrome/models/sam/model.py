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
from sklearn.utils.validation import validate_data

from orthodrome.errors import OrthodromeWarning
from orthodrome.kernels.computing import computing
from orthodrome.models.sam.defaults import law_of
from orthodrome.models.sam.documents import Documents, read_documents
from orthodrome.models.sam.law import Reals, random_topics, unit_rows
from orthodrome.models.sam.reading import Reading
from orthodrome.models.sam.run import Run, Watch, engine_of
from orthodrome.models.sam.settings import check_settings
from orthodrome.models.sam.store import read_seed, read_settings


class SAM(Reading, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Spherical topics of documents that are unit vectors (tf-idf).

    n_components: K, the number of topics
    method: 'gsgnht' or 'sggmc' (stochastic gradients), 'gmc-bgibbs' or 'gmc-apprmh' (all documents in every draw),
        'vi' or 'stovi' (variational: one point, no draws)
    batch_size: S, documents in a gradient; None is all of them
    corpus_concentration, topic_concentration, document_concentration: kappa0, sigma, kappa1; None: from the documents
        (`sam_defaults`)
    doc_topic_prior: alpha, any positive number; None: 1
    num_warmup, num_draws, thin: topic draws thrown away (and used for tuning), kept, and made for each kept one;
        for the variational methods their sum is the number of iterations
    num_steps: L, inner steps of a topic draw
    step_size, friction: eps and C; None: tuned so that the kinetic temperature stays near 1
    proportion_warmup, proportion_draws, proportion_steps: of each document's theta in each gradient
    proportion_space: 'sphere' (square-root map) or 'flat' (reflections at the walls); below doc_topic_prior = 1, where
        the density has poles, slices along one topic at a time
    rows: 'unit' (refuse other rows), 'normalize' (divide by their length) or 'counts' (make tf-idf)
    variance_reduction: batches correct what is remembered of all documents (D x K numbers) instead of standing for it
    total_documents: D for `partial_fit`; None: the documents seen so far
    published: 'sggmc' and 'gsgnht' with the paper's settings for '20news' (or True) or 'wikipedia', which heat the
        chain 100,000 times, for comparison; concentrations not given are then 2V, 2V, 6V for V words and 10
    dtype: of the topics; random_state: an int, or None for a random one
    n_jobs: threads, None for what is fastest (the numbers do not depend on it); progress: show a bar

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
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 10.0,
        held_out: Any = None,
    ) -> SAM:
        """Sample (or optimise) the topics.

        checkpoint: a folder that makes the run survive a kill: called again with the same folder, data and settings,
            it goes on, and ends in the same numbers
        held_out: other documents, whose log-perplexity is watched from the first draw on: beside the bar, and in
            trace_["log_perplexity"] and trace_["log_perplexity_at"]
        """
        documents = self._begin(X)
        if checkpoint is not None and self.random_state is None:
            saved = read_seed(Path(checkpoint))
            self.seed_ = self.seed_ if saved is None else saved
        run = Run(engine_of(self, self.law_, documents, self.seed_), self._schedule(), self.dtype)
        with computing(self.n_jobs):
            run.start(lambda: self._first_topics(documents))
            if held_out is not None:
                run.watch = Watch(self.law_, self._documents(held_out, reset=False), self.seed_)
            if checkpoint is not None:
                run.keep_in(Path(checkpoint), checkpoint_every, self, documents)
            run.go(self.progress)
        return self._take(run)

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        X: Any,
        *,
        checkpoint_every: float = 10.0,
        held_out: Any = None,
        progress: bool = False,
    ) -> SAM:
        """Go on with the run whose checkpoint is in the folder, with the settings it was begun with."""
        model = cls(**read_settings(Path(folder))).set_params(progress=progress)
        return model.fit(X, checkpoint=folder, checkpoint_every=checkpoint_every, held_out=held_out)

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
        self.law_ = law_of(self, documents)
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

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
