"""The facts that samplers state, and that whatever holds a sampler passes them on."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome.errors import BadInput, OrthodromeWarning, Unsupported
from orthodrome.gradients import BatchGradient, FullGradient
from orthodrome.manifolds import Euclidean, Simplex, Stiefel
from orthodrome.metrics import InverseMetric, LocalMetric
from orthodrome.recipe import Recipe
from orthodrome.run import sample
from orthodrome.run.temperature import mean_expected
from orthodrome.samplers import (
    GSGNHT,
    SCIR,
    SGFS,
    SGGMC,
    SGHMC,
    SGLD,
    SGNHT,
    SGRHMC,
    SGRLD,
    SOU,
    SWF,
    ColumnGibbs,
    ColumnPairs,
    GeodesicHMC,
    GeodesicNUTS,
    GeodesicWALNUTS,
    RandomWalk,
    ReducedMean,
    RiemannianHMC,
    RiemannianLangevin,
    Scheduled,
    SimplexLangevin,
    Streamed,
    Tempering,
)
from orthodrome.samplers.contract import ExactSampler, Sampler
from orthodrome.samplers.learnt import Learnt
from orthodrome.schedules import Constant, Polynomial
from orthodrome.targets import Posterior, Target
from orthodrome.tuning import Adapted, StochasticAdapted, tuner_for


def standard_normal(x: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum(x**2)


NORMAL = FullGradient(Target(Euclidean(), standard_normal))
METRIC, INVERSE = LocalMetric(jnp.ones_like), InverseMetric(jnp.ones_like)
STEP, UNITS = {"step"}, {"step", "units"}
FACTS: list[tuple[Any, bool, set[str]]] = [
    (GeodesicHMC(NORMAL), True, UNITS | {"length"}),
    (GeodesicHMC(NORMAL, 0.1), True, {"length"}),
    (GeodesicHMC(NORMAL, None, 5), True, UNITS),
    (GeodesicNUTS(NORMAL), True, UNITS | {"depth"}),
    (GeodesicNUTS(NORMAL, depth_limit=3), True, UNITS),
    (GeodesicNUTS(NORMAL, 0.1), True, set()),
    (GeodesicWALNUTS(NORMAL), True, UNITS),
    (GeodesicWALNUTS(NORMAL, 0.1), True, set()),
    (Scheduled(GeodesicNUTS(NORMAL), Constant(0.1)), True, set()),
    (RandomWalk(NORMAL.target), True, UNITS),
    (ColumnPairs(NORMAL), True, UNITS),
    (RiemannianHMC(NORMAL, METRIC), True, STEP),
    (RiemannianLangevin(NORMAL, METRIC), True, STEP),
    (RiemannianLangevin(NORMAL, METRIC, 0.1, adjusted=False), False, set()),
    (ColumnGibbs(np.eye(3), np.ones(2), np.ones((3, 2))), True, set()),
    (SGGMC(NORMAL), False, UNITS | {"friction"}),
    (GSGNHT(NORMAL, 0.1), False, {"units", "friction"}),
    (SGLD(NORMAL), False, UNITS),
    (SGLD(NORMAL, preconditioner=2.0), False, STEP),
    (SGFS(NORMAL), False, STEP),
    (SGHMC(NORMAL), False, UNITS),
    (SGNHT(NORMAL), False, UNITS),
    (SGRLD(NORMAL, INVERSE), False, STEP),
    (SGRHMC(NORMAL, INVERSE), False, STEP),
    (SCIR(NORMAL), False, STEP),
    (SCIR(NORMAL, 0.1), False, set()),
    (SOU(NORMAL), False, STEP),
    (SWF(NORMAL), False, STEP),
    (SimplexLangevin(NORMAL, ReducedMean(), 0.1), False, set()),
    (Recipe(standard_normal, step_size=0.1), False, set()),
    (Tempering(GeodesicNUTS(NORMAL)), True, {"ladder", "replicas"}),
    (Tempering(GeodesicNUTS(NORMAL, 0.1)), True, {"ladder"}),
    (Tempering(GeodesicNUTS(NORMAL), (0.5, 1.0)), True, {"replicas"}),
    (Tempering(GeodesicNUTS(NORMAL, 0.1), (0.5, 1.0)), True, set()),
    (Scheduled(GeodesicHMC(NORMAL, None, 5), Constant(0.1)), True, set()),
    (Scheduled(SGGMC(NORMAL, 0.1, 1.0), temperature=Constant(2.0)), False, set()),
    (Adapted(GeodesicHMC(NORMAL)), True, set()),
    (StochasticAdapted(SGGMC(NORMAL)), False, set()),
]


@pytest.mark.parametrize(("sampler", "adjusted", "learns"), FACTS, ids=lambda value: type(value).__name__)
def test_facts(sampler: Sampler, adjusted: bool, learns: set[str]) -> None:
    assert isinstance(sampler, Sampler)
    assert (sampler.adjusted, sampler.learns) == (adjusted, learns)


@pytest.mark.parametrize(
    "sampler", [s for s, *_ in FACTS if isinstance(s, ExactSampler)], ids=lambda s: type(s).__name__
)
def test_an_exact_sampler_is_heated_and_told_what_was_learnt(sampler: ExactSampler) -> None:
    x = jnp.asarray([[0.6, 0.8], [0.8, -0.6]])
    at = lambda s: s.init(x).logdensity
    np.testing.assert_allclose(at(sampler.at_temperature(0.25)), 0.25 * at(sampler), rtol=1e-6)
    assert sampler.tuned(Learnt(0.3)).step_size == 0.3
    assert 0.3 < sampler.target_acceptance < 0.9


@pytest.mark.parametrize(("sampler", "adjusted", "learns"), FACTS, ids=lambda value: type(value).__name__)
def test_the_tuner_holds_the_sampler_and_its_facts(sampler: Sampler, adjusted: bool, learns: set[str]) -> None:
    if not learns:
        return
    tuner = tuner_for(sampler, 100, ("chains",))
    assert tuner.sampler is sampler and tuner.adjusted == adjusted and not tuner.learns


def test_what_nobody_learns_is_refused() -> None:
    class Odd(Recipe):
        learns = frozenset({"colour"})

    with pytest.raises(Unsupported, match="colour of Odd"):
        tuner_for(Odd(standard_normal, step_size=0.1), 10, ("chains",))


# --- what holders used to hide ----------------------------------------------------------------------------------------


def first_element(x: jax.Array) -> jax.Array:
    return 3 * x[0, 0]


def test_tempering_holds_pairs_of_columns() -> None:
    """The first column of a 4 x 3 frame is von Mises-Fisher on S^3: E x_00 = I_2(3) / I_1(3), within 4 errors."""
    pairs = ColumnPairs(FullGradient(Target(Stiefel(), first_element)), 0.7, 3)
    sampler = Tempering(pairs, (0.3, 1.0))
    start = np.eye(4, 3, dtype=np.float32)
    draws = sample(sampler, start, seed=0, num_chains=4, num_warmup=20, num_draws=1000, progress=False)
    blocks = draws["posterior"]["x"].values[..., 0, 0].reshape(40, 100).mean(axis=1)
    error = blocks.std(ddof=1) / np.sqrt(40)
    assert abs(blocks.mean() - ive(2, 3) / ive(1, 3)) < 4 * error and error < 0.03
    assert draws["sample_stats"]["round_trips"].values[:, -1].min() > 10


def dirichlet(p: jax.Array) -> jax.Array:
    """Of concentration 0.7: a wall that exact samplers bear and others do not."""
    return jnp.sum(-0.3 * jnp.log(p))


def test_a_scheduled_exact_sampler_is_judged_as_an_exact_one() -> None:
    """No warning of a pole at a concentration between 1/2 and 1; the control has no Metropolis test, and is warned."""
    gradient = FullGradient(Target(Simplex(), dirichlet))
    settings: Any = {"seed": 0, "num_chains": 1, "num_warmup": 0, "num_draws": 5, "progress": False}
    start = np.full(3, 1 / 3, np.float32)
    sample(Scheduled(GeodesicHMC(gradient, None, 3), Constant(0.1)), start, **settings)
    with pytest.warns(OrthodromeWarning, match="concentration of about 0.7"):
        sample(Scheduled(SGGMC(gradient, None, 1.0), Constant(0.01)), start, **settings)


def test_a_scheduled_sampler_is_judged_by_the_temperature_of_what_it_holds() -> None:
    """With h C = 0.6 the momenta of SGHMC have the temperature 1 / (1 - 0.3): no warning, which is an error here."""
    sampler = Scheduled(SGHMC(NORMAL, friction=6.0), Constant(0.1))
    own = 1 / (1 - 0.3)
    assert sampler.expected_temperature(jnp.zeros(2), 7) == pytest.approx(own, rel=1e-5)
    draws = sample(sampler, np.zeros(5, np.float32), seed=0, num_warmup=50, num_draws=800, progress=False)
    assert float(draws["sample_stats"]["temperature"].mean()) == pytest.approx(own, rel=0.1)


def test_the_temperature_is_judged_step_by_step() -> None:
    """The mean over the transitions of the draws of 1 / (1 - h(t) C / 2)."""
    schedule, done = Polynomial(0.2, 3.0), np.arange(11, 200, 3)
    found = mean_expected(Scheduled(SGHMC(NORMAL, friction=5.0), schedule), jnp.zeros(2), done)
    assert found == pytest.approx(np.mean(1 / (1 - 2.5 * schedule(done))), rel=1e-5)
    streamed = Streamed(SGHMC(NORMAL, 0.1, 6.0), iter(()))
    assert mean_expected(streamed, jnp.zeros(2), done) == pytest.approx(1 / 0.7, rel=1e-5)


def test_a_scheduled_temperature_without_a_scheduled_step() -> None:
    """It needs no tuning, and at temperature 4 a standard normal has the variance 4; also without gradients."""
    for inner in (GeodesicHMC(NORMAL, 1.0, 2), RandomWalk(NORMAL.target, 2.0)):
        sampler = Scheduled(inner, temperature=Constant(4.0))
        draws = sample(sampler, np.zeros(2, np.float32), seed=0, num_warmup=50, num_draws=2000, progress=False)
        squares = draws["posterior"]["x"].values.reshape(80, 100, 2) ** 2
        blocks = squares.mean(axis=(1, 2))
        assert abs(blocks.mean() - 4) < 4 * blocks.std(ddof=1) / np.sqrt(80)


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (GeodesicHMC(NORMAL), "no num_steps"),
        (SGGMC(NORMAL), "no friction"),
        (Tempering(GeodesicNUTS(NORMAL)), "a sampler with a step size"),
    ],
    ids=["length", "friction", "ladder"],
)
def test_what_a_schedule_leaves_open_is_refused(inner: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        sample(Scheduled(inner, Constant(0.1)), np.zeros(2, np.float32), seed=0, num_draws=1, progress=False)


def test_a_stream_teaches_no_friction() -> None:
    rows = np.ones((4, 2), np.float32)
    posterior = Posterior(Euclidean(), standard_normal, lambda x, row: -jnp.sum((x - row) ** 2), rows)
    sampler = Streamed(SGGMC(BatchGradient(posterior, 4), 0.1), lambda i: rows)
    with pytest.raises(BadInput, match="no friction"):
        sample(sampler, np.zeros(2, np.float32), seed=0, num_draws=1, progress=False)


def test_what_is_no_sampler_is_refused() -> None:
    for wrong, name in ((GeodesicHMC, "GeodesicHMC"), (first_element, "function")):
        with pytest.raises(BadInput, match=f"{name}, which is not a Sampler"):
            sample(wrong, np.zeros(2, np.float32), seed=0, num_draws=1, progress=False)  # type: ignore[arg-type]
