"""`LDA` as an estimator: planted topics, every method, resume, streams, bad input, scikit-learn's checks."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils.estimator_checks import check_estimator

from orthodrome import LDA, diagnose
from orthodrome.errors import BadInput, CheckpointError, OrthodromeWarning
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.defaults import settings_for, stages_for
from orthodrome.models.lda.documents import read_counts
from orthodrome.models.lda.methods import METHODS
from orthodrome.models.topics.matching import match_topics, matched_cosines

QUICK: dict[str, Any] = {"num_warmup": 3, "num_draws": 3, "thin": 1, "n_jobs": 1, "random_state": 0}
WORDS, TOPICS = 30, 3
PLANTED = np.kron(np.eye(TOPICS), np.full(WORDS // TOPICS, TOPICS / WORDS)) * 0.9 + 0.1 / WORDS


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def planted(count: int, seed: int = 0) -> scipy.sparse.csr_matrix:
    """Documents of 40 words, mostly of one topic; the first topic is rarer."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet([0.2, 0.4, 0.4], count)
    return scipy.sparse.csr_matrix(np.stack([rng.multinomial(40, t @ PLANTED) for t in theta]))


@pytest.fixture(scope="module")
def fitted() -> LDA:
    model = LDA(TOPICS, learn_prior=True, random_state=1, n_jobs=1, num_warmup=30, num_draws=10, num_chains=2)
    return model.fit(planted(150))


def test_planted_topics_are_found(fitted: LDA) -> None:
    assert matched_cosines(PLANTED, fitted.components_).min() > 0.95
    np.testing.assert_allclose(fitted.components_.sum(axis=1), 1.0)
    place = match_topics(PLANTED, fitted.components_)
    assert fitted.doc_topic_prior_[place[0]] < fitted.doc_topic_prior_[place[1:]].min()


def test_draws_are_labelled_and_chains_are_numbered_alike(fitted: LDA) -> None:
    posterior = fitted.draws_["posterior"]
    assert dict(posterior.sizes) == {"chain": 2, "draw": 10, "topic": TOPICS, "word": WORDS}
    means = np.asarray(posterior["topics"]).mean(axis=1)
    np.testing.assert_array_equal(match_topics(*means), np.arange(TOPICS))
    priors = np.asarray(posterior["doc_topic_prior"])[:, -1]
    np.testing.assert_array_equal(priors.argmin(axis=1), priors.argmin(axis=1)[0])
    assert np.asarray(posterior["topics"]).std(axis=1).min() > 0
    assert list(fitted.get_feature_names_out()) == ["lda0", "lda1", "lda2"]


def test_the_prior_of_documents_is_carried_along_and_not_judged(fitted: LDA) -> None:
    """Draws do not move it, and chains that all have the same are no fault."""
    assert "doc_topic_prior" in fitted.draws_["posterior"]
    found = diagnose(fitted.draws_)
    assert set(found.variables) == {"topics"} and "doc_topic_prior" not in found.verdict
    fitted.draws_.attrs["held"], held = "[]", fitted.draws_.attrs["held"]
    assert "doc_topic_prior" in diagnose(fitted.draws_).verdict  # the control
    fitted.draws_.attrs["held"] = held


def test_proportions_have_mean_and_spread(fitted: LDA) -> None:
    """Long documents of one topic are certain, an empty one is the prior."""
    place = match_topics(PLANTED, fitted.components_)
    x = np.zeros((3, WORDS), int)
    x[0, 12], x[1, 12:14] = 400, 2
    mean, spread = fitted.proportions(x)
    np.testing.assert_allclose(mean.sum(axis=1), 1.0)
    assert mean[0, place[1]] > 0.9 and spread[0, place[1]] < spread[1, place[1]]
    alpha = fitted.doc_topic_prior_
    np.testing.assert_allclose(mean[2], alpha / alpha.sum(), rtol=1e-5)
    total = alpha.sum()
    np.testing.assert_allclose(spread[2] ** 2, alpha * (total - alpha) / total**2 / (total + 1), rtol=1e-4)
    np.testing.assert_allclose(fitted.transform(x[[2, 0]]), fitted.transform(x)[[2, 0]])


def test_perplexity_is_near_that_of_the_truth(fitted: LDA) -> None:
    test = planted(100, seed=5)
    found = fitted.perplexity(test)
    assert fitted.score(test) == pytest.approx(-np.log(found))
    uniform = LDA(1, **QUICK).fit(planted(50)).perplexity(test)
    assert 10 < found < 0.75 * uniform < 0.8 * WORDS
    assert fitted.coherence(test).min() > 0


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_and_watches(method: str) -> None:
    model = LDA(TOPICS, method=method, batch_size=20, **QUICK).fit(planted(60), held_out=planted(20, 3))
    stats = model.draws_["sample_stats"]
    assert np.isfinite(np.asarray(stats["averaged_perplexity"])).all()
    assert np.isfinite(model.components_).all() and model.n_iter_ == 6


def test_replacement_and_schedule_reach_the_sampler() -> None:
    model = LDA(2, method="sgrld", replace=True, batch_size=100, step_size=0.1, step_scale=2.0, step_power=1.0, **QUICK)
    model.fit(planted(30))
    steps = np.asarray(model.draws_["warmup_sample_stats"]["step_size"])[0]
    np.testing.assert_allclose(steps, 0.1 / (1 + np.arange(3) / 2))
    assert int(np.asarray(model.draws_["sample_stats"]["documents"])[0, 0]) == 100


# --- resume -----------------------------------------------------------------------------------------------------------


KILLED = """
import os, sys
from orthodrome import LDA
from orthodrome.models.lda.sampler import AllocationSampler
sys.path.insert(0, {folder!r})
from test_model_data import planted_counts
own = AllocationSampler.step
def step(self, key, state):
    if int(state.taken) == 8:
        os._exit(9)
    return own(self, key, state)
AllocationSampler.step = step
LDA(**{settings!r}).fit(planted_counts(), checkpoint={run!r}, checkpoint_every=0.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "sgrhmc"])
def test_a_killed_run_goes_on_to_the_same_numbers(method: str, tmp_path: Path) -> None:
    """The process dies in the middle of the draws; the run that goes on ends as one that was never cut short."""
    counts, settings = planted(60).toarray(), QUICK | {"num_warmup": 4, "num_draws": 8, "method": method}
    np.save(tmp_path / "counts.npy", counts)
    text = f"import numpy as np\ndef planted_counts():\n    return np.load({str(tmp_path / 'counts.npy')!r})\n"
    (tmp_path / "test_model_data.py").write_text(text)
    settings |= {"n_components": 3, "batch_size": 20}
    program = KILLED.format(folder=str(tmp_path), run=str(tmp_path / "run"), settings=settings)
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    with pytest.raises(CheckpointError, match="n_components 3 then, 4 now"):
        LDA(**settings | {"n_components": 4}).fit(counts, checkpoint=tmp_path / "run")
    resumed, whole = LDA.resume(tmp_path / "run", counts), LDA(**settings).fit(counts)
    np.testing.assert_array_equal(resumed.draws_["posterior"]["topics"], whole.draws_["posterior"]["topics"])
    np.testing.assert_array_equal(resumed.doc_topic_prior_, whole.doc_topic_prior_)


def test_left_to_right_is_an_option(fitted: LDA) -> None:
    """A whole document that the topics explain has a lower perplexity than one of random words."""
    like, unlike = planted(5, 7), np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), 5)
    found = [fitted.perplexity(x, evaluation="left-to-right", particles=5) for x in (like, unlike)]
    assert 5 < found[0] < found[1] < 200
    with pytest.raises(BadInput, match="evaluation is 'both'"):
        fitted.perplexity(like, evaluation="both")


# --- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_finds_the_topics() -> None:
    """The warm-up is long enough to leave the random start: after 30 batches one seed of six had not left it."""
    model = LDA(TOPICS, random_state=0, n_jobs=1, total_documents=1000, topic_word_prior=0.1, num_warmup=90, thin=2)
    for i in range(120):
        model.partial_fit(planted(50, seed=i))
    assert model.n_iter_ == 120 and model.settings_.method == "scir"
    assert matched_cosines(PLANTED, model.components_).min() > 0.95
    assert len(model.draws_["posterior"]["draw"]) == 15


def test_a_stream_goes_on_from_a_fit(fitted: LDA) -> None:
    model = LDA(TOPICS, **QUICK).fit(planted(100))
    before = model.components_.copy()
    model.partial_fit(planted(50, 9))
    assert matched_cosines(before, model.components_).min() > 0.8


@pytest.mark.parametrize("method", ["gibbs", "collapsed"])
def test_exact_methods_do_not_stream(method: str) -> None:
    with pytest.raises(BadInput, match="use method='scir'"):
        LDA(2, method=method, **QUICK).partial_fit(planted(20))


# --- bad input --------------------------------------------------------------------------------------------------------


def test_negative_counts_are_refused_and_fractional_ones_warn() -> None:
    with pytest.raises(BadInput, match="row 1 has a count of -1"):
        LDA(2, **QUICK).fit([[1, 0], [2, -1]])
    with pytest.warns(OrthodromeWarning, match="2 entries of X are no whole numbers"):
        LDA(2, **QUICK).fit([[1.0, 0.4], [2.6, 1.0]])


def test_empty_documents_are_fine_and_an_empty_corpus_is_not() -> None:
    x = planted(10).toarray()
    x[3] = 0
    assert np.isfinite(LDA(2, **QUICK).fit(x).transform(x)).all()
    for nothing in (np.zeros((3, 4), int), np.zeros((3, 0), int)):
        with pytest.raises(ValueError, match=r"no document of X has a word|0 feature"):
            LDA(2, **QUICK).fit(nothing)


def test_documents_that_are_none_are_refused() -> None:
    with pytest.raises(BadInput, match="X holds texts"):
        LDA(2).fit(["a text", "another"])
    with pytest.raises(BadInput, match=r"1e\+15 words in all"):
        LDA(2).fit(np.array([[1e15, 1.0], [1.0, 1.0]]))


def test_a_vocabulary_that_changes_is_refused() -> None:
    model = LDA(2, **QUICK).partial_fit(planted(20))
    with pytest.raises(ValueError, match="30 features"):
        model.partial_fit(planted(20)[:, :29])
    with pytest.raises(BadInput, match="2 words, X has 30 columns"):
        LDA(2, **QUICK).fit(planted(20), vocabulary=["a", "b"])


def test_more_topics_than_words_warn() -> None:
    with pytest.warns(OrthodromeWarning, match="n_components is 5, more than the 3 words"):
        LDA(5, **QUICK).fit([[1, 2, 0], [0, 1, 3]])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"method": "vi"}, "method is 'vi'"),
        ({"n_components": 0}, "n_components is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"topic_word_prior": 0.0}, "topic_word_prior is 0.0"),
        ({"doc_topic_prior": [1.0, 2.0, 3.0]}, "doc_topic_prior is"),
        ({"step_power": -1.0}, "step_power is -1.0"),
        ({"step_power": float("nan")}, "step_power is nan"),
        ({"num_draws": "many"}, "num_draws must be a whole number"),
        ({"doc_topic_prior": "much"}, "it must be a positive number, or 2 of them"),
        ({"learn_prior": "yes"}, "learn_prior is 'yes'"),
    ],
)
def test_settings_that_cannot_be(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        LDA(**({"n_components": 2} | QUICK | setting)).fit(planted(10))


def test_defaults_follow_the_corpus() -> None:
    assert stages_for(3_000) == () and stages_for(20_000) == ((4_000, 20), (8_000, 12))
    documents = read_counts(planted(100))
    assert settings_for(LDA(5), documents).method == "gibbs"
    assert settings_for(LDA(5), documents, streams=True).method == "scir"
    assert settings_for(LDA(5, method="sgrld"), documents).batch_size == 100
    assert settings_for(LDA(5, doc_topic_prior=0.7), documents).doc_topic_prior == 0.7


def test_scikit_learn_checks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrthodromeWarning)  # the checks pass fractional numbers
        results = check_estimator(LDA(2, **QUICK), expected_failed_checks={}, on_fail=None, on_skip=None)
    failed = {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}
    assert failed == {}


def test_chains_are_judged_when_their_topics_have_one_numbering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it, chains that agree would differ by the order of their topics."""
    judged: list[Any] = []
    monkeypatch.setattr("orthodrome.diagnostics.verdict.warn_not_converged", pytest.fail)
    monkeypatch.setattr(
        "orthodrome.models.topics.estimator.warn_not_converged", lambda tree, stacklevel: judged.append(tree)
    )
    counts = np.random.default_rng(0).multinomial(20, np.full(6, 1 / 6), 30)
    model = LDA(2, method="gibbs", num_chains=2, num_warmup=3, num_draws=2, random_state=0).fit(counts)
    assert len(judged) == 1 and judged[0] is model.draws_
