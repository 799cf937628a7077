"""Posteriors of laws on the torus that reach a concentration of zero go on beyond it, at the opposite mean."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import Directional
from orthodrome.models.directional.folds import FOLDED, SignedLog, folded, signed
from orthodrome.models.directional.model import FAMILIES


def even_angles(count: int = 120) -> np.ndarray:
    """Return pairs of angles whose second mean direction is zero, although they are coupled.

    Beside every row (u, v) stands (-u, v + pi), with the same cos u and the same sin u sin v: the likelihood of the
    sine law is the same at (n, c) and at (-n, -c).
    """
    rng = np.random.default_rng(0)
    v = rng.choice([1.2, 1.9], size=count) + 0.5 * rng.normal(size=count)
    u = 0.8 * np.sin(v) + 0.4 * rng.normal(size=count)
    return np.concatenate([np.stack([u, v], 1), np.stack([-u, v + np.pi], 1)])


@pytest.mark.parametrize("law", ["sine", "cosine"])
def test_the_four_copies_of_a_law_have_one_density(law: str) -> None:
    family, rng = FAMILIES[law], np.random.default_rng(1)
    rows = family.read(rng.uniform(-3, 3, size=(7, 2)))
    with jax.enable_x64(True):
        target = family.target(rows, 10.0, 1.0, "float64")
        angle = rng.uniform(-3, 3, size=2)
        p = {
            "mean": np.stack([np.cos(angle), np.sin(angle)], 1),
            "concentration": np.array([0.7, 2.0]),
            "coupling": np.asarray(1.3),
        }
        height = family.logdensity(jax.tree.map(jnp.asarray, p), target.data)
        for sign in ([1, -1], [-1, 1], [-1, -1]):
            copy = turned_over(p, np.array(sign))
            found = signed(family, target).embedded_logdensity(embedded(copy))
            measure = np.log(np.sqrt(1 + p["concentration"] ** 2)).sum()  # cosh(arcsinh(k))
            np.testing.assert_allclose(found, height + measure, rtol=1e-12)
            # without the prior, the family's own formula says so at concentrations below zero
            plain = family.loglikelihood(jax.tree.map(jnp.asarray, copy), target.data["statistics"])
            np.testing.assert_allclose(plain + family.logprior(p, target.data), height, rtol=1e-12)
            back = dict(zip(FOLDED, folded(*(copy[name] for name in FOLDED)), strict=True))
            jax.tree.map(np.testing.assert_array_equal, back, p)
        none = p | {"concentration": np.array([0.7, 0.0])}
        slope = jax.grad(signed(family, target).embedded_logdensity)(embedded(none))
        assert all(np.all(np.isfinite(part)) for part in jax.tree.leaves(slope))


def turned_over(p: dict[str, Any], sign: np.ndarray) -> dict[str, Any]:
    """Return another copy of the same law."""
    return {
        "mean": p["mean"] * sign[:, None],
        "concentration": p["concentration"] * sign,
        "coupling": p["coupling"] * sign.prod(),
    }


def embedded(p: dict[str, Any]) -> dict[str, Any]:
    """Return parameters in the coordinates of the sampler."""
    arrays = jax.tree.map(jnp.asarray, p)
    return arrays | {"concentration": SignedLog().from_user(arrays["concentration"])}


def test_chains_cross_a_concentration_of_zero_to_the_opposite_mean_and_coupling() -> None:
    """Both halves have the same mass here, and every chain must find that."""
    model = Directional("sine", num_chains=3, num_warmup=300, num_draws=600, random_state=1).fit(even_angles())
    posterior = model.draws_["posterior"]
    coupling, mean = np.asarray(posterior["coupling"]), np.asarray(posterior["mean"])
    assert not model.tempered_ and np.all(np.asarray(posterior["concentration"]) > 0)
    assert np.min(np.abs(coupling)) > 0.5  # no chain has crossed through a coupling of zero
    np.testing.assert_allclose((coupling > 0).mean(1), 0.5, atol=0.2)
    assert np.all(mean[..., 0, 0] > 0)
    assert np.all(mean[..., 1, 0] * coupling > 0)  # the opposite mean has the opposite coupling
    assert max(float(data.attrs["rhat"]) for data in model.summary().variables.values()) < 1.1
