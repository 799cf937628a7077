"""`SAM` as an estimator: the joint law, planted topics, every method, resume, bad input, scikit-learn's checks."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils.estimator_checks import check_estimator

from orthodrome import SAM
from orthodrome.errors import BadInput, CheckpointError, Diverged, OrthodromeWarning
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.sam.chain_settings import ChainSettings, settings_of
from orthodrome.models.sam.defaults import estimated_concentrations, published_concentrations
from orthodrome.models.sam.documents import DocumentVectors, corpus_mean, read_documents
from orthodrome.models.sam.evaluation import draw_around
from orthodrome.models.sam.law import AdmixtureLaw, unit_rows
from orthodrome.models.sam.methods import sampler_of
from orthodrome.models.sam.proportions import Sweep
from orthodrome.models.sam.sampler import TopicProblem
from orthodrome.models.sam.settings import METHODS
from orthodrome.models.sam.stochastic import StochasticTopics
from orthodrome.models.topics.chains import all_topics, history
from orthodrome.models.topics.sampler import TopicSampler

SMALL: dict[str, Any] = {"dtype": "float64", "n_jobs": 1, "random_state": 0}
QUICK: dict[str, Any] = {"num_warmup": 2, "num_draws": 1, "thin": 1, "num_steps": 1, **SMALL}
WORDS, TOPICS, NUM_DOCUMENTS = 20, 3, 8


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other are slow when tests run side by side."""
    with computing(1):
        yield


def small_law() -> AdmixtureLaw:
    mean = unit_rows(np.random.default_rng(0).random((1, WORDS)))[0]
    return AdmixtureLaw(mean, 30.0, 20.0, 60.0, 2.0)


def joint_draw(law: AdmixtureLaw, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, DocumentVectors]:
    """Topics, proportions and documents from the model."""
    centre = draw_around(law.mean[None], law.corpus_concentration, rng)[0]
    topics = draw_around(np.tile(centre, (TOPICS, 1)), law.topic_concentration, rng)
    theta = rng.dirichlet(np.full(TOPICS, law.doc_topic_prior), NUM_DOCUMENTS)
    rows = draw_around(unit_rows(theta @ topics), law.document_concentration, rng)
    return topics, theta, read_documents(unit_rows(rows), "unit", np.dtype("float64"))


def summaries(law: AdmixtureLaw, topics: np.ndarray, theta: np.ndarray, documents: DocumentVectors) -> np.ndarray:
    """What the joint test compares: lengths, angles, proportions, and how they meet the documents."""
    means, table = unit_rows(theta @ topics), documents.table().toarray()
    angles = (topics @ topics.T)[np.triu_indices(TOPICS, 1)]
    fit = np.sum(means * table, axis=1)
    return np.array([(topics @ law.mean).mean(), angles.mean(), (theta**2).mean(), fit.mean(), topics[0, 0] ** 2])


def stay_in_the_joint(
    law: AdmixtureLaw, wrong: AdmixtureLaw, method: str, repeats: int, num_draws: int, space: str = "sphere"
) -> np.ndarray:
    """z of the change of each summary when exact joint draws are moved by the sampler of `wrong`."""
    rng = np.random.default_rng(1)
    changes = []
    for r in range(repeats):
        topics, theta, documents = joint_draw(law, rng)
        settings = {"step_size": 0.04, "num_steps": 5, "proportion_warmup": 0, "proportion_steps": 5, **SMALL}
        settings |= {"proportion_space": space}
        sampler: Any = sampler_of(SAM(TOPICS, method=method, **settings), wrong, documents)
        step = math.log(0.05 if space == "flat" else 0.1)
        state = sampler.begin(topics, r)._replace(proportions=theta.copy(), log_proportion_step=step)
        for i in range(num_draws):
            state, _ = sampler.move(r * num_draws + i, state, 0.0)
        after = summaries(law, state.topics, state.proportions, documents)
        changes.append(after - summaries(law, topics, theta, documents))
    moved = np.array(changes)
    return moved.mean(axis=0) / (moved.std(axis=0) / math.sqrt(repeats))


@pytest.mark.parametrize(
    ("space", "alpha"),
    [
        ("sphere", 2.0),
        pytest.param("flat", 2.0, marks=pytest.mark.slow),
        pytest.param("slices", 0.3, marks=pytest.mark.slow),
    ],
)
def test_block_gibbs_stays_in_the_joint_law(space: str, alpha: float) -> None:
    """Geweke's joint test by exact joint draws, with each kernel of the proportions: 4 moves of 200 models."""
    law = replace(small_law(), doc_topic_prior=alpha)
    z = stay_in_the_joint(law, law, "gmc-bgibbs", repeats=200, num_draws=4, space=space)
    assert np.all(np.abs(z) < 4), z


@pytest.mark.parametrize(("name", "factor"), [("document_concentration", 1.3), ("doc_topic_prior", 2.0)])
def test_the_joint_test_sees_another_law(name: str, factor: float) -> None:
    """Controls: 30 % too much concentration of the documents, twice the concentration of the proportions."""
    law = small_law()
    wrong = replace(law, **{name: factor * getattr(law, name)})
    assert np.any(np.abs(stay_in_the_joint(law, wrong, "gmc-bgibbs", repeats=120, num_draws=4)) > 4)


def thermostat_bias(law: AdmixtureLaw, step_size: float, repeats: int = 80) -> tuple[float, float]:
    """How far gSGNHT moves the mean angle between topics away from the law, after a time of 5, and its error."""
    rng, changes = np.random.default_rng(1), []
    settings = ChainSettings(
        batch_size=NUM_DOCUMENTS,
        num_steps=5,
        step_size=step_size,
        friction=5.0,
        thermostat=True,
        thermostat_mass=1.0,
        reuse_batch=False,
        compensate=False,
        sweep=Sweep(2, 4, 5, False),
        proportion_step=0.1,
        warm_start=True,
        remember=False,
    )
    for r in range(repeats):
        topics, theta, documents = joint_draw(law, rng)
        sampler = StochasticTopics(TopicProblem(documents, law, TOPICS, 0, NUM_DOCUMENTS, "float64"), settings)
        state = sampler.begin(topics, r)
        for i in range(round(1 / step_size)):
            state, _ = sampler.move(1000 * r + i, state, 0.0)
        before, after = (summaries(law, x, theta, documents)[1] for x in (topics, state.topics))
        changes.append(after - before)
    return float(np.mean(changes)), float(np.std(changes) / math.sqrt(repeats))


@pytest.mark.slow
def test_thermostat_is_of_second_order() -> None:
    """From exact joint draws: a step of 0.2 leaves a bias that 0.1 quarters and 0.05 hides in its error of 0.02."""
    law = small_law()
    (large, _), (half, error), (quarter, last) = (thermostat_bias(law, h) for h in (0.2, 0.1, 0.05))
    assert large > 10 * error
    assert abs(half - large / 4) < 4 * error
    assert abs(quarter) < 4 * last


@pytest.mark.slow
def test_approximate_metropolis_is_biased() -> None:
    """Appendix B's sampler leaves a term out (erratum c-6); it is reported as biased, and it is."""
    law = small_law()
    assert np.any(np.abs(stay_in_the_joint(law, law, "gmc-apprmh", repeats=600, num_draws=12)) > 4)


def planted(num_documents: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three topics on words of their own and a common part, and documents that are mostly of one topic."""
    rng = np.random.default_rng(seed)
    topics = unit_rows(np.kron(np.eye(3), np.ones(20)) + 0.2 * rng.random((3, 60)))
    theta = rng.dirichlet(np.full(3, 1.0), num_documents)
    rows = unit_rows(theta @ topics) + 0.05 * rng.standard_normal((num_documents, 60))
    return topics, unit_rows(rows)


def recovered(model: SAM, topics: np.ndarray) -> float:
    """The smallest of the best cosines."""
    return float((model.components_ @ topics.T).max(axis=0).min())


@pytest.fixture(scope="module")
def fitted() -> SAM:
    _, x = planted(200)
    settings = {"num_warmup": 60, "num_draws": 20, "thin": 2, "doc_topic_prior": 1.0, "batch_size": 40}
    return SAM(3, method="gsgnht", **settings, **SMALL).fit(x)


def test_planted_topics_are_recovered(fitted: SAM) -> None:
    assert recovered(fitted, planted(200)[0]) > 0.97
    assert 0.9 < fitted.temperature_ < 1.1
    assert 0.6 < fitted.acceptance_ < 0.95
    assert dict(fitted.draws_["posterior"].sizes) == {"chain": 1, "draw": 20, "topic": 3, "word": 60}
    assert fitted.draws_["posterior"]["topics"].dims == ("chain", "draw", "topic", "word")
    assert fitted.draws_["warmup_sample_stats"]["temperature"].shape == (1, 60)
    assert "warmup_posterior" not in fitted.draws_
    np.testing.assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1, atol=1e-6)


def test_proportions_have_their_uncertainty(fitted: SAM) -> None:
    topics, x = planted(100, seed=5)
    theta = np.random.default_rng(5)  # the same stream as in `planted`
    theta.random((3, 60))
    truth = theta.dirichlet(np.full(3, 1.0), 100)
    mean, deviation = fitted.proportions(x)
    order = (fitted.components_ @ topics.T).argmax(axis=0)
    assert np.abs(mean[:, order] - truth).mean() < 0.08
    assert 0.0 < deviation.mean() < 0.2
    np.testing.assert_array_equal(fitted.transform(x[:7]), mean[:7])


def test_words_and_score(fitted: SAM) -> None:
    vocabulary = [f"w{i}" for i in range(60)]
    for top, bottom in zip(fitted.top_words(vocabulary, 5), fitted.bottom_words(vocabulary, 5), strict=True):
        groups = {int(word[1:]) // 20 for word in top}
        assert len(groups) == 1
        assert groups.isdisjoint({int(word[1:]) // 20 for word in bottom})
    x = planted(50, seed=9)[1]
    shuffled = x[:, np.random.default_rng(0).permutation(60)]
    assert fitted.score(x) > fitted.score(shuffled) + 10
    assert fitted.log_perplexity(x, estimator="prior", num_topics=4, num_draws=50) > fitted.log_perplexity(x)
    with pytest.raises(BadInput, match="columns"):
        fitted.top_words(vocabulary[:3])


@pytest.mark.parametrize(
    "method", [pytest.param(n, marks=[pytest.mark.slow] * (n == "vi")) for n in METHODS if n != "gsgnht"]
)
def test_every_method_finds_them(method: str) -> None:
    topics, x = planted(120)
    num = {"vi": 25, "stovi": 300}.get(method, 60)
    settings = {"num_warmup": num, "num_draws": 5, "doc_topic_prior": 1.0, "batch_size": 40, "thin": 1}
    model = SAM(3, method=method, **settings, **SMALL).fit(x)
    assert recovered(model, topics) > 0.9


def test_published_settings_are_hot() -> None:
    """With the paper's steps the kinetic temperature is far from one (erratum c-2)."""
    x, settings = planted(200)[1], {"num_warmup": 5, "num_draws": 5, "thin": 1, "batch_size": 20}
    for name in (True, "wikipedia"):
        model = SAM(3, method="sggmc", published=name, **settings, **SMALL).fit(x)
        assert model.temperature_ > 3


@pytest.mark.slow
def test_published_settings_of_the_other_methods() -> None:
    """The authors' GMC methods have fixed small steps and begin the proportions anew; StoVI forgets by the data set."""
    x, settings = planted(60)[1], {"num_warmup": 3, "num_draws": 3, "thin": 1}
    for name, step in (("20news", 1e-4), ("wikipedia", 5e-5)):
        model = SAM(3, method="gmc-apprmh", published=name, **settings, **SMALL).fit(x)
        assert model.step_size_ == pytest.approx(step) and model.proportion_step_ == pytest.approx(1e-6)
    still = SAM(3, method="gmc-bgibbs", published=True, **settings, **SMALL).fit(x)
    free = SAM(3, method="gmc-bgibbs", **settings, **SMALL).fit(x)
    moved = lambda model: np.abs(np.diff(all_topics(model.draws_), axis=0)).max()
    assert still.step_size_ == pytest.approx(2e-5) and moved(still) < 0.1 * moved(free)
    fast, slow = (
        SAM(3, method="stovi", published=name, num_warmup=0, num_draws=20, thin=1, **SMALL).fit(x)
        for name in ("20news", "wikipedia")
    )
    assert moved(slow) > 0 and not np.allclose(all_topics(fast.draws_)[-1], all_topics(slow.draws_)[-1])


class Killed(Exception):
    """A kill in the middle of a run."""


@pytest.mark.parametrize("method", ["gsgnht", "gmc-bgibbs", "stovi"])
def test_a_killed_run_goes_on_to_the_same_numbers(method: str, tmp_path: Path, monkeypatch: Any) -> None:
    """In the warm-up and in the draws; with two chains, of which the first is ahead when the kill comes."""
    x = planted(60)[1]
    settings = {"method": method, "num_warmup": 4, "num_draws": 4, "thin": 2, "num_steps": 2, "batch_size": 20, **SMALL}
    settings["num_chains"] = 2
    whole = SAM(3, **settings).fit(x, held_out=x[:20])
    transition, count = TopicSampler.transition, [0]

    def killed(sampler: Any, *args: Any) -> Any:
        count[0] += 1
        if count[0] in (6, 19):
            raise Killed
        return transition(sampler, *args)

    monkeypatch.setattr(TopicSampler, "transition", killed)
    for _ in range(2):
        with pytest.raises(Killed):
            SAM(3, **settings).fit(x, checkpoint=tmp_path, checkpoint_every=0.0, held_out=x[:20])
    monkeypatch.setattr(TopicSampler, "transition", transition)
    again = SAM.resume(tmp_path, x, held_out=x[:20])
    np.testing.assert_array_equal(all_topics(again.draws_), all_topics(whole.draws_))
    for name in ("cosine", "log_perplexity"):
        for one, other in zip(history(again.draws_, name, 2), history(whole.draws_, name, 2), strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(CheckpointError, match="thin 2 then, 3 now"):
        SAM(3, **{**settings, "thin": 3}).fit(x, checkpoint=tmp_path, held_out=x[:20])
    with pytest.raises(CheckpointError, match="data differ"):
        SAM(3, **settings).fit(x[:50], checkpoint=tmp_path, held_out=x[:20])
    with pytest.raises(CheckpointError, match="held_out True then, False now"):
        SAM(3, **settings).fit(x, checkpoint=tmp_path)


def test_a_random_seed_is_taken_from_the_checkpoint(tmp_path: Path) -> None:
    x, settings = planted(40)[1], {**QUICK, "random_state": None}
    first = SAM(3, **settings).fit(x, checkpoint=tmp_path)
    again = SAM(3, **settings).fit(x, checkpoint=tmp_path)
    assert again.seed_ == first.seed_
    np.testing.assert_array_equal(all_topics(again.draws_), all_topics(first.draws_))


def test_old_checkpoints_are_refused_with_their_version(tmp_path: Path) -> None:
    """What versions before the common format wrote: settings.json beside a commit without a format."""
    (tmp_path / "settings.json").write_text(json.dumps({"identity": {"versions": {"orthodrome": "0.0.7"}}}))
    (tmp_path / "commit.json").write_text(json.dumps({"number": 1, "done": 5, "kept": 0, "seconds": {}}))
    x = planted(40)[1]
    for go in (lambda: SAM.resume(tmp_path, x), lambda: SAM(3, **QUICK).fit(x, checkpoint=tmp_path)):
        with pytest.raises(CheckpointError, match=r"written by orthodrome 0\.0\.7.*choose another folder") as caught:
            go()
        assert "\n" not in str(caught.value)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="contains no run of a model"):
        SAM.resume(tmp_path, planted(40)[1])


def test_topics_of_all_chains_have_one_numbering() -> None:
    """From different starts the chains number the topics differently; their draws are put in one order."""
    topics, x = planted(120)
    settings = {"num_warmup": 60, "num_draws": 6, "thin": 2, "doc_topic_prior": 1.0, "batch_size": 40, "num_chains": 3}
    model = SAM(3, **settings, **SMALL).fit(x)
    means = np.asarray(model.draws_["posterior"]["topics"].mean("draw"))
    places = [(mean @ topics.T).argmax(axis=1).tolist() for mean in means]
    assert places[0] == places[1] == places[2] and sorted(places[0]) == [0, 1, 2]
    assert recovered(model, topics) > 0.97
    assert not np.allclose(means[0], means[1], atol=1e-6), "the chains are not copies of each other"


def test_words_label_the_draws() -> None:
    x = planted(40)[1]
    words = [f"w{i}" for i in range(60)]
    model = SAM(3, **QUICK).fit(x, vocabulary=words)
    assert model.draws_["posterior"]["topics"].sel(word="w7").shape == (1, 1, 3)
    with pytest.raises(BadInput, match="the vocabulary has 59 words"):
        SAM(3, **QUICK).fit(x, vocabulary=words[:-1])


def test_a_chain_that_is_not_finite_is_named() -> None:
    """A step size that is far too large: `Diverged`, with what was drawn before."""
    x = planted(40)[1]
    with np.errstate(all="ignore"), pytest.raises(Diverged, match="non-finite"):
        SAM(3, step_size=1e200, friction=1.0, num_warmup=0, num_draws=5, thin=1, **SMALL).fit(x)


def test_streams_of_documents() -> None:
    topics, x = planted(300)
    model = SAM(3, method="sggmc", num_warmup=40, num_draws=5, total_documents=300, doc_topic_prior=1.0, **SMALL)
    for i in range(60):
        model.partial_fit(x[50 * (i % 6) : 50 * (i % 6 + 1)])
    assert recovered(model, topics) > 0.9


def test_cost_does_not_depend_on_the_number_of_documents() -> None:
    """The kernels see the batch only: memory is the one array with a row for each document."""
    x = scipy.sparse.csr_matrix(planted(50)[1])
    for copies in (1, 20):
        documents = read_documents(scipy.sparse.vstack([x] * copies), "unit", np.dtype("float64"))
        model = SAM(3, batch_size=20, num_steps=2, **SMALL)
        law = AdmixtureLaw(corpus_mean(documents), 60.0, 60.0, 100.0, 2.0)
        problem = TopicProblem(documents, law, 3, 0, documents.count, "float64")
        sampler = StochasticTopics(problem, settings_of(model, documents.count))
        state, _ = sampler.move(1, sampler.begin(planted(50)[0], 0), 1.0)
        assert state.proportions.shape == (50 * copies, 3)
        assert np.isfinite(state.proportions[:, 0]).sum() <= 22 * 20  # 20 looks and 2 steps


def test_bad_input() -> None:
    x = planted(30)[1]
    with pytest.raises(BadInput, match=r"length 2, not 1.*normalize"):
        SAM(3, **SMALL).fit(2 * x)
    empty = scipy.sparse.csr_matrix(np.vstack([x, np.zeros((1, 60))]))
    with pytest.raises(BadInput, match="row 30"):
        SAM(3, **SMALL).fit(empty)
    with pytest.raises(BadInput, match="negative counts"):
        SAM(3, rows="counts", **SMALL).fit(-np.ones((3, 4)))
    wrong = [("method", "lda"), ("n_components", 0), ("step_size", -1.0), ("doc_topic_prior", 0.0), ("batch_size", 0)]
    wrong += [("num_chains", 0)]
    wrong += [
        ("published", "reuters"),
        ("num_warmup", -1),
        ("doc_topic_prior", 1e-6),
        ("document_concentration", math.inf),
    ]
    for name, value in wrong:
        with pytest.raises(BadInput, match=name):
            SAM(**{"n_components": 3, **SMALL, name: value}).fit(x)
    with pytest.warns(OrthodromeWarning, match="more than the 4 words"):
        SAM(5, rows="normalize", **QUICK).fit(np.abs(x[:, :4]))
    huge = SAM(3, corpus_concentration=1e9, topic_concentration=1e12, document_concentration=1e10, **QUICK).fit(x)
    assert np.isfinite(huge.components_).all()


def test_sparse_proportions(fitted: SAM) -> None:
    """doc_topic_prior = 0.1, the usual in topic models: topics are found, and proportions nearer to the corners."""
    topics, x = planted(200)
    settings = {"num_warmup": 60, "num_draws": 10, "thin": 2, "doc_topic_prior": 0.1, "batch_size": 40}
    model = SAM(3, **settings, **SMALL).fit(x)
    assert recovered(model, topics) > 0.93
    assert 0.9 < model.temperature_ < 1.1
    mean, dense = model.transform(x), fitted.transform(x)
    assert np.isfinite(mean).all() and (mean.max(axis=1) > 0.95).mean() > (dense.max(axis=1) > 0.95).mean()
    assert np.isfinite(model.score(x))


def test_the_log_perplexity_is_watched() -> None:
    """From warm-up on; of documents like these it falls, of others it stays higher."""
    x, settings = planted(150)[1], {"num_warmup": 40, "num_draws": 5, "thin": 2, "num_steps": 5, "batch_size": 40}
    other = x[:, np.random.default_rng(0).permutation(60)]
    fits = [SAM(3, **settings, **SMALL).fit(x, held_out=rows) for rows in (x, other)]
    (at, mine), (_, others) = (history(model.draws_, "log_perplexity", 2) for model in fits)
    assert at.tolist() == [*range(1, 41), 42, 44, 46, 48, 50] and mine.shape == (1, 45)
    assert len(np.unique(mine[np.isfinite(mine)])) == 25 and np.isnan(mine[0, 0]) and np.isfinite(mine[0, 1])
    assert mine[0, -1] < mine[0, 1] - 1 and mine[0, -1] < others[0, -1] - 10


def test_concentrations_are_estimated_from_the_documents() -> None:
    """Documents of a known law: kappa1 within 30 %, and the prior of a topic is one document; the paper's are not."""
    rng, size, count = np.random.default_rng(0), 200, 6
    centre = unit_rows(rng.random((1, size)))
    topics = draw_around(np.tile(centre, (count, 1)), 150.0, rng)
    theta = rng.dirichlet(np.full(count, 0.3), 800)
    x = draw_around(unit_rows(theta @ topics), 250.0, rng)
    documents = read_documents(unit_rows(x), "unit", np.dtype("float64"))
    kappa0, sigma, kappa1 = estimated_concentrations(documents, count)
    assert kappa0 == sigma == kappa1
    assert abs(kappa1 / 250 - 1) < 0.3
    assert abs(published_concentrations(size)[2] / 250 - 1) > 2
    for few in (1, 2, 3):
        rows = read_documents(unit_rows(x[:few]), "unit", np.dtype("float64"))
        assert np.isfinite(estimated_concentrations(rows, count)).all()


MANY_DOCUMENTS = """
import resource, sys
from benchmarks.sam import made_up
from orthodrome.models.sam import SAM
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.sam.methods import sampler_of
model = SAM(50, rows="normalize", random_state=0, n_jobs=1, batch_size=100)
documents = model.prepare(made_up(150_000, 3000))
with computing(1):
    sampler = sampler_of(model, model.law_, documents)
    state = sampler.begin(sampler.first_topics(0), 0)
    for seed in range(3):
        state, _ = sampler.move(seed, state, 0.5)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


@pytest.mark.slow
def test_many_documents_fit_in_memory() -> None:
    """150,000 documents of 3,000 words stay below 3 GB; what a draw of them costs is in `benchmarks/sam.py`."""
    done = subprocess.run([sys.executable, "-c", MANY_DOCUMENTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 3


def test_counts_become_tf_idf_as_published() -> None:
    counts = np.array([[2, 0, 1, 0], [0, 1, 1, 0], [3, 0, 0, 1], [0, 0, 1, 2.0], [0, 2, 0, 0]])
    idf = np.log(5 / (1 + (counts > 0).sum(axis=0)))
    expected = unit_rows(counts * idf)
    found = read_documents(counts, "counts", np.dtype("float64")).table().toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)


EMPTY = "the data of this check have empty rows, which have no direction and are refused by design"
EXPECTED_FAILURES = dict.fromkeys(
    (
        "check_estimators_dtypes",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    ),
    EMPTY,
)


def test_scikit_learn_checks() -> None:
    quick = {"num_warmup": 2, "num_draws": 2, "thin": 1, "num_steps": 2, "batch_size": 10}
    model = SAM(2, rows="normalize", **quick, **SMALL)
    results = check_estimator(model, expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None)
    failed = {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}
    assert failed == {}
