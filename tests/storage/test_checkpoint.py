"""Checkpoints: a kill, a full disk or a truncated file must cost nothing but time; every comparison is bit by bit."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome.errors import CheckpointError
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Sphere
from orthodrome.run import Stop, pace
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.storage import blocks, checkpoint, files, fingerprint
from orthodrome.targets import Target
from support.run_cases import NORTH, PythonWalk, draws, fisher

TESTS = Path(__file__).parents[1]


def values(tree: Any) -> dict[str, np.ndarray]:
    return {f"{g}/{n}": v.values for g in ("posterior", "sample_stats") for n, v in tree[g].data_vars.items()}


def same(a: Any, b: Any) -> bool:
    left, right = values(a), values(b)
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


def test_a_checkpointed_run_draws_the_same_and_loads_when_finished(tmp_path: Path) -> None:
    plain, saved = draws(), draws(checkpoint=tmp_path, checkpoint_every=0.0)
    assert same(plain, saved) and not same(plain, draws(seed=4))
    stamp = (tmp_path / "commit.json").stat().st_mtime_ns
    assert same(plain, draws(checkpoint=tmp_path)) and (tmp_path / "commit.json").stat().st_mtime_ns == stamp
    assert len(list(tmp_path.glob("state-*.npz"))) == 1


def test_a_finished_run_is_extended(tmp_path: Path) -> None:
    draws(checkpoint=tmp_path, num_draws=30)
    assert same(draws(checkpoint=tmp_path, num_draws=70), draws(num_draws=70))


@pytest.mark.parametrize("fail_at", [*(pytest.param(n, marks=pytest.mark.slow) for n in (0, 1)), 4, 9])
def test_a_tuned_run_stopped_anywhere_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> None:
    """Commits after every chunk; the one after `fail_at` dies before its last stroke, in warm-up or in the draws."""
    sampler, options = fisher(None, None), {"num_warmup": 30, "num_draws": 40, "keep_warmup": True}
    write, calls = files.write_json, []

    def dies(path: Path, content: Any) -> None:
        if path.name == "commit.json":
            calls.append(path)
            if len(calls) > fail_at:
                raise RuntimeError("killed")
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_json", dies)
        patch.setattr(checkpoint, "COST_SHARE", np.inf)
        patch.setattr(pace, "SECONDS", 1e-9)
        with pytest.raises(RuntimeError, match="killed"):
            draws(sampler, checkpoint=tmp_path, checkpoint_every=0.0, **options)
    resumed = draws(sampler, checkpoint=tmp_path, **options)
    assert same(resumed, draws(sampler, **options))
    assert resumed["warmup_posterior"].sizes["draw"] == 30


def test_blocks_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST_BLOCK", 16)
    monkeypatch.setattr(pace, "SECONDS", 1e-9)
    monkeypatch.setattr(checkpoint, "COST_SHARE", np.inf)
    written: list[Path] = []
    write = files.write_bytes
    monkeypatch.setattr(files, "write_bytes", lambda path, content: (written.append(path), write(path, content)))
    tree = draws(checkpoint=tmp_path, checkpoint_every=0.0)
    assert same(tree, draws()) and len(written) == len(set(written))
    assert {path.name if path.parent.name == "0" else path.parent.name for path in written} == {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"num_chains": 3}, "2 chains then, 3 now"),
        ({"seed": 5}, "seed 3 then, 5 now"),
        ({"thin": 2}, "thin 1 then, 2 now"),
        ({"num_warmup": 21}, "num_warmup 20 then, 21 now"),
        ({"start": -NORTH}, "the start differs"),
        ({"sampler": fisher(mu=2 * NORTH)}, "the data differ"),
        ({"sampler": fisher(step_size=0.4)}, "the sampler's step_size differs"),
    ],
)
def test_another_run_is_refused_with_the_difference(tmp_path: Path, change: dict[str, Any], difference: str) -> None:
    draws(checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match=difference):
        draws(checkpoint=tmp_path, **change)
    assert same(draws(checkpoint=tmp_path), draws())


def test_versions_and_programs_are_compared() -> None:
    now = {"settings": {}, "machine": {}, "versions": {"jax": "0.10.3"}, "arrays": {}, "start": [], "program": "b"}
    assert fingerprint.differences(now | {"versions": {"jax": "0.10.2"}}, now) == ["jax 0.10.2 then, 0.10.3 now"]
    assert "another program" in fingerprint.differences(now | {"program": "a"}, now)[0]
    assert fingerprint.differences(now, now) == []


def closed_over(constant: float) -> Any:
    """A density with a number of its own instead of data: only the lowered program knows it."""
    target = Target(Sphere(), lambda x: constant * x[0])
    return GeodesicHMC(FullGradient(target), 0.5, 5)


def test_another_density_is_another_program(tmp_path: Path) -> None:
    first = draws(closed_over(10.0), checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="another program"):
        draws(closed_over(11.0), checkpoint=tmp_path)
    assert same(first, draws(closed_over(10.0), checkpoint=tmp_path))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_truncated_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST_BLOCK", 16)
    draws(checkpoint=tmp_path)
    for path in (
        next(tmp_path.glob("draws.zarr/posterior/x/c/0/1/0")),
        next(tmp_path.glob("state-*.npz")),
        tmp_path / "commit.json",
    ):
        whole = path.read_bytes()
        cut(path)
        with pytest.raises(CheckpointError, match=path.name if path.name != "0" else "block 1 of posterior/x"):
            draws(checkpoint=tmp_path)
        path.write_bytes(whole)
    assert same(draws(checkpoint=tmp_path), draws())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"cannot write checkpoints in .*choose another folder"):
        draws(checkpoint=tmp_path / "file")


def test_a_store_with_draws_is_never_overwritten(tmp_path: Path) -> None:
    tree = draws(store=tmp_path / "s.zarr")
    with pytest.raises(CheckpointError, match="already contains draws"):
        draws(store=tmp_path / "s.zarr", seed=9)
    assert same(tree, draws())


def test_a_full_disk_leaves_the_previous_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws(checkpoint=tmp_path)

    def full(path: Path, arrays: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_arrays", full)
        with pytest.raises(
            CheckpointError, match=r"No space left on device; the previous checkpoint \(number 2\) is still valid"
        ):
            draws(checkpoint=tmp_path, num_draws=80)
    assert json.loads((tmp_path / "commit.json").read_text())["number"] == 2
    assert same(draws(checkpoint=tmp_path, num_draws=80), draws(num_draws=80))


def test_a_full_disk_under_the_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_bytes", full)
        with pytest.raises(CheckpointError, match=r"could not write draws .*: No space left on device"):
            draws(checkpoint=tmp_path)
    assert same(draws(checkpoint=tmp_path), draws())


def test_early_stop_and_checkpoint(tmp_path: Path) -> None:
    sampler, rule = fisher(0.25, 2), Stop(ess=300, rhat=1.1)
    first = draws(sampler, checkpoint=tmp_path, num_draws=5000, stop_when=rule)
    assert first.posterior.sizes["draw"] < 5000
    assert same(first, draws(sampler, checkpoint=tmp_path, num_draws=5000, stop_when=rule))
    assert same(draws(sampler, checkpoint=tmp_path, num_draws=5000), draws(sampler, num_draws=5000))


def child(*arguments: Any, limit: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])}
    command = [sys.executable, str(TESTS / "support" / "run_cases.py"), *map(str, arguments)]
    command = ["bash", "-c", f'{limit}; exec "$@"', "-", *command]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_file_size_limit_is_survived(tmp_path: Path) -> None:
    """ulimit -f 64 (blocks of 1 KiB): the state file with the waiting draws grows past it."""
    process = child(tmp_path, 20_000, 0.0, 20, limit="ulimit -f 64")
    _, errors = process.communicate()
    assert process.returncode != 0 and "CheckpointError" in errors and "File too large" in errors
    assert same(draws(checkpoint=tmp_path, num_draws=20_000), draws(num_draws=20_000))


def test_python_samplers_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws(PythonWalk(), checkpoint=tmp_path, num_draws=10)
    assert same(draws(PythonWalk(), checkpoint=tmp_path, num_draws=25), draws(PythonWalk(), num_draws=25))


MEMORY = """
import resource, sys
from support.run_cases import draws
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
draws(store=sys.argv[1] + "/short", num_draws=70_000)
before = peak()
tree = draws(store=sys.argv[1] + "/long", num_draws=1_000_000, seed=5)
assert tree.posterior.sizes["draw"] == 1_000_000
print(peak() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_a_million_draws(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])}
    done = subprocess.run([sys.executable, "-c", MEMORY, tmp_path], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 50


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize(("cost", "commits"), [(0.001, 20), (2.0, 3)])
def test_commits_are_few_and_take_a_small_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cost: float, commits: int
) -> None:
    """Of 200 seconds in chunks of a second, with a commit every 10: as many as are asked for while they are cheap, and
    never more than COST_SHARE of the time (`benchmarks/checkpointing.py` has the seconds of real runs)."""
    clock, written = Clock(), []
    monkeypatch.setattr(checkpoint, "time", clock)
    with contextlib.ExitStack() as locks:
        checkpoint.open_folder(tmp_path, locks)
        saved = checkpoint.Checkpoint(tmp_path, 10.0, None, None)

    def write(standing: Any, finished: str) -> None:
        clock.now += cost
        written.append(standing)

    monkeypatch.setattr(saved, "_write", write)
    for chunk in range(200):
        clock.now += 1.0
        if saved.due():
            saved.commit(chunk)
    assert abs(len(written) - commits) <= 1
    assert cost * (len(written) - 1) <= checkpoint.COST_SHARE * clock.now
