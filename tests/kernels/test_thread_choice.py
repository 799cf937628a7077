"""The faster number of threads is taken, tried again now and then; a number that is asked for is kept."""

from __future__ import annotations

import time

import numba
import pytest

from orthodrome.kernels.computing import computing
from orthodrome.kernels.thread_choice import EVERY, FIRST, TRIALS, FastestThreads, choice, on_fastest_threads


class Clocked:
    """A function that takes a given time on each number of threads."""

    def __init__(self, milliseconds: dict[int, float]) -> None:
        self.milliseconds, self.used = milliseconds, []

    def __call__(self, word: str) -> str:
        self.used.append(numba.get_num_threads())
        time.sleep(1e-3 * self.milliseconds[numba.get_num_threads()])
        return word


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize(("milliseconds", "fastest"), [({1: 0.5, 2: 3.0}, 1), ({1: 3.0, 2: 0.5}, 2)])
def test_the_faster_is_taken(milliseconds: dict[int, float], fastest: int) -> None:
    function, chosen = Clocked(milliseconds), FastestThreads()
    with computing(2):
        for _ in range(FIRST + TRIALS + 10):
            assert chosen.call(function, "word") == "word"
        assert numba.get_num_threads() == 2, "given back"
    assert set(function.used[FIRST : FIRST + TRIALS]) == {1, 2} and set(function.used[FIRST + TRIALS :]) == {fastest}


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_it_is_tried_again() -> None:
    function, chosen = Clocked({1: 0.0, 2: 2.0}), FastestThreads()
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
