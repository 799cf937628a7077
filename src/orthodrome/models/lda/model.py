"""`LDA`: latent Dirichlet allocation (Blei, Ng & Jordan 2003) as a scikit-learn estimator with draws of its topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from orthodrome.corpora.mapped import MappedCorpus
from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.defaults import settings_for
from orthodrome.models.lda.documents import TokenDocuments, read_counts, whole_counts
from orthodrome.models.lda.methods import check_settings, sampler_of, watch_of
from orthodrome.models.lda.reading import AllocationReading
from orthodrome.models.lda.spread import arranged
from orthodrome.models.topics.chains import all_topics
from orthodrome.models.topics.stream import DocumentStream
from orthodrome.storage.about import agreed_seed

if TYPE_CHECKING:
    import xarray

DIMS = {"topics": ("topic", "word"), "doc_topic_prior": ("topic",)}
"""The names of the axes of the draws, after chain and draw."""


class LDA(AllocationReading, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Topics of documents that are counts of words, with posterior uncertainty.

    Nothing needs to be set; None stands for a choice from the corpus, which `settings_` shows after `fit`.

    n_components: K, the number of topics
    method: 'gibbs' (exact), 'collapsed' (exact and serial: the reference), 'scir', 'sgrld', 'sgrhmc', 'sgld' or 'sghmc'
        (minibatches); 'auto': 'gibbs', and 'scir' for `partial_fit`
    doc_topic_prior: alpha, a positive number, or one for each topic
    topic_word_prior: beta
    learn_prior: learn alpha, one number for each topic, in the second half of the warm-up
    batch_size, replace: documents of a minibatch, and whether one may be in it twice
    remember: whether 'scir' keeps the assignments of all documents, so that minibatches add no noise; None: in `fit`,
        unless replace
    sweeps: Gibbs sweeps over the documents of a minibatch, of which the second half is used (remembered: the last)
    step_size, step_scale, step_power: h, tau and kappa of the step h (1 + m / tau)^(-kappa) of update m
    num_warmup, num_draws, thin: transitions before the first draw, draws of each chain, transitions for each draw
    num_chains: chains from different starts, one after the other; their topics are numbered alike
    total_documents: D for `partial_fit`; None: the documents seen so far
    random_state: an int, or None for a random one
    n_jobs: threads, None for all cores or one, what is faster (the numbers do not depend on it); progress: show a bar

    After `fit`: components_ (K, V), the mean of the draws, rows sum to 1; draws_, an `xarray.DataTree` with `topics`
    (chain, draw, topic, word) and `doc_topic_prior` (chain, draw, topic) in `posterior`; doc_topic_prior_, alpha;
    settings_; n_iter_.
    """

    seed_: int

    def __init__(
        self,
        n_components: int = 20,
        *,
        method: str = "auto",
        doc_topic_prior: Any = None,
        topic_word_prior: float | None = None,
        learn_prior: bool = False,
        batch_size: int | None = None,
        replace: bool = False,
        remember: bool | None = None,
        sweeps: int | None = None,
        step_size: float | None = None,
        step_scale: float | None = None,
        step_power: float | None = None,
        num_warmup: int | None = None,
        num_draws: int | None = None,
        thin: int | None = None,
        num_chains: int = 1,
        total_documents: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learn_prior = learn_prior
        self.batch_size = batch_size
        self.replace = replace
        self.remember = remember
        self.sweeps = sweeps
        self.step_size = step_size
        self.step_scale = step_scale
        self.step_power = step_power
        self.num_warmup = num_warmup
        self.num_draws = num_draws
        self.thin = thin
        self.num_chains = num_chains
        self.total_documents = total_documents
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
    ) -> LDA:
        """Sample the topics.

        X: counts, documents x words; or a `MappedCorpus`, which stays on disk

        vocabulary: the words of the columns, which then label the draws (default: the names of the columns, if X has
            names)
        checkpoint: a folder that makes the run survive a kill: called again with the same folder, data and settings,
            it goes on, and ends in the same numbers
        held_out: other documents, a tenth of whose words are predicted now and then: the perplexity is shown beside the
            bar, and is in draws_["sample_stats"] and draws_["warmup_sample_stats"]
        """
        documents, mapped = self.prepare(X), isinstance(X, MappedCorpus)
        vocabulary = X.vocabulary if mapped and vocabulary is None else vocabulary
        about = self._about(held_out is not None)
        if checkpoint is not None:
            self.seed_ = agreed_seed(Path(checkpoint), about, self.random_state is None)
        watch = None if held_out is None else watch_of(self.settings_, self.table(held_out), self.seed_)
        order = None if mapped else self.seed_  # a corpus on disk stays as it is
        ordered = arranged(documents, order, spreads=self.settings_.method != "collapsed")
        sampler = sampler_of(self.settings_, self.n_components, ordered, repeated=self.replace, watch=watch)
        with computing(self.n_jobs):
            tree = self.drawn(
                sampler,
                self.settings_.num_draws,
                self.settings_.thin,
                dims=DIMS,
                vocabulary=vocabulary,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                about=about,
            )
        return self.take(tree, self.settings_.num_warmup)

    def partial_fit(self, X: Any, y: Any = None) -> LDA:
        """Take one update from these documents, which stand for `total_documents`."""
        if "stream_" not in vars(self):
            again = "draws_" in vars(self)
            documents = self.documents(X) if again else self.prepare(X, streams=True)
            start = self._last_draw() if again else None
            if again:
                self.settings_ = settings_for(self, documents, streams=True)
            self._open_stream(documents, start)
        else:
            self.stream_.exchange(self.documents(X), self.total_documents)
        with computing(self.n_jobs):
            self.stream_.advance()
        return self.take(self.stream_.tree(DIMS, self.word_labels(None)), 0)

    def _open_stream(self, documents: TokenDocuments, start: Any) -> None:
        if self.settings_.method in ("gibbs", "collapsed"):
            method = self.settings_.method
            raise BadInput(f"method={method!r} needs all documents at once; for `partial_fit` use method='scir'")
        settings = self.settings_._replace(batch_size=documents.count)
        total = documents.count if self.total_documents is None else self.total_documents
        with computing(self.n_jobs):
            sampler = sampler_of(settings, self.n_components, documents, total=total)
            self.stream_ = DocumentStream(sampler, self.seed_, start, settings.thin, settings.num_draws)

    def _last_draw(self) -> dict[str, Any]:
        group = self.draws_["posterior"]
        return {name: np.asarray(group[name])[-1, -1].copy() for name in DIMS}

    def prepare(self, X: Any, streams: bool = False) -> TokenDocuments:
        """Check the settings and the data, choose the settings and the seed, as `fit` does; return the documents."""
        check_settings(self)
        self.__dict__.pop("stream_", None)
        documents = self.documents(X, reset=True)
        if documents.num_tokens == 0:
            raise BadInput("no document of X has a word: all counts are 0")
        if self.n_components > documents.num_words:
            warnings.warn(
                f"n_components is {self.n_components}, more than the {documents.num_words} words: topics cannot differ",
                OrthodromeWarning,
                stacklevel=3,
            )
        self.settings_ = settings_for(self, documents, streams)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        return documents

    def documents(self, X: Any, *, reset: bool = False) -> TokenDocuments:
        """Return the rows of X as tokens, checked; reset: with columns of their own, not those of `fit`."""
        if not isinstance(X, MappedCorpus):
            return read_counts(self.table(X, reset=reset))
        if reset:
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = X.num_words
        if X.num_words != self.n_features_in_:
            raise BadInput(f"X has {X.num_words} words, but LDA was fitted with {self.n_features_in_} features")
        return TokenDocuments(X.indices, X.indptr, X.num_words)

    def table(self, X: Any, *, reset: bool = False) -> Any:
        """Return X as a checked matrix of counts."""
        if isinstance(X, MappedCorpus):
            raise BadInput("this needs a matrix in memory: pass some documents, `corpus.rows(begin, end)`")
        kinds = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.uint16, np.uint32]
        return whole_counts(self.checked_table(X, kinds, reset, 1, "`read_corpus(texts).counts`"))

    def _about(self, watched: bool) -> dict[str, Any]:
        """Return what a checkpoint must agree with, by name; threads and the bar may change."""
        parameters = self.get_params() | dict.fromkeys(("random_state", "progress", "n_jobs"))
        if self.doc_topic_prior is not None:
            parameters["doc_topic_prior"] = np.asarray(self.doc_topic_prior, float).tolist()
        return {"model": "LDA", "parameters": parameters, "seed": self.seed_, "held_out": watched}

    def take(self, tree: xarray.DataTree, before: int) -> LDA:
        """Set the fitted attributes from the draws; before: transitions of the warm-up."""
        self.draws_, topics = tree, all_topics(tree)
        mean = topics.mean(axis=0, dtype=np.float64)
        self.components_ = mean / mean.sum(axis=1, keepdims=True)
        priors = np.asarray(tree["posterior"]["doc_topic_prior"])
        self.doc_topic_prior_ = priors[:, -1].mean(axis=0)
        streamed = "stream_" in vars(self)
        self.n_iter_ = self.stream_.taken if streamed else before + self.settings_.thin * priors.shape[1]
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags
