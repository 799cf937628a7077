"""The properties every manifold has, one test each over the registry, in float64.

What a manifold is asked is compiled once (`move`, `inspect`) and shared by the tests. Errors of 1e-11 are seen, which
is far below any mistake in a formula; `test_manifold_controls.py` holds the wrong manifolds that must fail.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome.manifolds import LogPositive, LogRatioSimplex, Manifold
from support.quick import quick
from support.registry.manifolds import MANIFOLDS

pytestmark = pytest.mark.usefixtures("x64")
OTHER_SIZES = (
    *("ball-one", "ball-norm-4", "box-scalar", "sphere-circle", "rotation-3-copies"),
    *("stiefel-one-column", "stiefel-wide", "stiefel-square", "stiefel-two"),
)
"""Left to the slow suite: every manifold is in the fast one by itself and in copies, in every form of its formulas."""


def over(names: Iterable[str]) -> Any:
    """The decorator for a test of these manifolds."""
    names = list(names)
    return pytest.mark.parametrize("name", quick(names, *(name for name in names if name not in OTHER_SIZES)))


every = over(MANIFOLDS)
exact = over(n for n, (make, _) in MANIFOLDS.items() if make().exact_flow)
smooth = over(n for n, (make, _) in MANIFOLDS.items() if make().exact_flow and make().smooth)
compiled = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


class Motion(NamedTuple):
    """Positions and velocities at some times, their derivatives in time, and how they lie to the manifold."""

    y: Array
    w: Array
    dy: Array
    distance: Array
    tangent_w: Array
    tangent_acceleration: Array


class Facts(NamedTuple):
    """What a manifold says about one point."""

    distance: Array
    projection: Array
    retracted: Array
    near: Array
    distance_of_near: Array
    distance_of_off: Array
    user: Array
    again: Array
    user_again: Array
    distance_of_again: Array


@compiled
def start(manifold: Manifold, key: Array, like: Array) -> tuple[Array, Array]:
    place, push = jax.random.split(key)
    x = manifold.random_point(place, like)
    return x, manifold.random_velocity(push, x)


@compiled
def move(manifold: Manifold, x: Array, v: Array, times: Array) -> Motion:
    (y, w), (dy, dw) = jax.jvp(lambda t: jax.vmap(manifold.geodesic)(x, v, t), (times,), (jnp.ones_like(times),))
    tangent_w, tangent_dw = (jax.vmap(manifold.project)(y, u) for u in (w, dw))
    return Motion(y, w, dy, jax.vmap(manifold.distance)(y), tangent_w, tangent_dw)


@compiled
def inspect(manifold: Manifold, x: Array, nudge: Array) -> Facts:
    basis = jnp.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    projection = jax.vmap(lambda u: manifold.project(x, u))(basis).reshape(x.size, x.size)
    near, user = manifold.retract(x + 1e-3 * nudge), manifold.to_user(x)
    normal = nudge - manifold.project(x, nudge)
    off = x + 0.1 * normal / jnp.maximum(jnp.max(jnp.abs(normal)), 1e-9)
    again = manifold.from_user(user)
    distances = [manifold.distance(a) for a in (x, near, off, again)]
    return Facts(
        distances[0], projection, manifold.retract(x), near, distances[1], distances[2], user, again,
        manifold.to_user(again), distances[3],
    )  # fmt: skip


@functools.cache
def setting(name: str) -> tuple[Manifold, Array, Array]:
    """The manifold, a point and a velocity (drawn by NumPy: every normal draw in JAX is one more compilation)."""
    make, shape = MANIFOLDS[name]
    manifold = make()
    x = compiled(manifold.random_point)(jax.random.key(1, impl="unsafe_rbg"), jnp.zeros(shape))
    return manifold, x, compiled(manifold.project)(x, jnp.asarray(np.random.default_rng(1).normal(size=x.shape)))


@functools.cache
def facts(name: str) -> Facts:
    manifold, x, _ = setting(name)
    return inspect(manifold, x, jnp.asarray(np.random.default_rng(2).normal(size=x.shape)))


@functools.cache
def motion(name: str) -> tuple[Array, Motion]:
    """The motions from `setting` at four times, the first of which is 0."""
    manifold, x, v = setting(name)
    times = jnp.asarray([0.0, 0.3, -0.7, 2.5] if manifold.exact_flow else [0.0, 0.05, -0.05, 0.1])
    return times, move(manifold, jnp.stack([x] * 4), jnp.stack([v] * 4), times)


def copies_apart(manifold: Manifold, x: Array) -> Array:
    """The copies along one leading axis."""
    one_point = manifold.point_ndim + x.ndim - jax.eval_shape(manifold.to_user, x).ndim
    return x.reshape(-1, *x.shape[x.ndim - one_point :])


def speeds(manifold: Manifold, v: Array) -> np.ndarray:
    """The speed of every copy."""
    apart = np.asarray(copies_apart(manifold, v))
    return np.linalg.norm(apart.reshape(len(apart), -1), axis=1)


def assert_close(actual: Any, wanted: Any, tolerance: float) -> None:
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=tolerance * (1 + np.max(np.abs(wanted))))


@every
def test_a_random_point_belongs(name: str) -> None:
    assert facts(name).distance < 1e-12
    assert facts(name).user.shape == MANIFOLDS[name][1]


@every
def test_the_distance_sees_a_point_off_the_manifold(name: str) -> None:
    manifold, x, _ = setting(name)
    if manifold.dimension(x) < x.size:
        assert facts(name).distance_of_off > 0.01
    if name == "positive":
        assert manifold.distance(-x) > 0.01


@every
def test_the_projection_is_orthogonal_and_its_rank_is_the_dimension(name: str) -> None:
    manifold, x, _ = setting(name)
    matrix = np.asarray(facts(name).projection)
    assert_close(matrix, matrix.T, 1e-13)
    assert_close(matrix @ matrix, matrix, 1e-13)
    assert int(np.sum(np.linalg.svd(matrix, compute_uv=False) > 0.5)) == manifold.dimension(x)


@every
def test_the_geodesic_stays(name: str) -> None:
    ends = motion(name)[1]
    assert np.max(ends.distance) < 1e-12
    assert_close(ends.tangent_w, ends.w, 1e-12)


@exact
def test_the_geodesic_keeps_the_speed_of_every_copy(name: str) -> None:
    manifold, _, v = setting(name)
    for w in motion(name)[1].w:
        np.testing.assert_allclose(speeds(manifold, w), speeds(manifold, v), rtol=1e-12)


@exact
def test_geodesics_compose(name: str) -> None:
    manifold, _, _ = setting(name)
    times, ends = motion(name)
    whole = move(manifold, ends.y, ends.w, 1.1 - times)
    for i in (1, 2, 3):
        assert_close(whole.y[i], whole.y[0], 1e-11)
        assert_close(whole.w[i], whole.w[0], 1e-11)


@every
def test_the_geodesic_reverses(name: str) -> None:
    manifold, x, v = setting(name)
    times, ends = motion(name)
    back = move(manifold, ends.y, -ends.w, times)
    for i in range(4):
        assert_close(back.y[i], x, 1e-10)
        assert_close(back.w[i], -v, 1e-9)


@every
def test_time_zero_is_the_identity(name: str) -> None:
    _, x, v = setting(name)
    assert_close(motion(name)[1].y[0], x, 1e-13)
    assert_close(motion(name)[1].w[0], v, 1e-13)


@smooth
def test_the_velocity_is_the_derivative_and_the_acceleration_is_normal(name: str) -> None:
    ends = motion(name)[1]
    assert_close(ends.dy, ends.w, 1e-11)
    assert np.max(np.abs(ends.tangent_acceleration)) < 1e-10


@every
def test_retract_is_the_identity_on_the_manifold_and_leads_to_it(name: str) -> None:
    _, x, _ = setting(name)
    assert_close(facts(name).retracted, x, 1e-12)
    assert facts(name).distance_of_near < 1e-12
    assert_close(facts(name).near, x, 1e-2)


@every
def test_leading_axes_are_copies(name: str) -> None:
    manifold, x, v = setting(name)
    xs, vs = copies_apart(manifold, x), copies_apart(manifold, v)
    assert manifold.dimension(x) == len(xs) * manifold.dimension(xs[0])
    if len(xs) > 1:
        each = jax.vmap(manifold.log_measure)(xs) if manifold.log_measure(x) != 0 else jnp.zeros(1)
        np.testing.assert_allclose(manifold.log_measure(x), np.sum(each), rtol=1e-12)
        times, ends = motion(name)
        alone = move(manifold, xs, vs, jnp.full(len(xs), times[1]))
        assert_close(copies_apart(manifold, ends.y[1]), alone.y, 1e-13)
        assert_close(copies_apart(manifold, ends.w[1]), alone.w, 1e-13)


@every
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_is_kept(name: str, dtype: str) -> None:
    manifold = MANIFOLDS[name][0]()

    def everything(key: Array, like: Array, t: Array) -> list[Any]:
        x = manifold.random_point(key, like)
        v, p = manifold.random_velocity(key, x), manifold.to_user(x)
        arrays = [x, v, p, *manifold.geodesic(x, v, t), *manifold.geodesic(x, v, 0.1), manifold.retract(x)]
        return [*arrays, manifold.distance(x), manifold.from_user(p), manifold.log_measure(x) + jnp.zeros((), dtype)]

    like = jax.ShapeDtypeStruct(MANIFOLDS[name][1], dtype)
    with jax.debug_key_reuse(False):
        shapes = jax.eval_shape(everything, jax.random.key(0), like, jax.ShapeDtypeStruct((), dtype))
    assert {str(s.dtype) for s in shapes} == {dtype}


@every
def test_the_users_coordinates_come_back(name: str) -> None:
    _, x, _ = setting(name)
    assert facts(name).again.shape == x.shape
    assert facts(name).distance_of_again < 1e-12
    assert_close(facts(name).user_again, facts(name).user, 1e-12)


@every
def test_the_largest_step_is_finite_where_geodesics_are_curved(name: str) -> None:
    """Straight lines, reflected ones too, and the flow of a level set have no largest step."""
    manifold, x, _ = setting(name)
    velocities = motion(name)[1].w
    curved = manifold.exact_flow and manifold.smooth and not np.allclose(velocities[3], velocities[0])
    assert manifold.max_step(x) > 0
    assert bool(np.isfinite(manifold.max_step(x))) == curved


@pytest.mark.parametrize("manifold", [LogRatioSimplex(carry_logs=True), LogPositive(carry_logs=True)])
def test_log_weights_are_finite_where_weights_underflow(manifold: Manifold) -> None:
    x = manifold.retract(jnp.asarray([-900.0, 3.0, 1.0]))
    assert jnp.all(jnp.isfinite(manifold.to_user(x))) and jnp.isfinite(manifold.log_measure(x))
    assert_close(manifold.from_user(manifold.to_user(x)), x, 1e-12)
