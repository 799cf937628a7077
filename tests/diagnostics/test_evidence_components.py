"""The evidence on spaces of two components counts what the chains can reach, and says so."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome import (
    BadInput,
    FullGradient,
    GeodesicHMC,
    OrthodromeWarning,
    Product,
    Rotation,
    Sphere,
    Stiefel,
    Target,
    Tempering,
    log_evidence,
    sample,
)
from support.quick import quick, slow

F = np.array([[2.0, 0.5], [-0.3, 1.0]], np.float32)
SPACES = {"stiefel": Stiefel(), "orthogonal": Rotation(special=False)}


def fisher(x, f):
    return jnp.sum(x * f)


def exact():
    """log int exp(tr F'X) over the rotations and over the reflections of the plane: 2 pi sqrt(2) I_0(r)."""
    (a, b), (c, d) = F.astype(float)
    r = np.hypot(a + d, c - b), np.hypot(a - d, b + c)
    return [np.log(2 * np.pi * 2**0.5 * ive(0, one)) + one for one in r]


def run(space, starts):
    target = Target(SPACES[space], fisher, jnp.asarray(F))
    sampler = Tempering(GeodesicHMC(FullGradient(target), 0.5, 3), (0.1, 0.4, 1.0))
    with pytest.warns(OrthodromeWarning, match=r"O\(n\): two components"):
        return target, sample(sampler, starts, seed=0, num_chains=4, num_warmup=50, num_draws=1000, progress=False)


@pytest.mark.parametrize(("space", "side"), [slow("stiefel", 0), ("orthogonal", 1)])
def test_chains_in_one_component(space, side):
    """The uniform rung used to be on both components (about log 2 too much), or the volume that of SO(n) alone."""
    target, draws = run(space, np.float32(np.diag([1, -1 if side else 1])))
    with pytest.warns(OrthodromeWarning, match="in 1 of them"):
        found = log_evidence(draws, target)
    assert found.components == (1, 2)
    assert found.bridge_error < 0.05
    assert abs(found.bridge - exact()[side]) < 4 * found.bridge_error
    assert abs(found.thermodynamic - exact()[side]) < 4 * found.thermodynamic_error + 0.02


@pytest.mark.parametrize("space", quick(SPACES, "orthogonal"))
def test_chains_in_both_components(space):
    """Integrals over the two components add up."""
    starts = [np.float32(np.diag([1, sign])) for sign in (1, -1, 1, 1)]
    target, draws = run(space, starts)
    found = log_evidence(draws, target)
    assert found.components == (2, 2)
    assert abs(found.bridge - np.logaddexp(*exact())) < 4 * found.bridge_error < 0.2


def test_volume_of_the_orthogonal_group_and_its_components():
    both = Rotation(special=False).log_volume(np.zeros((3, 3)))
    assert both == pytest.approx(Rotation().log_volume(np.zeros((3, 3))) + np.log(2))
    assert both == pytest.approx(Stiefel().log_volume(np.zeros((3, 3))))


def test_components_are_told_and_crossed_by_reflections():
    space = Product({"a": Rotation(special=False), "b": Sphere(), "c": Stiefel()})
    like = {"a": jnp.zeros((3, 2, 2)), "b": jnp.zeros(4), "c": jnp.zeros((2, 2))}
    x, y = (space.random_point(jax.random.key(i), like) for i in (0, 3))
    signs = [np.linalg.det(a) < 0 for a in (*x["a"], x["c"])]
    assert space.component(x).tolist() == signs
    moved = space.into_component(x, y)
    assert space.component(moved).tolist() == space.component(y).tolist() != signs
    assert float(space.distance(moved)) < 1e-5
    assert Rotation().component(jnp.eye(3)).size == 0 == Stiefel().component(jnp.eye(3)[:, :2]).size


@pytest.mark.parametrize("space, shape", [(Sphere(), (1,)), (Stiefel(), (1, 1)), (Rotation(special=False), (1, 1))])
def test_two_points_are_refused(space, shape):
    """A sphere in one dimension used to be sampled: nothing moved, and nothing was said."""
    sampler = GeodesicHMC(FullGradient(Target(space, jnp.sum)), 0.1, 2)
    with pytest.raises(BadInput, match="consists of the two points 1 and -1"):
        sample(sampler, np.ones(shape, np.float32), seed=0, num_draws=10, progress=False)
