"""WALNUTS: its macro steps against a plain search for levels, NUTS where no step is halved, and the law."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Positive, Sphere
from orthodrome.run import sample
from orthodrome.samplers.exact import walnuts
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.exact.walnuts import GeodesicWALNUTS
from orthodrome.targets import Target
from support.exact_draws import uniform_directions
from support.registry import TARGETS
from support.truth import verdict

LEVELS = 6
POWER = 0.2
A, C = np.array([-9.0, 0.0, 14.0]), np.array([6.0, 0.0, 0.0])


def bingham(x: Any) -> Any:
    return x**2 @ jnp.asarray(A) + x @ jnp.asarray(C)


def gamma(x: Any) -> Any:
    return POWER * jnp.log(x) - x


def transitions(sampler: Any, x0: np.ndarray) -> tuple[Any, Any]:
    step = lambda i, x: sampler.step(jax.random.fold_in(jax.random.key(4), i), sampler.init(x))
    return jax.jit(jax.vmap(step))(jnp.arange(len(x0)), x0)


# --- one macro step, plainly -----------------------------------------------------------------------------------------


Trial = tuple[tuple[Any, Any], list[np.ndarray]]
"""Where the micro steps of a level end, and the energies that they should keep."""


def on_the_sphere(x: np.ndarray, v: np.ndarray, h: float, level: int) -> Trial:
    """By the textbook formulas."""
    e, states = h / 2**level, [(x, v)]
    force = lambda x: (np.eye(3) - np.outer(x, x)) @ (2 * A * x + C)
    for _ in range(2**level):
        v = v + e / 2 * force(x)
        speed = np.linalg.norm(v)
        x, v = (
            x * np.cos(speed * e) + v / speed * np.sin(speed * e),
            v * np.cos(speed * e) - x * speed * np.sin(speed * e),
        )
        v = v + e / 2 * force(x)
        states.append((x, v))
    return states[-1], [np.array([v @ v / 2 - x**2 @ A - x @ C for x, v in states])]


def at_a_wall(x: float, v: float, h: float, level: int) -> Trial:
    """For the law of shape 1 + POWER on the half-line, with the force and the potential of (POWER / 2) log(x^2 + e^2)
    and with the share of the constant force that is left beside the wall."""
    e, states = h / 2**level, [(x, v)]
    force = lambda x: (POWER / x - 1) * x**2 / (x**2 + e**2)
    for _ in range(2**level):
        v = v + e / 2 * force(x)
        x, v = (x + e * v, v) if x + e * v > 0 else (-x - e * v, -v)
        v = v + e / 2 * force(x)
        states.append((x, v))
    x, v = np.array(states).T
    true = v**2 / 2 - POWER * np.log(x) + x
    soft = v**2 / 2 - POWER / 2 * np.log(x**2 + e**2) + x * (1 + np.log(1 + (e / x) ** 2) / 2)
    return states[-1], [true, soft]


def first_over(energies: list[np.ndarray], most: float) -> int:
    """The number of micro steps after which every energy has varied too much; their number plus one if one has not."""
    over = np.all([np.maximum.accumulate(h) - np.minimum.accumulate(h) > most for h in energies], axis=0)
    return int(np.argmax(over)) if over.any() else len(over)


def plain_step(trial: Any, x: Any, v: Any, h: float, most: float) -> tuple[int, int, bool]:
    """(level, micro steps of all trials, whether a lower level passes on the way back)."""
    steps = 0
    for level in range(LEVELS + 1):
        end, energies = trial(x, v, h, level)
        over = first_over(energies, most)
        forced = level == LEVELS
        steps += 2**level if forced else min(over, 2**level)
        if forced or over > 2**level:
            break
    for lower in reversed(range(level)):
        over = first_over(trial(*end, -h, lower)[1], most)
        steps += min(over, 2**lower)
        if over > 2**lower:
            return level, steps, True
    return level, steps, False


SPHERE = (Target(Sphere(), bingham), uniform_directions(np.random.default_rng(1), 400, 3), on_the_sphere)
WALL = (Target(Positive(), gamma), np.random.default_rng(1).gamma(1 + POWER, size=400), at_a_wall)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("case", "steps"), [(SPHERE, (0.15, 0.6)), (WALL, (1.0, 2.0))], ids=["sphere", "wall"])
def test_levels_and_ways_back_are_those_of_a_plain_search(case: Any, steps: tuple[float, ...]) -> None:
    """400 trajectories of two leaves, one by one; some have steps of every level, and some cannot be reversed."""
    target, x0, trial = case
    keys = jax.vmap(lambda i: jax.random.split(jax.random.fold_in(jax.random.key(4), i), 3))(jnp.arange(len(x0)))
    v0 = np.asarray(jax.vmap(target.manifold.random_velocity)(keys[:, 0], x0))
    most = 0.3
    levels = set()
    for h in steps:
        _, info = transitions(GeodesicWALNUTS(FullGradient(target), h, most, 1, LEVELS), x0)
        found = list(zip(info.finest.tolist(), info.n_steps.tolist(), info.irreversible.tolist(), strict=True))
        ways = [[plain_step(trial, x, v, s * h, most) for s in (1, -1)] for x, v in zip(x0, v0, strict=True)]
        assert all(one in both for one, both in zip(found, ways, strict=True))
        levels |= {level for level, _, _ in found}
        assert 0.005 < info.irreversible.mean() < 0.6
    assert levels >= {0, 1, 2, 3}


@pytest.mark.usefixtures("x64")
def test_steps_across_a_wall_need_few_halvings(monkeypatch: pytest.MonkeyPatch) -> None:
    """H alone, the control, does not stay within the bound however fine they are."""
    target, x0, _ = WALL
    finest = lambda: np.asarray(transitions(GeodesicWALNUTS(FullGradient(target), 0.5, 0.1, 3, 8), x0)[1].finest)
    assert np.mean(finest() > 4) < 0.01
    monkeypatch.setattr(walnuts, "raised", lambda *_: 0.0)
    assert np.mean(finest() > 4) > 0.03


@pytest.mark.usefixtures("x64")
def test_a_step_that_cannot_be_reversed_is_not_taken() -> None:
    x0 = uniform_directions(np.random.default_rng(1), 400, 3)
    sampler = GeodesicWALNUTS(FullGradient(Target(Sphere(), bingham)), 0.6, 0.3, 1, LEVELS)
    state, info = transitions(sampler, x0)
    stayed = np.all(np.asarray(state.position) == x0, axis=1)
    assert np.all(stayed[np.asarray(info.irreversible)]) and not np.all(stayed)
    assert np.all(np.asarray(info.tree_depth) == ~np.asarray(info.irreversible))


@pytest.mark.parametrize("unhalved", ["any error", "no halvings"])
def test_without_halvings_it_is_nuts(unhalved: str) -> None:
    """The same draws, bit for bit."""
    law = TARGETS["vmf-3"]
    gradient, x0 = FullGradient(law.target()), jnp.asarray(law.exact_draws(200, 5), "float32")
    most, halvings = (np.inf, 8) if unhalved == "any error" else (0.01, 0)
    state, info = transitions(GeodesicWALNUTS(gradient, 0.3, np.float32(most), 6, halvings), x0)
    wanted, theirs = transitions(GeodesicNUTS(gradient, 0.3, 6), x0)
    np.testing.assert_array_equal(state.position, wanted.position)
    for name in ("n_steps", "tree_depth", "acceptance_rate", "diverging", "energy"):
        np.testing.assert_array_equal(getattr(info, name), getattr(theirs, name))
    assert not info.finest.any() and not info.irreversible.any()


# --- the law -----------------------------------------------------------------------------------------------------


def halving(law: str, max_depth: int) -> GeodesicWALNUTS:
    """Nearly every trajectory halves steps, and a quarter meets one that cannot be reversed."""
    step = {"vmf-3": 0.5, "positive": 0.6}[law]
    return GeodesicWALNUTS(FullGradient(TARGETS[law].target()), step, np.float32(0.1), max_depth, 6)


@pytest.mark.parametrize(("law", "chains"), [("vmf-3", 8_000), ("positive", 2_000)])
def test_steps_of_many_levels_keep_the_law(law: str, chains: int) -> None:
    found = verdict(TARGETS[law], halving(law, 3), chains, "float32")
    assert found.passes, found


@pytest.mark.parametrize("law", ["vmf-3", pytest.param("positive", marks=pytest.mark.slow)])
def test_a_forgotten_way_back_is_caught(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the ratio of the probabilities of the levels, steps that cannot be reversed are taken."""
    monkeypatch.setattr(walnuts, "_needs_way_back", lambda level: jnp.zeros_like(level, bool))
    found = verdict(TARGETS[law], halving(law, 2), 8_000, "float32")
    assert not found.passes, found


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (("GeodesicWALNUTS", {"max_error": 0.0}), "max_error is 0.0"),
        (("GeodesicWALNUTS", {"max_error": -1.0}), "max_error is -1.0"),
        (("GeodesicWALNUTS", {"max_halvings": 40}), "max_halvings is 40"),
        (("GeodesicNUTS", {"persistence": 1.0}), "persistence is 1.0"),
        (("GeodesicNUTS", {"persistence": 0.0}), "persistence is 0.0"),
        (("GeodesicNUTS", {"persistence": 1.5}), "persistence is 1.5"),
        (("GeodesicNUTS", {"depth_limit": -1}), "depth_limit is -1"),
        (("GeodesicNUTS", {"depth_limit": np.array([2, 3])}), "depth_limit` is .*one number"),
        (("GeodesicNUTS", {"persistence": np.array([0.5, 0.9])}), "persistence` is .*one number"),
    ],
)
@pytest.mark.parametrize("step_size", [0.3, None])
def test_settings_that_cannot_be_are_refused(settings: Any, told: str, step_size: float | None) -> None:
    """With a step and where the warm-up would learn it."""
    name, given = settings
    made = {"GeodesicWALNUTS": GeodesicWALNUTS, "GeodesicNUTS": GeodesicNUTS}[name]
    sampler = made(FullGradient(Target(Sphere(), bingham)), step_size, **given)
    with pytest.raises(BadInput, match=told):
        sample(sampler, jnp.array([1.0, 0.0, 0.0]), seed=0, num_warmup=5, num_draws=5, progress=False)
