"""The constant of Bingham laws in many dimensions, and the eigenvalues behind it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import Bingham
from orthodrome.special import eigen, fisher_bingham, jacobi


def exact(values, squares):
    """log constant by the same integral along the same path, in 30 digits; squares of the linear term per value."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(30):
        a, n = {}, len(values)
        for value, square in zip(values.tolist(), squares.tolist(), strict=True):
            count, total = a.get(value, (0, mp.mpf(0)))
            a[value] = count + 1, total + mp.mpf(square)
        a = [(mp.mpf(v), k, g) for v, (k, g) in a.items()]
        slope = lambda s: sum((mp.mpf(k) / 2 + g / (4 * (s - v))) / (s - v) for v, k, g in a) - 1
        low, high = mp.mpf(values.max()) + mp.mpf(10) ** -25, mp.mpf(values.max()) + n + squares.sum() + 1
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        height = lambda s: s - sum(k * mp.log(s - v) / 2 - g / (4 * (s - v)) for v, k, g in a)
        second = sum(k / (2 * (low - v) ** 2) + g / (2 * (low - v) ** 3) for v, k, g in a)
        b = sum(k / (low - v) ** 3 + 3 * g / (2 * (low - v) ** 4) for v, k, g in a) / (6 * second)
        top, width, reach = height(low), 1 / mp.sqrt(second), mp.sqrt(70 / b)
        inside = lambda y: mp.re(mp.exp(height(low + 1j * y - b * y * y) - top) * (1 + 2j * b * y))
        cuts = [0, *(c * width for c in (2, 6, 16) if c * width < reach), reach]
        return float(top + mp.log(mp.quad(inside, cuts) / mp.pi) + mp.log(2) + mp.mpf(n) / 2 * mp.log(mp.pi))


@pytest.mark.parametrize(("n", "kind"), [(100, "peak"), (100, "steps"), (1000, "two")])
def test_constant_in_many_dimensions(n, kind):
    values = {
        "two": np.repeat([0.0, 1e4], [n // 2, n - n // 2]),
        "peak": np.r_[np.zeros(n - 1), 300.0],
        "steps": np.repeat(np.linspace(0, 50, 10), n // 10),
    }[kind]
    with jax.enable_x64(True):
        got = float(Bingham(jnp.diag(jnp.asarray(values))).log_constant())
    assert abs(got - exact(values, np.zeros(n))) < 1e-12 * max(100, abs(got))


def test_moments_with_a_linear_term_in_fifty_dimensions():
    """E xx' has trace 1, and both moments are the slopes of the constant (central differences)."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(50, 50))
    a, c = (a + a.T), rng.normal(size=50) * 3
    with jax.enable_x64(True):
        found = fisher_bingham(jnp.asarray(a), jnp.asarray(c))
        assert abs(float(jnp.trace(found.second)) - 1) < 1e-12
        step = rng.normal(size=50) * 1e-5
        change = fisher_bingham(a, c + step).log_constant - fisher_bingham(a, c - step).log_constant
        np.testing.assert_allclose(change, 2 * np.asarray(found.mean) @ step, rtol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 16, 17, 60])
def test_eigenvalues_and_vectors(n):
    """Also of matrices with equal eigenvalues, to rounding; Jacobi's rotations up to 16 rows."""
    rng = np.random.default_rng(n)
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    for spectrum in (rng.normal(size=n), np.repeat([1.0, 1e4], [n // 2, n - n // 2]), np.logspace(0, 6, n)):
        a = (q * spectrum) @ q.T
        with jax.enable_x64(True):
            values, vectors = map(np.asarray, jax.jit(eigen)(jnp.asarray((a + a.T) / 2)))
        np.testing.assert_allclose(np.sort(values), np.sort(spectrum), atol=1e-12 * np.abs(spectrum).max())
        np.testing.assert_allclose((vectors * values) @ vectors.T, a, atol=1e-12 * np.abs(spectrum).max())


def test_one_round_of_rotations_costs_the_square_of_the_rows():
    """The sizes of everything the compiled sweeps touch grow like n^2 a round: n^5 in all made d = 100 take 25 s."""
    work = lambda n: max(
        (v.aval.size for eqn in jax.make_jaxpr(jacobi)(jnp.zeros((n, n))).eqns for v in eqn.outvars), default=0
    )
    assert work(16) == 16 * 16
    assert "dot_general" not in str(jax.make_jaxpr(jacobi)(jnp.zeros((16, 16))))
