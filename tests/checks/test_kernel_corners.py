"""`check_kernel` with functionals that are constant under the law, and with samplers that cannot step yet."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import (
    SGLD,
    Affine,
    BadInput,
    Euclidean,
    FullGradient,
    GeodesicHMC,
    GeodesicNUTS,
    RandomWalk,
    Target,
    Tempering,
    check_kernel,
)

PINNED = np.array([[0.0, 0.0, 1.0]], np.float32), np.array([3.0], np.float32)


def normal(x):
    return -jnp.sum(x[..., :2] ** 2) / 2


def exact(count=1000):
    free = jax.random.normal(jax.random.key(0), (count, 2))
    return jnp.concatenate([free, jnp.full((count, 1), 3.0)], axis=1)


def test_a_pinned_coordinate_is_constant_and_stays():
    """x_2 = 3: the functionals x_2 and x_2^2 have no standard error, and used to give z = -1e300."""
    sampler = RandomWalk(Target(Affine(*PINNED), normal), 1.0)
    report = check_kernel(sampler, exact())
    assert report.ok, report
    assert report.constant.tolist() == [False, False, True] * 2
    assert np.all(report.z[report.constant] == 0) and np.isfinite(report.smallest_bias).all()
    assert "2 constant functionals stayed" in str(report)


def test_a_constant_that_moves_is_found():
    """On all of space nothing pins x_2, though every exact draw has it at 3."""
    report = check_kernel(RandomWalk(Target(Euclidean(), normal), 1.0), exact())
    assert not report.ok and np.isinf(report.z[report.worst]) and "constant under the law, moved by" in str(report)


@pytest.mark.parametrize("kind", ["walk", "hmc", "nuts", "sgld", "tempering"])
def test_a_sampler_with_nothing_tuned_is_refused_with_the_remedy(kind):
    target = Target(Euclidean(), normal)
    gradient = FullGradient(target)
    sampler = {
        "walk": RandomWalk(target),
        "hmc": GeodesicHMC(gradient, 0.1),
        "nuts": GeodesicNUTS(gradient),
        "sgld": SGLD(gradient),
        "tempering": Tempering(RandomWalk(target), ladder=(0.5, 1.0)),
    }[kind]
    with pytest.raises(BadInput, match="set it by hand"):
        check_kernel(sampler, exact(100))


def test_draws_and_means_of_other_shapes_are_refused():
    sampler = RandomWalk(Target(Euclidean(), normal), 1.0)
    with pytest.raises(BadInput, match="one array of draws for each leaf"):
        check_kernel(sampler, {"x": exact(100)})
    with pytest.raises(BadInput, match="6 functionals"):
        check_kernel(sampler, exact(100), means=[0.0])
