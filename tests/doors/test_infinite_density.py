"""A density of +inf is an error that names the point, whatever the sampler and however far the run has come."""

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import (
    Diverged,
    Euclidean,
    FullGradient,
    GeodesicHMC,
    GeodesicNUTS,
    Product,
    RandomWalk,
    Target,
    Tempering,
    sample,
)
from support.quick import slow


def with_a_hole(x):
    """A normal law whose log density is +inf beyond 2: log of a negative number, cut at zero, with a minus sign."""
    return -jnp.sum(x["a"] ** 2) / 2 - jnp.log(jnp.maximum(2 - x["a"][0], 0.0))


def smooth_hole(x):
    """The same with a finite gradient where the density is infinite."""
    return -jnp.sum(x["a"] ** 2) / 2 + jnp.where(x["a"][0] > 2, jnp.inf, 0.0)


SPACE = Product({"a": Euclidean()})


@pytest.mark.parametrize(
    ("kind", "density"),
    [("walk", with_a_hole), ("hmc", smooth_hole), slow("nuts", with_a_hole), slow("tempering", smooth_hole)],
)
def test_the_point_is_named(kind, density):
    target = Target(SPACE, density)
    sampler = {
        "walk": lambda: RandomWalk(target, 1.0),
        "hmc": lambda: GeodesicHMC(FullGradient(target), 0.5, 3),
        "nuts": lambda: GeodesicNUTS(FullGradient(target), 0.5, 4),
        "tempering": lambda: Tempering(RandomWalk(target, 1.0), ladder=(0.5, 1.0)),
    }[kind]()
    start = {"a": np.zeros(2, np.float32)}
    with pytest.raises(Diverged, match=r"\+inf at x\['a'\] = \[ ?[2-9]\.\d+ .*-inf where the distribution has no mass"):
        sample(sampler, start, seed=1, num_chains=2, num_warmup=0, num_draws=2000, progress=False)
