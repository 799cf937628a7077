"""Three hundred random bad calls end in errors of ours: at most ten in a raw one, and none of those in a kernel."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from orthodrome.errors import OrthodromeError
from support.bad_calls import Call, bad_calls, calls, mixture_calls

WANTED, RAW = 300, 10
KERNELS = ("samplers", "dynamics", "linear", "tuning", "kernels", "metrics", "manifolds", "gradients", "run/loop")


def in_kernel(error: BaseException) -> bool:
    """Whether the innermost of our own frames belongs to a kernel."""
    ours = [frame.filename for frame in traceback.extract_tb(error.__traceback__) if "/orthodrome/" in frame.filename]
    return bool(ours) and any(f"/orthodrome/{kernel}" in ours[-1] for kernel in KERNELS)


CASES = [(calls, WANTED, RAW), (mixture_calls, 80, 3)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("working", [calls, mixture_calls])
def test_the_calls_work_before_they_are_spoilt(working: Callable[[], list[Call]]) -> None:
    for call in working():
        if call.name != "read_draws":
            call.make(**call.arguments)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("working", "wanted", "most"), CASES)
def test_random_bad_calls(
    working: Callable[[], list[Call]], wanted: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused, raw = 0, []
    for text, call in bad_calls(2026, working):
        try:
            call()
        except OrthodromeError:
            refused += 1
        except Exception as error:
            refused += 1
            raw.append(f"{'KERNEL ' * in_kernel(error)}{text}: {type(error).__name__}: {str(error)[:150]}")
        if refused == wanted:
            break
    assert len(raw) <= most and not any(text.startswith("KERNEL") for text in raw), "\n".join(raw)
