"""Wrong manifolds that the property tests must catch, and cases that belong to one manifold only."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

import manifolds.test_contract as properties
from orthodrome.core.pytree import pytree
from orthodrome.manifolds import Affine, Ball, LevelSet, Positive, Product, ReflectedSimplex, Rotation, Sphere, Stiefel
from orthodrome.manifolds import reflected_simplex as reflection
from support.registry.manifolds import MANIFOLDS, torus


@pytree
class HorizontalStiefel(Stiefel):
    """Projects on the complement of the columns: idempotent and symmetric, but loses the rotations inside the frame."""

    def project(self, x: Array, u: Array) -> Array:
        return u - x @ (jnp.swapaxes(x, -1, -2) @ u)


@pytree
class ChordSphere(Sphere):
    """Moves along the tangent and retracts: too slow, although it reverses."""

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        y = self.retract(x + t * v)
        w = self.project(y, v)
        return y, w * (jnp.linalg.norm(v, axis=-1, keepdims=True) / jnp.linalg.norm(w, axis=-1, keepdims=True))


@pytree
class SlowStiefel(Stiefel):
    """Leaves out the last factor of the flow, diag(e^{-tA}, e^{-tA})."""

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        turn = jnp.swapaxes(x, -1, -2) @ v
        y, w = super().geodesic(x, v, t)
        back = jax.scipy.linalg.expm(t * turn)
        return y @ back, w @ back


@pytree
class AbsorbingPositive(Positive):
    """Stops at the wall."""

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        return jnp.maximum(x + t * v, 0), v


CONTROLS = {
    "horizontal": (
        HorizontalStiefel,
        (4, 2),
        properties.test_the_projection_is_orthogonal_and_its_rank_is_the_dimension,
    ),
    "chord-composes": (ChordSphere, (3,), properties.test_geodesics_compose),
    "chord-accelerates": (
        ChordSphere,
        (3,),
        properties.test_the_velocity_is_the_derivative_and_the_acceleration_is_normal,
    ),
    "slow": (SlowStiefel, (4, 2), properties.test_the_velocity_is_the_derivative_and_the_acceleration_is_normal),
    "absorbing": (AbsorbingPositive, (4,), properties.test_the_geodesic_reverses),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_a_wrong_manifold_is_caught(name: str, monkeypatch: pytest.MonkeyPatch, x64: None) -> None:
    make, shape, check = CONTROLS[name]
    monkeypatch.setitem(MANIFOLDS, f"control-{name}", (make, shape))
    with pytest.raises(AssertionError):
        check(f"control-{name}")


def as_printed(x: Array, v: Array, left: Array) -> tuple[Array, Array, Array]:
    """Algorithm 2, line 7, as printed: v - 2 n_j n_i'v with another i than j."""
    moved, _, remaining = RIGHT_WALL(x, v, left)
    d = x.shape[-1]
    hit = (remaining > 0)[..., 0]
    j = jnp.argmin(jnp.where(v < 0, x / jnp.where(v < 0, -v, 1), jnp.inf), axis=-1)
    normal = (d * jax.nn.one_hot(j, d, dtype=x.dtype) - 1) / np.sqrt(d * (d - 1))
    other = (d * jax.nn.one_hot((j + 1) % d, d, dtype=x.dtype) - 1) / np.sqrt(d * (d - 1))
    turned = v - 2 * normal * jnp.sum(other * v, axis=-1, keepdims=True)
    return moved, jnp.where(hit[..., None], turned, v), remaining


RIGHT_WALL = reflection._to_next_wall


def test_algorithm_2_as_printed_is_caught(monkeypatch: pytest.MonkeyPatch, x64: None) -> None:
    monkeypatch.setattr(reflection, "_to_next_wall", as_printed)
    monkeypatch.setitem(MANIFOLDS, "control-printed", (lambda: ReflectedSimplex(max_hits=50), (3,)))
    with pytest.raises(AssertionError):
        properties.test_the_geodesic_reverses("control-printed")


def test_reflections_hit_many_walls_and_come_back(x64: None) -> None:
    simplex = ReflectedSimplex()
    x, v = properties.start(simplex, jax.random.key(0), jnp.zeros((50, 6)))
    flow = properties.compiled(lambda m, a, b, t: m.geodesic(a, b, t))
    y, w = flow(simplex, x, v, 5.0)
    back, turned = flow(simplex, y, -w, 5.0)
    np.testing.assert_allclose(back, x, atol=1e-9)
    np.testing.assert_allclose(turned, -v, atol=1e-8)
    assert jnp.all(y >= 0)
    assert jnp.all(jnp.isnan(flow(ReflectedSimplex(max_hits=3), x, v, 50.0)[0]))


def test_a_corner_is_reflected(x64: None) -> None:
    x, v = jnp.asarray([0.2, 0.2, 0.6]), jnp.asarray([-1.0, -1.0, 2.0])
    y, w = ReflectedSimplex().geodesic(x, v, 0.3)
    assert jnp.all(jnp.isfinite(y)) and ReflectedSimplex().distance(y) < 1e-14
    np.testing.assert_allclose(jnp.linalg.norm(w), jnp.linalg.norm(v))


def test_a_level_set_refuses_moves_that_do_not_reverse(x64: None) -> None:
    """Large steps on the torus: what is not refused reverses; without the check some would not."""
    manifold = LevelSet(torus)
    x, v = properties.start(manifold, jax.random.key(5), jnp.zeros((300, 3)))
    time = jnp.asarray(0.4)
    checked = properties.compiled(lambda a, b: manifold.geodesic(a, b, time))
    unchecked = properties.compiled(jax.vmap(lambda a, b: manifold._drift(a, b, time)))

    def returns(flow: Any) -> tuple[Array, Array]:
        y, w = flow(x, v)
        back, _ = flow(y, -w)
        return jnp.isfinite(y[:, 0]), jnp.max(jnp.abs(back - x), axis=1) < 1e-6

    kept, reversed_ = returns(checked)
    assert 0.2 < jnp.mean(kept) < 1 and jnp.all(reversed_[kept])
    kept, reversed_ = returns(unchecked)
    assert jnp.mean(kept & ~reversed_) > 0.01


def test_the_level_set_drift_keeps_the_volume(x64: None) -> None:
    """RATTLE's map on the circle in the plane is area-preserving in (angle, angular velocity)."""
    manifold = LevelSet(lambda x: x[0] ** 2 + 2 * x[1] ** 2 - 1)

    def arc(angle: Array) -> Array:
        return jnp.stack([jnp.cos(angle), jnp.sin(angle) / jnp.sqrt(2.0)])

    def phase(q: Array) -> Array:
        x, tangent = jax.jvp(arc, (q[0],), (jnp.ones(()),))
        y, w = manifold.geodesic(x, tangent * (q[1] / jnp.sum(tangent**2)), 0.2)  # q[1]: the conjugate momentum
        angle = jnp.arctan2(jnp.sqrt(2.0) * y[1], y[0])
        return jnp.stack([angle, jnp.sum(w * jax.jvp(arc, (angle,), (jnp.ones(()),))[1])])

    np.testing.assert_allclose(
        np.linalg.det(properties.compiled(jax.jacfwd(phase))(jnp.asarray([0.7, 1.1]))), 1, rtol=1e-7
    )


def test_stiefel_in_a_product_of_different_leaves() -> None:
    space = Product({"frame": Stiefel(), "turn": Rotation(), "inside": Ball(), "scale": Positive()})
    shapes = {"frame": (4, 2), "turn": (3, 3), "inside": (2,), "scale": ()}
    x, v = properties.start(space, jax.random.key(0), {name: jnp.zeros(shape) for name, shape in shapes.items()})
    y, w = properties.compiled(lambda m, a, b, t: m.geodesic(a, b, t))(space, x, v, dict.fromkeys(shapes, 0.1))
    assert space.dimension(x) == 5 + 3 + 2 + 1
    assert space.distance(y) < 1e-5
    np.testing.assert_allclose(
        sum(jnp.sum(a * a) for a in w.values()), sum(jnp.sum(a * a) for a in v.values()), rtol=1e-5
    )
    assert {n: a.shape for n, a in space.to_user(y).items()} == shapes


def test_affine_drops_redundant_rows_and_survives_jax() -> None:
    space = Affine([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]], [1.0, 2.0])
    rebuilt = jax.tree.map(lambda leaf: leaf, space)
    assert space.dimension(jnp.zeros(3)) == 2
    np.testing.assert_allclose(rebuilt.retract(jnp.zeros(3)), 1 / 3, rtol=1e-6)
    assert jax.tree.structure(jax.tree.map(lambda _: None, space)).num_leaves == 0
