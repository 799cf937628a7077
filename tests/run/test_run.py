"""The loop: keys, chunks, traces, phases, interruptions. Every comparison of draws is exact, bit by bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core import programs
from orthodrome.errors import BadInput, Diverged, OrthodromeError, OrthodromeWarning
from orthodrome.random.keys import new_key
from orthodrome.run import Stop, loop, one_kernel, pace
from orthodrome.run.engines import contract
from orthodrome.run.parallel import use_cores
from orthodrome.tuning.adapted import Adapted
from support.run_cases import NORTH, TRACES, PythonWalk, draws, fisher, unseen


def test_key_of_a_transition_is_folded_from_chain_and_count() -> None:
    tree = draws(num_warmup=4, num_draws=6, keep_warmup=True)
    sampler, key = fisher(), new_key(np.uint32(3))
    step = jax.jit(lambda s, k, chain, t, state: s.step(loop.chain_key(k, chain, t), state))
    for chain in range(2):
        state, seen = sampler.init(NORTH), []
        for t in range(10):
            state, _ = step(sampler, key, jnp.uint32(chain), jnp.uint32(t), state)
            seen.append(np.asarray(state.position))
        run = np.concatenate([tree["warmup_posterior"].x[chain], tree["posterior"].x[chain]])
        np.testing.assert_allclose(run, seen, atol=2e-5)


def test_draws_do_not_depend_on_the_chunk_length(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draws().posterior.x.values
    monkeypatch.setattr(pace, "SECONDS", 1e-9)  # every chunk is one draw
    np.testing.assert_array_equal(draws().posterior.x.values, whole)
    assert not np.array_equal(draws(seed=4).posterior.x.values, whole)


def programs_of_the_loop() -> int:
    """Return the number of programs kept. Functions compiled with the same options share theirs in JAX's cache, as
    those of warm-up and draws do where the compiler does not know the options of the warm-up (jaxlib 0.12)."""
    quick, kernel = programs.QUICK_TO_COMPILE, one_kernel.OPTIONS
    options = None, *(programs._known(each) for each in (quick, quick | kernel, kernel))
    loops = loop.advance, loop.advance_in_warmup(), loop.advance_in_warmup_kernels(), loop.advance_in_one_kernel()
    kept = {str(given): each._cache_size() for given, each in zip(options, loops, strict=True)}
    return sum(kept.values())


def test_nothing_is_traced_or_compiled_twice() -> None:
    draws()
    TRACES.clear()
    compiled = programs_of_the_loop()
    draws()
    draws(fisher(step_size=0.3), num_draws=77, num_warmup=3, seed=9)
    assert TRACES == [] and programs_of_the_loop() == compiled > 0


def test_thinning_keeps_every_kth_transition() -> None:
    dense, thin = draws(num_draws=60), draws(num_draws=20, thin=3)
    np.testing.assert_array_equal(dense.posterior.x.values[:, 2::3], thin.posterior.x.values)


def test_thinned_flags_are_kept_if_any_transition_raised_them() -> None:
    tree = draws(PythonWalk(), num_warmup=0, num_draws=10, thin=5)
    np.testing.assert_array_equal(tree.sample_stats.diverging.values, [[True, False] * 5] * 2)


def test_warm_up_is_dropped_or_kept() -> None:
    assert "warmup_posterior" not in draws().children
    kept = draws(keep_warmup=True)
    assert kept["warmup_posterior"].sizes["draw"] == 20 and kept["warmup_sample_stats"].sizes["draw"] == 20


def test_python_samplers_run_by_the_same_loop(tmp_path: Path) -> None:
    sampler = PythonWalk()
    tree = draws(sampler)
    again = draws(sampler, checkpoint=tmp_path, num_draws=30)
    again = draws(sampler, checkpoint=tmp_path)
    np.testing.assert_array_equal(tree.posterior.x.values, again.posterior.x.values)
    assert tree.posterior.x.shape == (2, 50, 3)


def test_one_start_per_chain_and_random_starts() -> None:
    south = draws(start=[NORTH, -NORTH], num_warmup=0, num_draws=1).posterior.x.values
    assert south[0, 0, 0] > 0 > south[1, 0, 0] or south[1, 0, 0] != south[0, 0, 0]
    shape = jax.ShapeDtypeStruct((3,), np.dtype("float32"))
    at_random = draws(PythonWalk(), start=shape, num_warmup=0, num_draws=1).posterior.x.values
    np.testing.assert_allclose(np.linalg.norm(at_random, axis=-1), 1, atol=1e-6)
    assert abs(at_random[0, 0] @ at_random[1, 0]) < 0.999


def test_early_stop_on_effective_sample_size() -> None:
    tree = draws(fisher(0.25, 2), num_draws=20_000, stop_when=Stop(ess=1000, rhat=1.05))
    assert 100 <= tree.posterior.sizes["draw"] < 20_000
    assert tree.attrs["ended"].startswith("Stop(")
    longer = draws(fisher(0.25, 2), num_draws=20_000, stop_when=Stop(ess=4000, rhat=1.05))
    assert longer.posterior.sizes["draw"] > tree.posterior.sizes["draw"]


class PressOnce:
    """Ctrl-C when the count is reached for the first time."""

    def __init__(self, count: int) -> None:
        self.count, self.pressed = count, False

    def __call__(self, count: int) -> None:
        if count == self.count and not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_keeps_what_was_drawn() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(OrthodromeWarning, match="interrupted in draws after"):
        tree = draws(PythonWalk(event=PressOnce(40)), num_draws=2000)
    assert tree.attrs["interrupted"] == 1
    done = tree.posterior.sizes["draw"]
    assert 20 <= done < 2000
    np.testing.assert_array_equal(tree.posterior.x.values, draws(PythonWalk(), num_draws=done).posterior.x.values)
    assert signal.getsignal(signal.SIGINT) is before, "given back"


def test_ctrl_c_in_warm_up_has_nothing_to_return() -> None:
    with pytest.raises(KeyboardInterrupt):
        draws(PythonWalk(event=PressOnce(3)), num_warmup=2000)


def test_a_run_that_leaves_the_numbers_says_where() -> None:
    with pytest.raises(Diverged, match="chain 0 failed at step 36") as caught:
        draws(PythonWalk(event=lambda count: np.nan if count == 35 else 0.0))
    assert (caught.value.chain, caught.value.step) == (0, 36)
    assert caught.value.draws.posterior.sizes["draw"] == 15
    assert np.all(np.isfinite(caught.value.draws.posterior.x))


def test_tuned_run_agrees_with_the_law() -> None:
    """E x1 = coth 10 - 1/10 = 0.9; 2 x 2000 draws see a bias of 0.008 (a tenth of the sd) at 5 sigma."""
    tree = draws(fisher(None, None), num_warmup=300, num_draws=2000)
    assert abs(float(tree.posterior.x[..., 0].mean()) - 0.9) < 0.01
    assert abs(float(tree.posterior.x[..., 0].mean()) - 0.92) > 0.01  # the control
    assert len(np.unique(tree.sample_stats.step_size)) == 1


def test_a_sampler_that_the_user_wrapped_keeps_its_own_warm_up() -> None:
    tree = draws(Adapted(fisher(None, None), 30), num_warmup=1000, keep_warmup=True)
    assert tree["warmup_posterior"].sizes["draw"] == 30


def test_tuning_needs_a_warm_up() -> None:
    with pytest.raises(BadInput, match="num_warmup is 0"):
        draws(fisher(None, None), num_warmup=0)


def test_blackjax_runs_our_sampler() -> None:
    sampler = fisher()
    algorithm = blackjax.base.SamplingAlgorithm(
        lambda position, rng_key=None: sampler.init(position, rng_key), sampler.step
    )
    _, (positions, info) = blackjax.util.run_inference_algorithm(
        rng_key=jax.random.key(1),
        inference_algorithm=algorithm,
        num_steps=500,
        initial_position=jnp.asarray(NORTH),
        transform=lambda state, info: (state.position, info.acceptance_rate),
    )
    assert positions.shape == (500, 3) and 0.8 < float(positions[:, 0].mean()) < 0.97 and 0 < float(info.mean()) <= 1


def test_progress_lines_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    draws(progress=True)
    lines = capsys.readouterr().err
    assert "warmup 20/20" in lines and "draws 50/50" in lines and "acceptance 0." in lines


def test_use_cores_after_the_start_explains() -> None:
    jax.devices()
    with pytest.raises(OrthodromeError, match="came after JAX's first operation"):
        use_cores(7)
    with pytest.raises(BadInput, match="at least 1"):
        use_cores(0)
    assert use_cores(len(jax.devices("cpu"))) == len(jax.devices("cpu"))


def test_buffers_are_powers_of_two_and_bounded() -> None:
    assert contract.buffer_length(1) == contract.LONGEST_BUFFER
    assert contract.buffer_length(contract.BUFFER_BYTES * 3) == 1
    assert contract.buffer_length(contract.BUFFER_BYTES // 5) == 4


TWO_DEVICES = """
import orthodrome, sys, numpy as np
assert orthodrome.use_cores(2) == 2
from support.run_cases import draws, fisher
"""
PLAIN = """
from orthodrome.run import loop, one_kernel
plain = draws()
assert not one_kernel.known() or loop.advance_in_one_kernel()._cache_size() == 1, "a kernel on each device"
odd = draws(num_chains=3, num_draws=5, progress=True)
np.savez(sys.argv[1], plain=plain.posterior.x.values)
"""
TUNED = """
tuned = draws(fisher(None, None), num_warmup=100, keep_warmup=True)
steps = tuned["warmup_sample_stats"].step_size.values
learnt = tuned["sample_stats"].step_size.values[:, 0]
assert len(learnt) == 2 and learnt[0] == learnt[1], "chains on two devices learn together"
assert not np.array_equal(steps[0], steps[1]) and np.array_equal(steps[0, 50:51], steps[1, 50:51]), "now and then"
"""


def on_two_devices(program: str, *arguments: Any) -> str:
    """Run a program in a process with two devices, and return what it says."""
    here = str(Path(__file__).parents[1])
    env = os.environ | {"PYTHONPATH": os.pathsep.join([here, str(Path(here).parent / "src")])}
    command = [sys.executable, "-c", TWO_DEVICES + program, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_chains_over_two_devices(tmp_path: Path) -> None:
    assert "1 device(s) stay idle: 3 chains" in on_two_devices(PLAIN, tmp_path / "draws.npz")
    np.testing.assert_allclose(np.load(tmp_path / "draws.npz")["plain"], draws().posterior.x.values, atol=1e-4)


def test_chains_over_two_devices_learn_together() -> None:
    on_two_devices(TUNED)


def test_a_cold_tuned_run_traces_the_density_at_most_four_times() -> None:
    programs.forget()
    TRACES.clear()
    draws(fisher(None, None, unseen()), num_warmup=100)
    assert 1 <= len(TRACES) <= 4
    assert programs_of_the_loop() == 2  # one for each phase
