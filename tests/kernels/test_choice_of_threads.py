"""The faster number of threads is taken, tried again now and then; a number that is asked for is kept."""

from __future__ import annotations

from typing import Any

import numba
import pytest

from orthodrome.kernels.threads import choice as thread_choice
from orthodrome.kernels.threads.choice import EVERY, FIRST, TRIALS, FastestThreads, choice, on_fastest_threads
from orthodrome.kernels.threads.computing import computing


class Clocked:
    """A function that takes a given time on each number of threads, by a clock of its own."""

    def __init__(self, milliseconds: dict[int, float]) -> None:
        self.milliseconds, self.used, self.now = milliseconds, [], 0.0

    def perf_counter(self) -> float:
        return self.now

    def __call__(self, word: str) -> str:
        self.used.append(numba.get_num_threads())
        self.now += 1e-3 * self.milliseconds[numba.get_num_threads()]
        return word


@pytest.fixture
def clocked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A maker of functions whose clock is the one that threads are chosen by."""

    def make(milliseconds: dict[int, float]) -> Clocked:
        function = Clocked(milliseconds)
        monkeypatch.setattr(thread_choice, "time", function)
        return function

    return make


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize(("milliseconds", "fastest"), [({1: 0.5, 2: 3.0}, 1), ({1: 3.0, 2: 0.5}, 2)])
def test_the_faster_is_taken(clocked: Any, milliseconds: dict[int, float], fastest: int) -> None:
    function, chosen = clocked(milliseconds), FastestThreads()
    with computing(2):
        for _ in range(FIRST + TRIALS + 10):
            assert chosen.call(function, "word") == "word"
        assert numba.get_num_threads() == 2, "given back"
    assert set(function.used[FIRST : FIRST + TRIALS]) == {1, 2} and set(function.used[FIRST + TRIALS :]) == {fastest}


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_it_is_tried_again(clocked: Any) -> None:
    function, chosen = clocked({1: 0.0, 2: 2.0}), FastestThreads()
    with computing(2):
        for _ in range(EVERY):
            chosen.call(function, "")
        function.milliseconds = {1: 2.0, 2: 0.0}
        for _ in range(TRIALS + 3):
            chosen.call(function, "")
    assert function.used[-1] == 2


def test_a_number_that_is_asked_for_is_kept() -> None:
    for n_jobs in (1, None):
        with computing(n_jobs):
            assert (choice.get() is None) == (n_jobs is not None)
            assert on_fastest_threads(len, "abc") == 3
            assert choice.get() is None or choice.get().calls == 1
    assert choice.get() is None
