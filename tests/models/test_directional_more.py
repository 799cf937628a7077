"""The matrix-Fisher law on rotations, and mixtures on the torus, recover what made the data."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import BadInput, Directional
from orthodrome.densities import RotationVonMisesFisher


@pytest.mark.slow
def test_rotations_are_fitted():
    f = np.array([[6.0, 1.0, 0.0], [-1.0, 4.0, 0.5], [0.3, 0.0, 2.0]], np.float32)
    x = np.asarray(RotationVonMisesFisher(jnp.asarray(f)).sample(jax.random.key(0), (150,)), float)
    model = Directional("matrix-fisher", scale=10, num_chains=2, num_warmup=120, num_draws=120).fit(x)
    sd = model.draws_["posterior"]["parameter"].std(("chain", "draw")).values
    assert np.all(np.abs(model.estimate_["parameter"] - f) < 4 * sd)
    mode = model.estimate_["mode"]
    np.testing.assert_allclose(mode.T @ mode, np.eye(3), atol=1e-6)
    assert np.linalg.det(mode) > 0.99
    u, _, vt = np.linalg.svd(f)
    assert np.trace(mode.T @ (u @ vt)) > 2.95
    assert np.all(np.diff(model.estimate_["concentration"]) < 0)
    assert "mode on Rotation" in repr(model.summary())
    # the predictive density is normalised: its mean over uniform rotations is 1 / volume
    assert model.score(x) > -np.log(2**1.5 * 8 * np.pi**2)
    assert model.bayes_factor().log_bayes_factor > 50


@pytest.mark.slow
@pytest.mark.parametrize("law", ["sine-mixture", "cosine-mixture"])
def test_two_clouds_on_the_torus(law):
    rng = np.random.default_rng(4)
    first = rng.multivariate_normal([1.0, -2.0], [[0.05, 0.03], [0.03, 0.05]], 60)
    second = rng.multivariate_normal([-2.5, 2.8], [[0.1, 0.0], [0.0, 0.04]], 30)
    angles = np.angle(np.exp(1j * np.concatenate([first, second])))
    model = Directional(law, num_chains=2, num_warmup=100, num_draws=100).fit(angles)
    weight, mean = model.estimate_["weight"], model.estimate_["mean"]
    assert weight[0] > weight[1] and abs(weight[0] - 2 / 3) < 0.15
    expected = np.array([[1.0, -2.0], [-2.5, 2.8]])
    off = np.angle(np.exp(1j * (np.arctan2(mean[..., 1], mean[..., 0]) - expected)))
    assert np.all(np.abs(off) < 0.2)
    share = model.predict_proba(angles)
    assert share.shape == (90, 2) and np.mean(share[:60, 0] > 0.5) == 1 == np.mean(share[60:, 1] > 0.5)
    assert model.bayes_factor().log_bayes_factor > 30


def test_only_mixtures_have_components():
    with pytest.raises(BadInput, match="components is 1"):
        Directional("sine-mixture", components=1).fit(np.random.default_rng(0).normal(size=(9, 2)))
