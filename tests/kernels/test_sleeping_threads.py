"""Idle threads of compiled loops sleep, whoever calls the first loop."""

from __future__ import annotations

import os

import numba
import numpy as np
import pytest

from orthodrome.kernels import assignments, transition
from orthodrome.kernels.threads import starting
from orthodrome.kernels.threads.starting import number_of_threads


@pytest.mark.parametrize("policy", [None, "active"])
def test_threads_start_asleep_unless_the_user_says_otherwise(
    policy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(numba, "get_num_threads", lambda: seen.append(os.environ["OMP_WAIT_POLICY"]) or 2)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if policy:
        monkeypatch.setenv("OMP_WAIT_POLICY", policy)
    assert number_of_threads() == 2
    assert seen == [policy or "passive"] and os.environ.get("OMP_WAIT_POLICY") == policy, (
        "the environment is the user's"
    )


def test_functions_that_users_call_start_them(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(name: str) -> int:
        calls.append(name)
        return starting.number_of_threads()

    monkeypatch.setattr(transition, "number_of_threads", lambda: counted("transition"))
    monkeypatch.setattr(assignments, "number_of_threads", lambda: counted("assignments"))
    transition.cir_transition(1, np.zeros(4), 0.5, 0.1)
    one = assignments.Tokens(np.array([0], np.int32), np.array([0, 1]))
    assignments.assign_topics(1, one, np.ones((1, 2), np.float32), np.ones(2, np.float32))
    assert calls[0] == "transition" and calls[-1] == "assignments"
