"""Settings in other conventions, held against BlackJAX's own code: the same noise gives the same chain."""

from __future__ import annotations

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blackjax.mcmc.integrators import IntegratorState, velocity_verlet
from blackjax.mcmc.metrics import gaussian_euclidean

from orthodrome import SGHMC, SGLD, Euclidean, FullGradient, GeodesicHMC, LogPositive, Minibatch, Posterior, Target
from orthodrome.dynamics import splitting
from orthodrome.errors import BadInput
from orthodrome.interop import as_blackjax, blackjax_gradient, hmc_settings, sghmc_settings, sgld_settings

X = jnp.array([0.7, -0.3])


def logdensity(x):
    return -0.5 * jnp.sum(jnp.array([1.0, 9.0]) * x**2) + jnp.cos(x[0])


TARGET = FullGradient(Target(Euclidean(), logdensity))


def keys(seed: int) -> jax.Array:
    return jax.random.split(jax.random.key(seed), 4000)


def moments(step, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean and standard deviation of one transition from X over many keys."""
    found = np.asarray(jax.jit(jax.vmap(step))(keys(seed)))
    return found.mean(0), found.std(0)


def test_sgld_is_blackjax_sgld() -> None:
    """Mean and spread of one step; a step of twice or half the size, the usual slip, would be seen."""
    sampler = SGLD(TARGET, step_size=0.02)
    ours = moments(lambda k: sampler.step(k, sampler.init(X))[0].position, 1)
    settings = sgld_settings("blackjax", 0.02)
    kernel = blackjax.sgld(lambda x, _: jax.grad(logdensity)(x))
    theirs = moments(lambda k: kernel.step(k, X, None, settings["step_size"]), 2)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=0.2 * 4 / np.sqrt(4000))
    np.testing.assert_allclose(ours[1], np.sqrt(2 * 0.02), rtol=0.06)


def test_sghmc_has_blackjax_friction() -> None:
    """The decay of the momentum in one step of both, from the same momentum and without noise or gradient."""
    from blackjax.sgmcmc.diffusions import sghmc

    settings = sghmc_settings("blackjax", 0.1, 2.0)
    one = sghmc(settings["alpha"])
    _, momentum = one(jax.random.key(0), X, jnp.ones(2), jnp.zeros(2), settings["step_size"], temperature=0.0)
    flat = FullGradient(Target(Euclidean(), lambda x: 0.0 * jnp.sum(x)))
    sampler = SGHMC(flat, step_size=0.1, friction=2.0)
    state = sampler.init(X)._replace(momentum=jnp.ones(2))
    after = jax.vmap(lambda k: sampler.step(k, state)[0].momentum)(keys(3))
    np.testing.assert_allclose(momentum, 1 - 0.1 * 2.0, rtol=1e-6)
    np.testing.assert_allclose(after.mean(0), momentum, atol=5 * np.sqrt(2 * 0.1 * 2.0 / 4000))
    np.testing.assert_allclose(after.std(0), np.sqrt(2 * 0.1 * 2.0), rtol=0.06)


def test_sgmcmcjax_and_tfp_are_the_same_chain_rewritten() -> None:
    """Its step in v = h r: dt = h^2 and alpha = h C reproduce r <- (1 - h C) r + h g; TFP's half step is h."""
    h, c, g, r = 0.1, 2.0, 3.0, 0.5
    settings = sghmc_settings("sgmcmcjax", h, c)
    v = (1 - settings["alpha"]) * h * r + settings["dt"] * g
    assert v == pytest.approx(h * ((1 - h * c) * r + h * g))
    assert 2 * settings["alpha"] * settings["dt"] == pytest.approx(h**2 * 2 * h * c)  # the variance of v's noise
    tfp = sgld_settings("tfp", h, num_data=50)
    assert tfp["learning_rate"] / 2 == h and tfp["data_size"] == 50
    with pytest.raises(BadInput, match="num_data"):
        sgld_settings("tfp", h)
    with pytest.raises(BadInput, match="no SGHMC of 'numpyro'"):
        sghmc_settings("numpyro", h, c)


def test_hmc_follows_blackjax_trajectories() -> None:
    steps, count = jnp.array([0.3, 0.1]), 7
    settings = hmc_settings("blackjax", steps, count)
    metric = gaussian_euclidean(jnp.asarray(settings["inverse_mass_matrix"]))
    leap = velocity_verlet(logdensity, metric.kinetic_energy)
    v = jnp.array([0.4, -1.1])
    momentum = v / jnp.sqrt(settings["inverse_mass_matrix"])
    theirs = IntegratorState(X, momentum, logdensity(X), jax.grad(logdensity)(X))
    x = X
    for _ in range(count):
        theirs = leap(theirs, settings["step_size"])
        v = v + 0.5 * steps * jax.grad(logdensity)(x)
        x, v = splitting.flow(Euclidean(), x, v, steps)
        v = v + 0.5 * steps * jax.grad(logdensity)(x)
    np.testing.assert_allclose(theirs.position, x, atol=2e-6)
    wrong = hmc_settings("blackjax", 2 * steps, count)
    assert wrong["step_size"] == pytest.approx(0.6)
    assert hmc_settings("numpyro", 0.3, 4)["inverse_mass_matrix"] == 1.0
    assert hmc_settings("tfp", 0.3, 4) == {"step_size": 0.3, "num_leapfrog_steps": 4}


def test_the_gradient_for_blackjax_is_ours_with_the_measure_once() -> None:
    """On a chart, where the measure is not constant: it must not be multiplied by N / n."""
    data = jnp.arange(1.0, 9.0)
    law = Posterior(LogPositive(), lambda p: -p, lambda p, y: jnp.log(p) - p * y, data)
    x, batch = jnp.array(0.3), data[:3]
    theirs = blackjax_gradient(law)(x, batch)
    p = np.exp(0.3)
    assert float(theirs) == pytest.approx(-p + 1 + 8 / 3 * float(jnp.sum(1 - p * batch)), rel=1e-5)
    mean = jnp.mean(jnp.stack([blackjax_gradient(law)(x, data[i : i + 1]) for i in range(8)]))
    assert float(mean) == pytest.approx(float(Minibatch(law, 8).estimate(jax.random.key(0), x, None)[0].gradient))


def test_our_sampler_in_their_loop() -> None:
    algorithm = as_blackjax(GeodesicHMC(TARGET, step_size=0.3, num_steps=3))
    state = algorithm.init(X)
    state, info = jax.jit(algorithm.step)(jax.random.key(0), state)
    assert state.position.shape == (2,) and 0 <= float(info.acceptance_rate) <= 1
