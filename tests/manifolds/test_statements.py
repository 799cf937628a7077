"""What manifolds say of themselves to doors and diagnostics; the numbers of a summary are in `storage/test_draws`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core.pytree import pytree
from orthodrome.errors import BadInput, NotOnManifold
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Euclidean, LogRatioSimplex, Manifold, ReflectedSimplex, Simplex, Sphere, manifold_named
from orthodrome.run import sample
from orthodrome.samplers import GeodesicHMC
from orthodrome.targets import Target
from support.registry import MANIFOLDS


def weights(p: Any) -> Any:
    return jnp.sum(2 * jnp.log(p))


def draw(manifold: Manifold, start: Any) -> None:
    sampler = GeodesicHMC(FullGradient(Target(manifold, weights)), 0.1, 2)
    sample(sampler, np.asarray(start, np.float32), seed=0, num_chains=1, num_draws=1, num_warmup=0, progress=False)


@pytest.mark.parametrize("manifold", [Simplex(), ReflectedSimplex()], ids=lambda m: type(m).__name__)
def test_weights_off_the_simplex_are_to_be_divided_by_their_sum(manifold: Manifold) -> None:
    with pytest.raises(NotOnManifold, match=r"pass `start / start.sum\(\)`"):
        draw(manifold, [0.5, 0.6, 0.2])


def test_other_starts_are_to_be_retracted() -> None:
    with pytest.raises(NotOnManifold, match=r"pass `manifold.retract\(start\)`"):
        draw(Sphere(), [0.5, 0.6, 0.2])


def test_a_weight_of_zero_is_explained() -> None:
    with pytest.raises(BadInput, match=r"log density is -inf at `start`.*a wall of the simplex: start inside"):
        draw(Simplex(), [0.5, 0.5, 0.0])


def test_only_the_square_root_map_has_poles() -> None:
    assert (Simplex().least_concentration(True), Simplex().least_concentration(False)) == (0.5, 1.0)
    assert LogRatioSimplex().least_concentration(True) is None and Euclidean().least_concentration(False) is None


def test_names_on_disk_lead_back_to_the_class() -> None:
    for make, _ in MANIFOLDS.values():
        kind = type(make())
        assert manifold_named(kind.__name__) is kind
    assert manifold_named("Nowhere") is Manifold


def test_a_manifold_of_the_user_summarises_its_own_draws() -> None:
    @pytree
    class Halved(Sphere):
        """A sphere that reports half of the mean."""

        @classmethod
        def summary(cls, draws: Any) -> dict[str, Any]:
            return {"half": draws.mean((0, 1)) / 2}

    found = manifold_named("Halved").summary(np.full((2, 3, 4), 5.0))
    np.testing.assert_array_equal(found["half"], np.full(4, 2.5))
