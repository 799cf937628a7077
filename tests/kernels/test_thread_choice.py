"""The faster number of threads is taken, tried again now and then; a number that is asked for is kept."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from orthodrome.kernels import thread_choice
from orthodrome.kernels.computing import computing
from orthodrome.kernels.thread_choice import EVERY, FIRST, TRIALS, FastestThreads
from orthodrome.models.sam import SAM
from orthodrome.models.sam.documents import read_documents
from orthodrome.models.sam.law import Law, unit_rows
from orthodrome.models.sam.run import engine_of


class Clocked:
    """An engine that takes a given time on each number of threads, by a clock of its own."""

    def __init__(self, milliseconds: dict[int, float]) -> None:
        self.milliseconds, self.used, self.seconds = milliseconds, [], {"all": 1.0}
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def draw(self, state: object, tune: float) -> str:
        self.used.append(numba.get_num_threads())
        self.now += 1e-3 * self.milliseconds[numba.get_num_threads()]
        return "report"


@pytest.fixture
def clocked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A maker of engines whose clock is the one that threads are chosen by."""

    def make(milliseconds: dict[int, float]) -> Clocked:
        engine = Clocked(milliseconds)
        monkeypatch.setattr(thread_choice, "time", engine)
        return engine

    return make


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize(("milliseconds", "fastest"), [({1: 0.5, 2: 3.0}, 1), ({1: 3.0, 2: 0.5}, 2)])
def test_the_faster_is_taken(clocked: Any, milliseconds: dict[int, float], fastest: int) -> None:
    engine = clocked(milliseconds)
    with computing(2):
        chosen = FastestThreads(engine)
        for _ in range(FIRST + TRIALS + 10):
            assert chosen.draw(None, 0.0) == "report"
        assert numba.get_num_threads() == 2, "given back"
    assert set(engine.used[FIRST : FIRST + TRIALS]) == {1, 2} and set(engine.used[FIRST + TRIALS :]) == {fastest}
    assert chosen.seconds == {"all": 1.0}


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_it_is_tried_again(clocked: Any) -> None:
    engine = clocked({1: 0.0, 2: 2.0})
    with computing(2):
        chosen = FastestThreads(engine)
        for _ in range(EVERY):
            chosen.draw(None, 0.0)
        engine.milliseconds = {1: 2.0, 2: 0.0}
        for _ in range(TRIALS + 3):
            chosen.draw(None, 0.0)
    assert engine.used[-1] == 2


def test_a_number_that_is_asked_for_is_kept() -> None:
    law = Law(unit_rows(np.ones((1, 4)))[0], 30.0, 20.0, 60.0, 2.0)
    documents = read_documents(unit_rows(np.eye(4) + 0.1), "unit", np.dtype("float64"))
    for n_jobs in (1, None):
        engine = engine_of(SAM(3, n_jobs=n_jobs), law, documents, 0)
        assert isinstance(engine, FastestThreads) == (n_jobs is None)
