"""Programs are compiled once for all processes: the second reads them, and draws the same numbers without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orthodrome.core import compilation_cache
from orthodrome.core.compilation_cache import remove_oldest, user_folder

PROGRAM = """
import jax
jax.numpy.zeros(3) + 1  # an operation before the run must not matter
from jax import monitoring
misses = []
monitoring.register_event_listener(lambda name, **_: misses.append(name) if name.endswith("cache_misses") else None)
from orthodrome import Euclidean, RandomWalk, Target, sample
target = Target(Euclidean(), lambda x: -jax.numpy.sum(x**2) / 2)
draws = sample(RandomWalk(target, 1.0), jax.numpy.zeros(2), seed=1, num_warmup=0, num_draws=20, progress=False)
print(len(misses), float(draws.posterior.x.sum()))
"""


def run(cache: str) -> tuple[str, str]:
    here = str(Path(compilation_cache.__file__).parents[2])
    environment = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    environment |= {"ORTHODROME_CACHE": cache, "PYTHONPATH": here, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert "cpu_aot_loader" not in done.stderr, "XLA's false alarms about the machine are not for the user"
    misses, total = done.stdout.split()
    return misses, total


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    first, second = run(str(tmp_path / "programs")), run(str(tmp_path / "programs"))
    assert int(first[0]) > 0 and int(second[0]) == 0
    assert first[1] == second[1]


def test_the_oldest_programs_go_first(tmp_path: Path) -> None:
    for age, name in enumerate(("new-cache", "middle-cache", "old-cache", "notes.txt")):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    remove_oldest(tmp_path, 250)
    assert {path.name for path in tmp_path.iterdir()} == {"new-cache", "middle-cache", "notes.txt"}


def test_the_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert user_folder() == Path("/somewhere/orthodrome")


@pytest.mark.parametrize("value", ["off", "/dev/null/cannot"])
def test_it_can_be_off(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(compilation_cache.VARIABLE, value)
    assert compilation_cache.use_compilation_cache.__wrapped__() is None
