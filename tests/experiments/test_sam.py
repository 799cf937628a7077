"""The experiments on spherical topics: claims can hold and can fail, looks come when they should, small data run."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from orthodrome import SAM
from orthodrome.experiments import sam_20news, sam_wiki
from orthodrome.experiments.support import contract
from orthodrome.experiments.support.sam import curves as sam_curves
from orthodrome.experiments.support.sam import methods as sam_methods
from orthodrome.experiments.support.sam import statements
from orthodrome.experiments.support.sam.curves import TURNS, History, MethodCurve, trace_curve, turn_rates
from orthodrome.models.sam.law import unit_rows

SECONDS = (1.0, 2.0, 4.0)


def curve(name: str, arrives: int, end: float) -> MethodCurve:
    """Annealed estimates that come down to `end` at the given look."""
    rows = [(t, i + 1, 4000.0, end if i >= arrives else end + 1000) for i, t in enumerate(SECONDS)]
    return MethodCurve(name, rows, temperature=1.0, draws_per_second=100.0)


def curves(names: list[str], slow: int = 2, vi: float = 2500.0) -> dict[str, MethodCurve]:
    """Batches arrive at the first look, all documents at the second, GMC at `slow`."""
    place = {"all": 1, "published": 2}
    found = {}
    for name in names:
        method, _, kind = name.partition(", ")
        end = vi if method in ("vi", "stovi") else 2000.0
        found[name] = curve(name, slow if method in sam_methods.GMC else place.get(kind, 0), end)
    return found


def holds(claims: list[contract.Claim]) -> dict[str, bool]:
    return {claim.id: bool(claim.holds) for claim in claims}


def test_common_claims_hold_and_fail() -> None:
    names = list(sam_methods.cases((100,), full_steps=1))
    good = holds(sam_methods.common_claims(curves(names), "sggmc, S = 100"))
    assert all(good.values()) and set(good) == {"subsampling", "gmc", "full-batch", "vi-annealed"}
    bad = holds(sam_methods.common_claims(curves(names, slow=0, vi=1990.0), "sggmc, S = 100"))
    assert bad == {"subsampling": True, "gmc": False, "full-batch": False, "vi-annealed": False}
    assert curves(names)["vi"].arrival(2100.0) == math.inf


def test_goals_hold_and_fail() -> None:
    found, groups = curves(list(sam_20news.methods("quick"))), {"sggmc, S = 50": 0.95, "vi": 0.95}
    good = sam_20news.Seeds(np.array([3700.0, 3800.0]), np.array([4380.0, 4390.0]), np.array([4100.0, 4110.0]))
    assert all(holds(sam_20news.goals(found, "sggmc, S = 50", good, groups, 30.0)).values())
    bad = sam_20news.Seeds(good.ours + 200, good.vi, good.vi_equal)
    failed = holds(sam_20news.goals(found, "sggmc, S = 50", bad, {**groups, "sggmc, S = 50": 0.5}, 30.0))
    expected = {"goal": False, "below-vi": False, "below-vi-equal": False, "groups": False, "speed": True, "vi": True}
    assert failed == expected
    for one in found.values():
        one.draws_per_second = 80.0
    assert not holds(sam_20news.goals(found, "sggmc, S = 50", good, groups, 30.0))["speed"]
    wiki = list(sam_methods.cases((100,), 1) | sam_methods.published("wikipedia", 100, (10, 1)))
    assert not holds(sam_wiki.claims(curves(wiki)))["rates"]  # all equally fast


def test_speed_is_that_of_the_fastest_turn_and_undecided_if_turns_differ_by_more_than_it_fails_by() -> None:
    times = np.full(10 * TURNS, 0.01)
    times[:25] = 0.02  # somebody else computed
    rates = turn_rates(times, warmup=0.0)
    assert len(rates) == TURNS and rates[0] == pytest.approx(50) and max(rates) == pytest.approx(100)
    assert turn_rates(times[:20], warmup=0.0) == [] and len(turn_rates(times, warmup=0.4)) == TURNS
    one = lambda *turns: MethodCurve("a", draws_per_second=50.0, turns=list(turns))
    assert sam_20news.speed_claim(one(60.0, 82.0)).holds is True
    busy = sam_20news.speed_claim(one(60.0, 80.0))
    assert busy.holds is None and "fails by 1.2 %" in busy.why and "differ by 33 %" in busy.why
    assert sam_20news.speed_claim(one(70.0, 70.5)).holds is False  # slow in every turn
    assert sam_20news.speed_claim(one()).holds is False


def ending(values: dict[str, float]) -> dict[str, MethodCurve]:
    """Curves that are at their ends from the first look on."""
    return {name: curve(name, 0, value) for name, value in values.items()}


def test_statements_hold_and_fail() -> None:
    """The sentences of section 5.3: in the paper's order of the methods they hold, in the opposite order they fail."""
    names = list(sam_20news.methods("paper"))
    rank = {"gsgnht": 0, "sggmc": 1, "gmc-apprmh": 3, "gmc-bgibbs": 4, "vi": 5, "stovi": 5}
    level = {name: 100.0 * rank[name.partition(",")[0]] + 10 * name.endswith("all") for name in names}
    for sign, expected in ((1, True), (-1, False)):
        found = ending({name: 3000 + sign * value for name, value in level.items()})
        made = [*statements.statement_claims(found, 50), statements.batch_size_claim(found, (50, 20, 200))]
        assert set(holds(made).values()) == {expected} and len(made) == 5
    found["vi"], found["stovi"] = curve("vi", 0, 2500.0), curve("stovi", 2, 2700.0)
    found |= {name: curve(name, 0, 2400.0) for name in sam_methods.GMC}
    good = holds(statements.variational_claims(found, curve("stovi, long", 1, 2550.0), (12, 12)))
    assert good == {"stovi-slower": True, "stovi-limit": True, "gmc-below-vi": True}
    bad = holds(
        statements.variational_claims(found | {"gmc-bgibbs": curve("", 0, 2600.0)}, curve("", 0, 2300.0), (12, 12))
    )
    assert bad == {"stovi-slower": False, "stovi-limit": False, "gmc-below-vi": False}


def test_an_order_is_undecided_while_the_curves_move_by_more_than_it_fails_by() -> None:
    falling = MethodCurve("a", rows=[(1.0, 1, 0.0, 2600.0), (2.0, 2, 0.0, 2500.0)])
    failed = contract.Claim("a", "a", None, 1.0, False)
    assert statements.settled(failed, 99.0, [falling]).holds is None
    assert statements.settled(failed, 101.0, [falling]).holds is False
    assert statements.settled(failed, 1.0, [MethodCurve("b", rows=[(1.0, 1, 0.0, 5.0)])]).holds is False


def test_the_gap_grows_or_not() -> None:
    others = {name: 3000.0 for name in (*sam_methods.GMC, "vi", "stovi")}
    near, far = (ending(others | {"sggmc, S = 9": end, "gsgnht, S = 9": end + 50}) for end in (2900.0, 2500.0))
    assert statements.gap(near, 9) == 100 and statements.gap_claim(near, far, 9).holds
    assert not statements.gap_claim(far, near, 9).holds


def test_history_is_evenly_spaced() -> None:
    history = History()
    for i in range(1, 2001):
        history.add(i, float(i), np.full((1, 1), i))
    found = history.spaced(1000.0, 5)[:, 0, 0]
    assert len(history.draws) <= 400 and found[-1] > 1990 and found[0] >= 1000
    assert np.ptp(np.diff(found)) <= 2 * history.stride


def documents(count: int, seed: int) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Three groups on words of their own, sixty words."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(3, size=count)
    rows = np.eye(3)[groups].repeat(20, axis=1) * rng.random((count, 60)) + 0.1 * rng.random((count, 60))
    return scipy.sparse.csr_matrix(unit_rows(rows)), groups


class Ticks:
    """A clock of the processor on which everything takes a hundredth of a second."""

    def __init__(self) -> None:
        self.count = 0

    def process_time(self) -> float:
        self.count += 1
        return 0.01 * self.count


def test_looks_are_at_the_end_and_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one look it is the last; four are at geometric times; and the model can be asked afterwards."""
    monkeypatch.setattr(sam_curves, "time", Ticks())
    x, _ = documents(80, 0)
    model = SAM(3, method="sggmc", batch_size=20, random_state=0, doc_topic_prior=1.0)
    once = trace_curve("", model, x, x, 0.2, looks=1, honest=10)
    assert [row[:2] for row in once.rows] == [(pytest.approx(0.2), 20)]
    several = trace_curve("", model, x, x, 0.2, looks=4, honest=10)
    seconds, counts = zip(*(row[:2] for row in several.rows), strict=True)
    assert len(seconds) == 4 and seconds[0] <= 0.02 and seconds[-1] == pytest.approx(0.2)
    assert np.all(np.diff(counts) > 0) and counts[-1] == 20
    assert model.transform(x).shape == (80, 3) and several.topics.shape[0] <= 25


@pytest.mark.slow
def test_small_data_run(tmp_path: Path) -> None:
    """The whole of sam-20news on made-up groups: everything is written, and the groups are found."""
    folder = tmp_path / "data" / "20news_different"
    folder.mkdir(parents=True)
    for part, seed in (("train", 0), ("test", 1)):
        x, groups = documents(120, seed)
        arrays = {
            "data": x.data,
            "indices": x.indices,
            "indptr": x.indptr,
            "shape": x.shape,
            "format": np.array(b"csr"),
        }
        np.savez(folder / f"{part}_tfidf.npz", labels=groups, **arrays)
    result = contract.reproduce("sam-20news", scale="quick", seed=0, out=tmp_path, data=tmp_path / "data")
    written = {path.name for path in (tmp_path / "sam-20news").iterdir()}
    assert {"figure5.png", "figure5.svg", "curves.csv", "seeds.csv", "result.json"} <= written
    claims = {claim["id"]: claim for claim in result["claims"]}
    assert claims["groups"]["holds"] and len(claims) == 21
