"""Samplers that Python steps: states changed in place, own starts, self-tuning, draws on disk, kills and Ctrl-C."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import orthodrome.run.engines.python as engine
from orthodrome import sample
from orthodrome.core.pytree import pytree, static
from orthodrome.errors import CheckpointError, Diverged, OrthodromeWarning
from orthodrome.random.keys import new_key, seed_of
from orthodrome.run.loop import init_key, transition_key
from orthodrome.samplers.contract import PythonSampler
from orthodrome.storage.checkpoint import read_about

PLACES = 7


class UrnState(NamedTuple):
    """counts: changed in place; taken: transitions; weight: tuned in the warm-up."""

    counts: np.ndarray
    taken: int
    weight: float

    @property
    def position(self) -> dict[str, np.ndarray]:
        return {"counts": self.counts}


class UrnInfo(NamedTuple):
    last: int
    rare: np.bool_


@pytree
class Urn(PythonSampler):
    """Polya's urn: a colour is drawn in proportion to its count, and one more of it is put back."""

    weights: np.ndarray
    num_warmup: int = static(default=4)
    fails_at: int = static(default=-1)
    interrupts_at: int = static(default=-1)
    breaks_at: int = static(default=-1)
    compiled: bool = static(default=False)
    manifold: Any = static(default=None)

    def init(self, position: Any, key: Any = None) -> UrnState:
        first = np.random.default_rng(seed_of(key)).integers(1, 5, PLACES) if position is None else position["counts"]
        return UrnState(np.array(first), 0, 1.0)

    def step(self, key: Any, state: UrnState) -> tuple[UrnState, UrnInfo]:
        rng = np.random.default_rng(seed_of(key))
        if state.taken == self.breaks_at:
            state.counts[:] = -1  # a kill in the middle of a change
            raise ZeroDivisionError
        if state.taken == self.interrupts_at:
            signal.raise_signal(signal.SIGINT)
        place = int(rng.choice(PLACES, p=state.counts / state.counts.sum()))
        state.counts[place] += 1
        weight = 2 * state.weight if state.taken < self.num_warmup else state.weight
        weight = float("nan") if state.taken == self.fails_at else float(weight)
        return UrnState(state.counts, int(state.taken) + 1, weight), UrnInfo(place, np.bool_(place == 0))

    def draw(self, state: UrnState) -> dict[str, Any]:
        return {"counts": state.counts, "weight": np.float32(state.weight)}


URN = Urn(np.ones(3))


def run(sampler: Any = URN, **more: Any) -> Any:
    settings = {"seed": 3, "num_chains": 2, "num_draws": 6, "thin": 2, "progress": False}
    return sample(sampler, None, **(settings | more))


def by_hand(chain: int, sampler: Urn = URN, transitions: int = 16) -> tuple[np.ndarray, list[Any]]:
    """The counts after every transition, from the contract alone."""
    key, c = new_key(np.uint32(3)), np.uint32(chain)
    state, rows, infos = sampler.init(None, init_key(key, c)), [], []
    for t in range(transitions):
        state, info = sampler.step(transition_key(key, c, np.uint32(t)), state)
        rows.append(state.counts.copy())
        infos.append(info)
    return np.stack(rows), infos


def test_draws_are_those_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, thinning, several chains and copies of what is changed in place; Info is the last, flags are any.

    Seeds are drawn in blocks, here of three transitions, so that blocks and draws end at different places.
    """
    monkeypatch.setattr(engine, "SEEDS_AT_ONCE", 3)
    tree = run()
    for chain in range(2):
        rows, infos = by_hand(chain)
        np.testing.assert_array_equal(tree["posterior"]["counts"][chain], rows[5::2])
        np.testing.assert_array_equal(tree["sample_stats"]["last"][chain], [info.last for info in infos[5::2]])
        rare = [infos[t - 1].rare or infos[t].rare for t in range(5, 16, 2)]
        np.testing.assert_array_equal(tree["sample_stats"]["rare"][chain], rare)
    assert tree["posterior"]["counts"].dtype == np.int64 and "distance" not in tree["sample_stats"]
    assert tree.attrs["manifolds"] == "{}" and tree.attrs["sampler"] == "Urn"


def test_the_sampler_knows_its_warm_up_and_tunes_in_it() -> None:
    tree = run(Urn(np.ones(3), num_warmup=5), keep_warmup=True)
    assert tree.attrs["tuning_steps"] == 5
    np.testing.assert_array_equal(tree["warmup_posterior"]["weight"][0], [2, 4, 8, 16, 32])
    np.testing.assert_array_equal(tree["posterior"]["weight"], np.full((2, 6), 32))


def test_statistics_of_the_warm_up_without_its_draws() -> None:
    tree = run(keep_warmup_stats=True)
    assert "warmup_posterior" not in tree
    np.testing.assert_array_equal(tree["warmup_sample_stats"]["last"][1], [i.last for i in by_hand(1)[1][:4]])


def test_names_of_axes_and_labels() -> None:
    colours = list("abcdefg")
    tree = run(dims={"counts": ("colour",)}, coords={"colour": colours})
    assert tree["posterior"]["counts"].sel(colour="c").shape == (2, 6)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("breaks_at", [2, 9])
def test_a_kill_in_the_middle_of_a_change_loses_nothing(breaks_at: int, lazy: bool, tmp_path: Path) -> None:
    """The state is torn in memory, never on disk: the run goes on from its last commit to the same draws."""
    kept = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0, "keep_warmup_stats": True}
    kept |= {"store": tmp_path / "draws.zarr"} if lazy else {}
    labels = {"dims": {"counts": ("colour",)}, "coords": {"colour": [f"c{i}" for i in range(PLACES)]}}
    whole = run(keep_warmup_stats=True, **labels)
    step = Urn.step
    broken = lambda self, key, state: step(replace_break(self, breaks_at), key, state)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(Urn, "step", broken)
        run(**kept, **labels)
    again = run(**kept, **labels)
    for group in ("posterior", "sample_stats", "warmup_sample_stats"):
        for name, values in whole[group].data_vars.items():
            np.testing.assert_array_equal(again[group][name], values)
    assert again["posterior"]["colour"].values.tolist() == labels["coords"]["colour"]


def replace_break(sampler: Urn, breaks_at: int) -> Urn:
    return Urn(sampler.weights, sampler.num_warmup, breaks_at=breaks_at)


def test_a_checkpoint_of_another_sampler_is_refused(tmp_path: Path) -> None:
    run(checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="the sampler's weights differs"):
        run(Urn(np.zeros(3)), checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="num_warmup 4 then, 6 now"):
        run(Urn(np.ones(3), num_warmup=6), checkpoint=tmp_path)


def test_what_is_said_about_a_run_is_kept(tmp_path: Path) -> None:
    assert read_about(tmp_path) is None
    run(checkpoint=tmp_path, about={"model": "urn", "size": 7})
    assert read_about(tmp_path) == {"model": "urn", "size": 7}


def test_old_formats_are_refused_with_their_version(tmp_path: Path) -> None:
    """Folders of format 1 had no marker."""
    commit = {"format": 1, "fingerprint": {"versions": {"orthodrome": "0.0.9"}}}
    (tmp_path / "commit.json").write_text(json.dumps(commit))
    with pytest.raises(CheckpointError, match=r"written by orthodrome 0\.0\.9"):
        run(checkpoint=tmp_path)


def test_not_finite_is_said_with_chain_and_step() -> None:
    """Of two chains the first fails in its transition number 9 (counting from 1), the draw after it is not kept."""
    with pytest.raises(Diverged) as caught:
        run(Urn(np.ones(3), fails_at=8))
    assert caught.value.chain == 0 and caught.value.step == 10
    assert caught.value.draws["posterior"].sizes["draw"] <= 2


def test_ctrl_c_keeps_what_was_drawn(tmp_path: Path) -> None:
    with pytest.warns(OrthodromeWarning, match="interrupted in draws"):
        cut = run(Urn(np.ones(3), interrupts_at=9), num_draws=50, num_chains=1)
    count = cut["posterior"].sizes["draw"]
    assert 3 <= count < 50 and cut.attrs["interrupted"] == 1
    np.testing.assert_array_equal(cut["posterior"]["counts"][0], by_hand(0, transitions=4 + 2 * count)[0][5::2])


def test_ctrl_c_in_a_warm_up_of_which_only_statistics_are_kept(tmp_path: Path) -> None:
    """There are no draws to return, so Ctrl-C ends the program as usual, and the checkpoint goes on from there."""
    kept = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0, "keep_warmup_stats": True}
    step = Urn.step
    interrupted = lambda self, key, state: step(Urn(self.weights, interrupts_at=1), key, state)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Urn, "step", interrupted)
        run(**kept)
    np.testing.assert_array_equal(run(**kept)["posterior"]["counts"], run()["posterior"]["counts"])
