"""Which cases of a matrix the fast suite takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], *fast: Any) -> list[Any]:
    """Return the cases for `pytest.mark.parametrize`, all but the named ones marked as slow."""
    every = list(cases)
    unknown = [case for case in fast if case not in every]
    assert not unknown, f"no such cases: {unknown}"
    return [case if case in fast else slow(case) for case in every]


def slow(*values: Any, **settings: Any) -> Any:
    """Return a case that is left to the slow suite."""
    return pytest.param(*values, marks=pytest.mark.slow, **settings)
