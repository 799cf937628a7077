"""Words of splittings: the exact law of each on a Gaussian (discrete Lyapunov equation); the sampler takes those steps.

In flat space with log density -k x^2 / 2 every letter is linear in (x, v) with Gaussian noise: a word is (x, v) -> M
(x, v) + N(0, Q) and its stationary covariance S solves S = M S M' + Q. So biases are known to rounding, and their
order in h is a number without Monte Carlo error.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy import linalg

from orthodrome.dynamics.splitting import damp, thermalise
from orthodrome.dynamics.words import own_temperature, word_problem
from orthodrome.gradients import FullGradient
from orthodrome.linear import Dense
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.samplers import SGGMC
from orthodrome.targets import Target
from support.quick import slow

WORDS = ["ABOBA", "KAUAK", "AUKUA", "BAOAB", "UKAKU", "AKUKA"]


def letter(name: str, t: float, c: float, k: float) -> tuple[np.ndarray, np.ndarray]:
    """M and Q of one letter."""
    m, q = np.eye(2), np.zeros((2, 2))
    if name == "A":
        m[0, 1] = t
    if name in "BU":
        m[1, 1] = np.exp(-c * t)
    if name in "OK":
        m[1, 0] = -k * t
    q[1, 1] = {"O": 2 * c * t, "U": 1 - np.exp(-2 * c * t)}.get(name, 0.0)
    return m, q


def word(order: str, h: float, c: float, k: float, missing: str = "") -> tuple[np.ndarray, np.ndarray]:
    """M and Q of a word; a control may leave the noise of a letter out."""
    m, q = np.eye(2), np.zeros((2, 2))
    for name in order:
        a, b = letter(name, h / order.count(name), c, k)
        m, q = a @ m, a @ q @ a.T + (0 if name == missing else b)
    return m, q


def stationary(order: str, h: float, c: float = 1.0, k: float = 1.0) -> np.ndarray:
    return linalg.solve_discrete_lyapunov(*word(order, h, c, k))


def gaussian(x: Array) -> Array:
    return -0.5 * jnp.sum(x**2)


@pytest.mark.parametrize(
    ("order", "num_steps"),
    [("ABOBA", 3), ("AUKUA", 1), *(slow(order, 1) for order in WORDS if order != "AUKUA"), slow("KAUAK", 3)],
)
def test_the_sampler_takes_these_steps(order: str, num_steps: int) -> None:
    """M to rounding, from differences at one key; Q from 40,000 keys to 4.4 standard errors (3 %)."""
    h, c = 0.7, 1.3
    sampler = SGGMC(FullGradient(Target(Euclidean(), gaussian)), h, c, num_steps=num_steps, order=order)
    zero = jnp.zeros(2)

    def end(i: Array, x: Array, v: Array) -> Array:
        state, _ = sampler.step(jax.random.fold_in(jax.random.key(0), i), sampler.init(x)._replace(velocity=v))
        return jnp.stack([state.position, state.velocity])

    one = jax.jit(end)
    noise = one(0, zero, zero)
    found = np.array([one(0, zero + 1, zero) - noise, one(0, zero, zero + 1) - noise])[:, :, 0].T
    m, q = word(order, h, c, 1.0)
    for _ in range(num_steps - 1):
        q = m @ q @ m.T + word(order, h, c, 1.0)[1]
    np.testing.assert_allclose(found, np.linalg.matrix_power(m, num_steps), atol=2e-6)
    ends = np.asarray(jax.jit(jax.vmap(end, in_axes=(0, None, None)))(jnp.arange(20_000), zero, zero))
    sampled = np.cov(np.concatenate([ends[:, :, 0], ends[:, :, 1]]).T)
    error = np.sqrt((np.outer(np.diag(q), np.diag(q)) + q**2) / 40_000)
    assert np.all(np.abs(sampled - q) < 4.4 * error + 1e-6)
    wrong = word(order, h, c, 1.0, missing="O" if "O" in order else "U")[1]
    assert num_steps > 1 or np.any(np.abs(sampled - wrong) > 10 * error)


FUNCTIONALS = {"E x^2": (0, 0), "E v^2": (1, 1)}


@pytest.mark.parametrize(
    ("order", "functional"), [("ABOBA", "E x^2"), ("ABOBA", "E v^2"), ("KAUAK", "E v^2"), ("AUKUA", "E x^2")]
)
def test_second_order_in_flat_space(order: str, functional: str) -> None:
    """The bias of the named functional has a slope of 2 in log h (E x^2 of KAUAK has none at all on a Gaussian)."""
    h = np.array([0.4, 0.2, 0.1, 0.05])
    bias = np.array([stationary(order, step)[FUNCTIONALS[functional]] - 1 for step in h])
    slopes = np.diff(np.log(np.abs(bias))) / np.diff(np.log(h))
    assert np.all(slopes > 1.8) and np.all(slopes < 2.2)


def test_the_position_of_kauak_has_no_bias_on_a_gaussian() -> None:
    assert stationary("KAUAK", 0.5)[0, 0] == pytest.approx(1, abs=1e-12)


def test_euler_is_first_order() -> None:
    """The control: a word that is no palindrome."""
    h = np.array([0.2, 0.1, 0.05])
    bias = np.array([stationary("OBA", step)[0, 0] - 1 for step in h])
    assert np.all(np.diff(np.log(np.abs(bias))) / np.diff(np.log(h)) < 1.3)


def test_own_temperature() -> None:
    """Without a potential (k = 0 in v alone) the variance of v; ABOBA: C h / sinh(C h) (erratum c-10)."""
    for rate, value in ((0.5, 0.96), (1.0, 0.85), (2.0, 0.55)):
        assert float(own_temperature("ABOBA", jnp.asarray(rate))) == pytest.approx(value, abs=0.005)
        assert float(own_temperature("ABOBA", jnp.asarray(rate))) == pytest.approx(rate / np.sinh(rate), rel=1e-5)
        assert float(own_temperature("KAUAK", jnp.asarray(rate))) == pytest.approx(1, rel=1e-5)
    for order in WORDS:
        m, q = word(order, 0.6, 1.1, 0.0)
        assert float(own_temperature(order, jnp.asarray(0.66))) == pytest.approx(q[1, 1] / (1 - m[1, 1] ** 2), rel=1e-5)


@pytest.mark.parametrize("order", ["ABOBB", "AXOXA", "", "AUA", "AOA", "ABKBA", "AKA", "A", "ABOOBA"])
def test_words_that_are_refused(order: str) -> None:
    assert word_problem(order, "ABOKU") is not None


@pytest.mark.parametrize("order", WORDS)
def test_words_that_are_allowed(order: str) -> None:
    assert word_problem(order, "ABOKU") is None


def test_matrix_friction_on_the_tangent_space() -> None:
    """exp(-P C h) v, tangent; U keeps N(0, P). The naive exp(-C h) v leaves the tangent space (000-9)."""
    c, h = np.diag([1.0, 2.0, 5.0]), 0.4
    x = np.array([0.6, 0.48, 0.64])
    p = np.eye(3) - np.outer(x, x)
    v = p @ np.array([1.0, -2.0, 0.5])
    friction = Dense(jnp.asarray(c, jnp.float32))
    args = Sphere(), jnp.asarray(x, jnp.float32)
    found = damp(*args, jnp.asarray(v, jnp.float32), friction, jnp.float32(h))
    np.testing.assert_allclose(found, linalg.expm(-p @ c * h) @ v, atol=1e-5)
    assert abs(x @ linalg.expm(-c * h) @ v) > 0.01
    step = lambda i: thermalise(
        jax.random.fold_in(jax.random.key(0), i), *args, _normal(i, p), friction, jnp.float32(h)
    )
    draws = np.asarray(jax.jit(jax.vmap(step))(jnp.arange(20_000)))
    np.testing.assert_allclose(np.cov(draws.T), p, atol=0.05)


def _normal(i: Array, p: np.ndarray) -> Array:
    return jnp.asarray(p, jnp.float32) @ jax.random.normal(jax.random.fold_in(jax.random.key(1), i), (3,))
