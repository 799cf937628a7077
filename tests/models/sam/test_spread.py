"""Documents over processes: 1, 2 and 4 of them draw the same topics, bit for bit, each with its part of the documents.

The processes are threads of this one, of which one at a time runs; `tests/run/test_hosts.py` has real ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from orthodrome.errors import BadInput
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.sam import SAM, exact
from orthodrome.models.sam import documents as reading
from orthodrome.models.sam.batch import look, slope, whole
from orthodrome.models.sam.documents import DocumentVectors, corpus_mean, read_documents
from orthodrome.models.sam.law import AdmixtureLaw, unit_rows
from orthodrome.models.sam.methods import sampler_of
from orthodrome.models.sam.spread import survey
from orthodrome.models.sam.spread import vectors as spread
from orthodrome.models.sam.spread.sums import bound_of, sums_of_all

COUNT, TOPICS = 37, 3


class Thread:
    """A process that is a thread: it runs while it has the lock, and exchanges give the lock to the next."""

    def __init__(self, process: int, others: list[Any], lock: threading.Condition) -> None:
        self.process, self.processes, self.others, self.lock = process, len(others), others, lock
        self.said = 0
        self.sizes: list[int] = []

    def gather(self, values: np.ndarray) -> np.ndarray:
        at, self.said = self.said, self.said + 1
        self.others[self.process].append(np.array(values))
        self.sizes.append(np.asarray(values).nbytes)
        self.lock.notify_all()
        assert self.lock.wait_for(lambda: all(len(each) > at for each in self.others), timeout=300)
        return np.stack([each[at] for each in self.others])

    def total(self, values: np.ndarray) -> np.ndarray:
        assert values.dtype == np.int64
        return self.gather(values).sum(axis=0)


def lone() -> Any:
    """A process that is alone."""
    return Thread(0, [[]], threading.Condition())


def on_all(monkeypatch: pytest.MonkeyPatch, processes: int, run: Callable[[Any], Any]) -> list[Any]:
    """Return what `run` returns on every process; the last one begins first."""
    local, lock = threading.local(), threading.Condition()
    others: list[Any] = [[] for _ in range(processes)]
    found: list[Any] = [None] * processes
    for module in (spread, exact):
        monkeypatch.setattr(module, "Team", lambda: local.team)

    def work(process: int) -> None:
        with lock, computing(1):
            local.team = Thread(process, others, lock)
            found[process] = run(local.team)

    threads = [threading.Thread(target=work, args=(number,)) for number in reversed(range(processes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def table() -> scipy.sparse.csr_matrix:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(TOPICS), COUNT) @ np.kron(np.eye(TOPICS), np.ones(9))
    rows *= rng.random(rows.shape) < 0.6
    rows[:, 0] += 0.1
    return scipy.sparse.csr_matrix(rows)


def documents() -> DocumentVectors:
    return read_documents(table(), "normalize", np.dtype("float32"))


def surveyed(team: Any, rows: str = "normalize") -> survey.Survey:
    """What a process keeps of the documents, and what it knows of all."""
    if team.processes == 1:
        return survey.survey_of(read_documents(table(), rows, np.dtype("float32")))
    return survey.survey_of_part(table(), rows, np.dtype("float32"), team)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read in several blocks, and nobody is asked whether all have the same."""
    monkeypatch.setattr(reading, "BLOCK", 16)
    monkeypatch.setattr(survey, "check_same", lambda team, given: None)


def run(method: str, seed: int, **settings: Any) -> Callable[[Any], Any]:
    """Return what each process does: some transitions, of which it returns the state and the rows that it has."""
    small = {"proportion_warmup": 2, "proportion_draws": 3, "proportion_steps": 3, "num_steps": 3, "batch_size": 16}
    model = SAM(TOPICS, method=method, num_warmup=3, **{**small, **settings})
    law = AdmixtureLaw(corpus_mean(documents()), 20.0, 30.0, 50.0, 1.0)

    def work(team: Any) -> Any:
        held = surveyed(team).documents
        sampler: Any = sampler_of(model, law, held)
        state = sampler.init(None, np.uint32([0, seed]))
        for i in range(4):
            state, info = sampler.move(i, state, 1 - i / 3)
        return state, info, held, team.sizes

    return work


CASES = [
    ("sggmc", {}),
    ("gsgnht", {"variance_reduction": False, "batch_size": None}),
    ("gsgnht", {"published": True, "batch_size": 5}),
    ("gmc-bgibbs", {}),
    ("gmc-apprmh", {"published": True}),
]


@pytest.mark.parametrize(("method", "settings"), CASES)
def test_topics_do_not_depend_on_the_number_of_processes(
    monkeypatch: pytest.MonkeyPatch, method: str, settings: dict[str, Any]
) -> None:
    alone, told, _, _ = on_all(monkeypatch, 1, run(method, 1, **settings))[0]
    for processes in (2, 4):
        found = on_all(monkeypatch, processes, run(method, 1, **settings))
        for number, (state, info, held, _) in enumerate(found):
            np.testing.assert_array_equal(state.topics, alone.topics)
            assert info == told
            whose = slice(number, None, processes)
            assert held.own.count == len(range(COUNT)[whose]) and held.count == COUNT
            np.testing.assert_array_equal(state.proportions, alone.proportions[whose])
            if "velocity" in state._fields:
                np.testing.assert_array_equal(state.memory.table, alone.memory.table[whose])
                np.testing.assert_array_equal(state.memory.linear, alone.memory.linear)
                np.testing.assert_array_equal(state.velocity, alone.velocity)
    other = on_all(monkeypatch, 2, run(method, 2, **settings))[0][0]
    assert not np.array_equal(other.topics, alone.topics)


def test_what_crosses_is_a_batch_or_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the corpus: a process says less than its part of the documents and of what is remembered of them."""
    _, _, held, sizes = on_all(monkeypatch, 4, run("sggmc", 1, batch_size=4))[0]
    each = 4 * (TOPICS + 3 * TOPICS + TOPICS + 1 + 2) + 8 * int(held.lengths.max())
    assert 0 < max(sizes) <= 4 * each
    _, _, _, sizes = on_all(monkeypatch, 4, run("gmc-bgibbs", 1))[0]
    assert max(sizes) == 8 * (TOPICS * held.num_words + TOPICS**2 + 2)


def test_fewer_documents_than_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    team: Any = Thread(0, [[]] * 4, threading.Condition())
    with pytest.raises(BadInput, match="fewer than there are processes"):
        survey.survey_of_part(table()[:3], "normalize", np.dtype("float32"), team)


@pytest.mark.parametrize("rows", ["normalize", "counts"])
def test_all_know_the_same_of_the_documents_and_keep_their_part(rows: str) -> None:
    """The mean, the sample and the few that a process knows are those of a lone one, bit for bit."""
    whole, teams = surveyed(lone(), rows), range(4)
    found = [surveyed(Thread(number, [[]] * 4, threading.Condition()), rows) for number in teams]
    for number, each in enumerate(found):
        assert np.array_equal(each.mean, whole.mean)
        for part, other in ((each.sample, whole.sample), (each.few, whole.few)):
            assert (part.table() != other.table()).nnz == 0
        own: Any = each.documents
        assert (own.own.table() != whole.documents.own.table()[number::4]).nnz == 0
        assert np.array_equal(own.lengths, np.diff(whole.documents.own.indptr))
        assert own.own.values.nbytes < 0.4 * whole.documents.own.values.nbytes
    one, other = (each.documents.own.chosen(np.arange(9)).table() for each in found[:2])
    assert (one != other).nnz > 0


def test_a_wrong_row_is_named_by_its_number_in_the_whole_table() -> None:
    empty = table().tolil()
    empty[20] = 0
    with pytest.raises(BadInput, match="row 20"):
        read_documents(empty.tocsr(), "normalize", np.dtype("float32"))
    longer = documents().table().tolil()
    longer[35] *= 2
    with pytest.raises(BadInput, match="row 35 of X has length 2"):
        read_documents(longer.tocsr(), "unit", np.dtype("float32"))


def test_sums_in_whole_numbers_are_the_gradient_and_do_not_depend_on_order() -> None:
    data = documents().in_float64()
    law = AdmixtureLaw(corpus_mean(data), 20.0, 30.0, 50.0, 2.0)
    rng, team = np.random.default_rng(1), lone()
    topics = unit_rows(rng.standard_normal((TOPICS, data.num_words)))
    assert bound_of(topics @ topics.T) > 1  # some are at more than a right angle
    draws = spread.in_blocks(rng.dirichlet(np.ones(TOPICS), (COUNT, 2)))
    view = look(topics, data, np.arange(COUNT))
    found = sums_of_all(view, draws, COUNT, team)
    plain = slope(law, view, draws, COUNT)
    gradient = law.document_concentration * (found.linear - found.moment @ topics) + law.prior_gradient(topics)
    np.testing.assert_allclose(gradient, whole(plain, law, topics, data, view), rtol=1e-11, atol=1e-11)
    assert found.cosine == pytest.approx(plain.glance.cosine, rel=1e-12)
    order = rng.permutation(COUNT)
    other = look(topics, data.chosen(order), np.arange(COUNT))
    mixed = spread.in_blocks(spread.by_document(draws, COUNT, TOPICS)[order])
    again = sums_of_all(other, mixed, COUNT, team)
    assert np.array_equal(again.linear, found.linear) and np.array_equal(again.moment, found.moment)
    assert again.cosine == found.cosine
    backwards = slope(law, other, mixed, COUNT)  # the control: plain sums do depend on it
    assert not np.array_equal(backwards.moment, plain.moment)


def test_topics_that_cancel_each_other_have_no_gradient() -> None:
    data = documents().in_float64()
    topics = unit_rows(np.random.default_rng(1).standard_normal((1, data.num_words)))
    topics = np.concatenate([topics, -topics])
    draws = spread.in_blocks(np.full((COUNT, 1, 2), [0.5, 0.5 + 1e-9]))
    team = lone()
    found = sums_of_all(look(topics, data, np.arange(COUNT)), draws, COUNT, team)
    assert np.isnan(found.linear).all() and np.isnan(found.cosine)
    view = look(topics, data, np.arange(COUNT))
    found = sums_of_all(view._replace(gram=np.full_like(view.gram, np.nan)), draws, COUNT, team)
    assert np.isnan(found.linear).all()
