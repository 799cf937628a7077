"""Strict JAX for every test: no silent broadcasting between ranks, no silent change of dtype, no key used twice.

Our own warnings are errors. The tests run in float32 unless they take the `x64` fixture.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import jax
import pytest

from orthodrome.errors import NotConverged, OrthodromeWarning
from support.long_cases import is_long, unknown

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # also where a test calls a compiled loop itself (kernels.threads)
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the long cases as slow, and refuse a list of them that names tests which are no longer there."""
    whole = not any("::" in argument for argument in config.args)
    if whole and (gone := unknown([item.nodeid for item in items])):
        raise pytest.UsageError(f"support/long_cases.py names tests that are not there: {', '.join(gone)}")
    for item in items:
        if is_long(item.nodeid):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Spare Python's collector what lives to the end of the run, the modules and the tests, and let it look less often
    at what tracing makes: it took some per cent of the processor time of files that mostly trace."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give tests to processes by group, also after one of them died."""
    from support.by_group import ByGroup

    return ByGroup(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture
def x64() -> Iterator[None]:
    """Float64 inside the test."""
    with jax.enable_x64(True):
        yield
