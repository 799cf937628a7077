"""Strict JAX for every test: no silent broadcasting between ranks, no silent change of dtype, no key used twice.

Our own warnings are errors. The tests run in float32 unless they take the `x64` fixture.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

from orthodrome.errors import NotConverged, OrthodromeWarning

os.environ["ORTHODROME_CACHE"] = "off"  # what was compiled before must not matter, and the user's folder is theirs
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_debug_key_reuse", True)


def pytest_configure(config: pytest.Config) -> None:
    name = f"{OrthodromeWarning.__module__}.{OrthodromeWarning.__qualname__}"
    config.addinivalue_line("filterwarnings", f"error::{name}")
    # Runs of tests are short on purpose, and judged by exact laws: what says no more than that is let pass. A wrong
    # temperature is not a matter of length, and comes first in the line. `tests/diagnostics` expects the rest.
    short = f"{NotConverged.__module__}.{NotConverged.__qualname__}"
    config.addinivalue_line("filterwarnings", f"ignore:the run did not converge. (R-hat|only|[0-9]+%|no chain):{short}")


GROUPS = {
    "topics": (
        *("models/sam/", "models/lda/", "models/topics/", "experiments/test_sam.py", "experiments/test_lda.py"),
        *("cli/test_topics.py", "jobs/test_topics_files.py", "corpora/test_mapped.py", "kernels/test_assignments.py"),
    ),
    "mixture": ("models/mixture/", "cli/test_cluster.py"),
    "runs": ("run/",),
}
"""Tests of the same numba kernels, or of the same compiled run, go to one process (`--dist loadgroup`): two would
compile them twice. So do the tests of one file, which share fixtures and programs."""
EACH_ALONE = (
    "samplers/test_stay_in_truth.py",
    "samplers/test_discrete_law.py",
    "samplers/test_controls.py",
    "manifolds/",
    "experiments/",
    "test_examples.py",
    "test_readme.py",
    "test_public_names.py",
)
"""Files whose tests share next to nothing: they fill whichever process is free."""


def group_of(path: str) -> str | None:
    """Which process a test goes to, or None for any."""
    named = (name for name, parts in GROUPS.items() if any(part in path for part in parts))
    return next(named, None if any(part in path for part in EACH_ALONE) else path)


def manifold_of(item: pytest.Item) -> str | None:
    """Which process a test of what every manifold promises goes to: those of one manifold share compiled functions."""
    named = getattr(getattr(item, "callspec", None), "params", {}).get("name")
    return f"manifold {named}" if named and item.path.match("manifolds/test_contract.py") else None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        group = manifold_of(item) or group_of(item.path.relative_to(Path(__file__).parent).as_posix())
        if group is not None and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
def x64() -> Iterator[None]:
    """Float64 inside the test."""
    with jax.enable_x64(True):
        yield
