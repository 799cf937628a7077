"""Constants of laws on rotations, and the checks of a hyperdirichlet's sets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome import BadInput
from orthodrome.densities import HyperDirichlet, RotationVonMisesFisher, UniformRotation
from orthodrome.errors import Unsupported

F = np.array([[2.0, -0.5, 0.3], [0.1, 1.0, 0.7], [-0.4, 0.2, -1.5]])


def test_constant_on_three_dimensional_rotations_against_uniform_draws():
    """E exp(tr F'R) over the uniform law times the volume; 2e5 draws give it to half a per cent."""
    law, uniform = RotationVonMisesFisher(jnp.asarray(F, jnp.float32)), UniformRotation(3, jnp.float32)
    x = uniform.sample(jax.random.key(0), (200_000,))
    weight = np.exp(np.asarray(law.logdensity(x), float))
    expected = np.log(weight.mean()) - float(uniform.logdensity(x[0]))
    assert abs(float(law.log_constant()) - expected) < 5 * weight.std() / weight.mean() / np.sqrt(len(weight))


def test_constant_of_a_multiple_of_the_identity():
    """F = k I: tr R = 1 + 2 cos t, with the density (1 - cos t) / pi of the angle t: a pair of Bessel functions."""
    with jax.enable_x64(True):
        for k in (0.0, 0.3, 5.0, 1e3):
            got = float(RotationVonMisesFisher(k * jnp.eye(3)).log_constant())
            expected = 3 * k + np.log(ive(0, 2 * k) - ive(1, 2 * k)) + np.log(2**1.5 * 8 * np.pi**2)
            assert abs(got - expected) < 1e-10 * max(1, abs(expected))


def test_constant_in_the_plane_and_refusal_elsewhere():
    with jax.enable_x64(True):
        f = jnp.array([[1.0, 0.4], [-0.7, 2.0]])
        t = np.linspace(0, 2 * np.pi, 400, endpoint=False)
        r = jnp.asarray(np.stack([np.cos(t), -np.sin(t), np.sin(t), np.cos(t)], -1).reshape(-1, 2, 2))
        exact = np.log(np.mean(np.exp(RotationVonMisesFisher(f).logdensity(r))) * 2 * np.pi * 2**0.5)
        assert abs(float(RotationVonMisesFisher(f).log_constant()) - exact) < 1e-12
        assert np.isfinite(RotationVonMisesFisher(jnp.zeros((2, 2))).log_constant())
        with pytest.raises(Unsupported, match="4 x 4"):
            RotationVonMisesFisher(jnp.eye(4)).log_constant()


@pytest.mark.parametrize(
    "sets, text",
    [
        (((0, 1), (1, 3)), r"sets\[1\].*index 3"),
        (((0, 0), (1,)), "twice"),
        (((), (1,)), "nothing"),
        (((0,),), "powers"),
    ],
)
def test_hyperdirichlet_refuses_sets_that_cannot_be_meant(sets, text):
    """An index out of range was taken for the last one."""
    law = HyperDirichlet(jnp.ones(3), jnp.ones(2), sets)
    for ask in (lambda: law.logdensity(jnp.array([0.2, 0.3, 0.5])), lambda: law.sample(jax.random.key(0))):
        with pytest.raises(BadInput, match=text):
            ask()
