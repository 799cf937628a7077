"""Strict JAX for every test: no silent broadcasting between ranks, no silent change of dtype, no key used twice.

Our own warnings are errors. The tests run in float32 unless they take the `x64` fixture.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest

from orthodrome.errors import OrthodromeWarning

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_debug_key_reuse", True)


def pytest_configure(config: pytest.Config) -> None:
    name = f"{OrthodromeWarning.__module__}.{OrthodromeWarning.__qualname__}"
    config.addinivalue_line("filterwarnings", f"error::{name}")


SAME_KERNELS = ("models/sam/", "models/lda/", "models/topics/", "experiments/test_sam.py", "cli/test_topics.py")
"""Tests of the same numba kernels run in one process (`--dist loadgroup`): two would compile them twice."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(part in item.path.as_posix() for part in SAME_KERNELS):
            item.add_marker(pytest.mark.xdist_group("sam"))


@pytest.fixture
def x64() -> Iterator[None]:
    """Float64 inside the test."""
    with jax.enable_x64(True):
        yield
