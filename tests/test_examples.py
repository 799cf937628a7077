"""The numbered examples run as they are, in an empty folder, and say something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("[0-9][0-9]_*.py"))
SLOW = {
    "01_mean_direction",
    "02_four_leaves",
    "04_level_set",
    "05_small_concentrations",
    "06_truncated_gaussian",
    "07_norm_constrained_regression",
    "08_matrix_completion",
    "09_directions",
    "10_lda",
    "11_hidden_markov",
    "12_clusters",
}
"""They take long to compile (the first is much like the README's, which is always run)."""


def cases() -> list:
    return [pytest.param(p, marks=[pytest.mark.slow] if p.stem in SLOW else [], id=p.stem) for p in EXAMPLES]


@pytest.mark.parametrize("path", cases())
def test_example(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip()


def test_examples_are_numbered_without_gaps() -> None:
    assert [int(path.stem[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
