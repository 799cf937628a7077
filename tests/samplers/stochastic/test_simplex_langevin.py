"""Langevin dynamics of weights in four forms: each diffusion keeps the Dirichlet law, each scheme has a bias of order
h, and what runs away near a wall is reported."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome.checks import check_sde
from orthodrome.doors import check_sampler
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.manifolds import Simplex
from orthodrome.samplers import ExpandedNatural, Mirrored, ReducedMean, ReducedNatural, SimplexLangevin
from support.quick import quick

FORMS = {form.__name__: form() for form in (ReducedMean, ReducedNatural, ExpandedNatural, Mirrored)}
ALPHA, COUNTS = np.full(3, 2.0), np.array([4.0, 2.0, 1.0])
A = ALPHA + COUNTS
POINTS = np.random.default_rng(0).dirichlet([2.0, 2.0, 2.0], 12)


def whole(form: Any, y: Array) -> Array:
    """The d coordinates of a form from its free ones."""
    if type(form) is ExpandedNatural:
        return y
    return jnp.append(y, 1 - jnp.sum(y) if type(form) is ReducedMean else 0.0)


def free(form: Any, v: Array) -> Array:
    """What the free coordinates move by, when all move by v: the reduced natural form moves differences."""
    if type(form) is ExpandedNatural:
        return v
    return v[:-1] - v[-1:] if type(form) is ReducedNatural else v[:-1]


def log_law(form: Any, y: Array) -> Array:
    """The log density of the free coordinates."""
    x = whole(form, y)
    logs = form.weights(x)
    if type(form) is ExpandedNatural:
        return jnp.sum(ALPHA * x - jnp.exp(x) + COUNTS * logs)
    return jnp.sum((A - (1 if type(form) is ReducedMean else 0)) * logs)


@pytest.mark.parametrize("name", quick(FORMS, "ReducedNatural", "Mirrored"))
def test_the_diffusion_keeps_the_law(name: str) -> None:
    """By the Fokker-Planck equation; the control has the drift of one more count."""
    form = FORMS[name]
    drift = lambda y, a: free(form, form.drift(whole(form, y), jnp.asarray(a), jnp.asarray(ALPHA)))

    def diffusion(y: Array) -> Array:
        root = jax.jacfwd(lambda xi: free(form, form.noise(whole(form, y), xi)))(jnp.zeros(3, y.dtype))
        return root @ root.T

    points = POINTS[:, :-1] if name == "ReducedMean" else np.log(POINTS)
    points = points[:, :-1] - points[:, -1:] if name in ("ReducedNatural", "Mirrored") else points
    law = partial(log_law, form)
    assert check_sde(lambda y: drift(y, A), diffusion, law, points).ok
    assert not check_sde(lambda y: drift(y, A + np.array([1.0, 0, 0])), diffusion, law, points).ok


@pytest.mark.parametrize("name", FORMS)
def test_the_diagonal_of_the_noise_is_what_the_temperature_is_measured_in(name: str) -> None:
    form = FORMS[name]
    x = form.start(jnp.asarray(POINTS[0]), jnp.asarray(ALPHA))
    root = jax.jacfwd(lambda xi: form.noise(x, xi))(jnp.zeros(3, x.dtype))
    np.testing.assert_allclose(jnp.sum(root**2, axis=1), form.spread(x), rtol=1e-5)


def counted(key: Array, p: Array, rows: Array) -> Array:
    return jnp.broadcast_to(jnp.sum(rows, axis=0), p.shape)


def sampler_of(form: Any, step_size: Any, prior: float = 2.0) -> SimplexLangevin:
    rows = jnp.asarray(np.repeat(np.eye(3), COUNTS.astype(int), axis=0), "float32")
    return SimplexLangevin(ConjugateCounts(ConjugatePosterior(Simplex(), prior, counted, rows), 7), form, step_size)


@jax.jit
def second_moments(sampler: Any, start: Array, key: Array, num_steps: Array) -> tuple[Array, Array]:
    """The squared distances of the first weight from its mean after some steps, and the mean temperature."""

    def move(t: Array, carry: Any) -> Any:
        state, info = sampler.step(jax.random.fold_in(key, t), carry[0])
        return state, carry[1] + info.temperature

    state, heat = jax.lax.fori_loop(0, num_steps, move, (sampler.init(jnp.sqrt(start)), jnp.zeros(())))
    return (sampler.manifold.to_user(state.position)[:, 0] - A[0] / A.sum()) ** 2, heat / num_steps


STEPS = {"ReducedMean": 0.02, "ReducedNatural": 0.004, "ExpandedNatural": 0.01, "Mirrored": 0.05}


@pytest.mark.parametrize("name", quick(["ReducedMean", "Mirrored"], "ReducedMean"))
def test_the_bias_is_of_the_order_of_the_step(name: str) -> None:
    """Of the variance of a weight, from exact draws to equilibrium (time 0.4): at the step it is seen, at half the step
    it is about half (the reduced mean has a law that is known: m (1 - m) / (|a| + 1 - h |a|^2 / 2))."""
    n, h, total = 10_000, STEPS[name], A.sum()
    start = jnp.asarray(np.random.default_rng(1).dirichlet(A, n), "float32")
    exact = A[0] * (total - A[0]) / total**2 / (total + 1)
    found, errors = [], []
    for i, step in enumerate((h, h / 2)):
        moments, heat = second_moments(sampler_of(FORMS[name], step), start, jax.random.key(i), round(0.4 / step))
        moments = np.asarray(moments, float)
        found.append(moments.mean() - exact)
        errors.append(moments.std() / np.sqrt(n))
        assert 0.8 < float(heat) < 2.5
    assert abs(found[0]) > 5 * errors[0]
    ratio, error = found[1] / found[0], np.hypot(errors[1], errors[0] / 2) / abs(found[0])
    assert abs(ratio - 0.5) < 4.4 * error + 0.12, (found, errors)
    if name == "ReducedMean":
        wanted = exact * (total + 1) / (total + 1 - h * total**2 / 2)
        assert abs(found[0] + exact - wanted) < 4.4 * errors[0] + 0.02 * wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ReducedNatural", "ExpandedNatural"])
def test_the_natural_forms_stay_at_short_steps(name: str) -> None:
    """The variance of a weight is within five standard errors, 8 % of it, after 0.4 units of time."""
    n, total = 10_000, A.sum()
    start = jnp.asarray(np.random.default_rng(1).dirichlet(A, n), "float32")
    moments, _ = second_moments(
        sampler_of(FORMS[name], STEPS[name]), start, jax.random.key(0), round(0.4 / STEPS[name])
    )
    moments = np.asarray(moments, float)
    exact = A[0] * (total - A[0]) / total**2 / (total + 1)
    assert abs(moments.mean() - exact) < 5 * moments.std() / np.sqrt(n) < 0.09 * exact


def test_what_runs_away_near_a_wall_is_kept_and_counted() -> None:
    """The natural form with a shape of 0.1: 1 / p is a drift, and a non-finite step is not taken."""
    sampler = sampler_of(ReducedNatural(), 0.5, prior=0.1)
    state = sampler.init(jnp.sqrt(jnp.asarray([[0.5, 0.5 - 1e-30, 1e-30]], "float32")))
    step = lambda s, t: sampler.step(jax.random.fold_in(jax.random.key(0), t), s)
    state, info = jax.lax.scan(step, state, jnp.arange(30))
    assert np.all(np.isfinite(state.position)) and np.any(info.clipped)


def test_doors() -> None:
    start = np.full((1, 3), 3**-0.5, "float32")
    with pytest.raises(BadInput, match="no step_size is given"):
        check_sampler(sampler_of(Mirrored(), None), start)
    with pytest.raises(Unsupported, match="cannot be heated"):
        sampler_of(Mirrored(), 0.1).at_temperature(0.5)
