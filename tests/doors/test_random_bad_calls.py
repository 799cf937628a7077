"""Three hundred random bad calls end in errors of ours: at most ten in a raw one, and none of those in a kernel."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from orthodrome.errors import OrthodromeError
from support.bad_calls import bad_calls, calls

WANTED, RAW = 300, 10
KERNELS = ("samplers", "dynamics", "linear", "tuning", "kernels", "metrics", "manifolds", "gradients", "run/loop")


def in_kernel(error: BaseException) -> bool:
    """Whether the innermost of our own frames belongs to a kernel."""
    ours = [frame.filename for frame in traceback.extract_tb(error.__traceback__) if "/orthodrome/" in frame.filename]
    return bool(ours) and any(f"/orthodrome/{kernel}" in ours[-1] for kernel in KERNELS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_calls_work_before_they_are_spoilt() -> None:
    for call in calls():
        if call.name != "read_draws":
            call.make(**call.arguments)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_random_bad_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused, raw = 0, []
    for text, call in bad_calls(seed=2026):
        try:
            call()
        except OrthodromeError:
            refused += 1
        except Exception as error:
            refused += 1
            raw.append(f"{'KERNEL ' * in_kernel(error)}{text}: {type(error).__name__}: {str(error)[:150]}")
        if refused == WANTED:
            break
    assert len(raw) <= RAW and not any(text.startswith("KERNEL") for text in raw), "\n".join(raw)
