"""Which cases of a matrix the fast suite takes, and how it compiles programs that run for long."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import Any

import jax
import pytest

UNOPTIMISED = "--xla_backend_optimization_level=0" in os.environ.get("XLA_FLAGS", "")
long_run = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 1} if UNOPTIMISED else None)
"""`jax.jit` for thousands of chains or steps, of which the fast suite would otherwise run unoptimised code: compiling
takes about twice as long, running a third."""


def quick(cases: Iterable[Any], *fast: Any) -> list[Any]:
    """Return the cases for `pytest.mark.parametrize`, all but the named ones marked as slow."""
    every = list(cases)
    unknown = [case for case in fast if case not in every]
    assert not unknown, f"no such cases: {unknown}"
    return [case if case in fast else slow(case) for case in every]


def slow(*values: Any, **settings: Any) -> Any:
    """Return a case that is left to the slow suite."""
    return pytest.param(*values, marks=pytest.mark.slow, **settings)
