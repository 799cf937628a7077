"""Laws on flat spaces, with and without walls."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.manifolds import Affine, Ball, Box, Euclidean, LogPositive, Positive
from support import exact_draws as exact
from support.registry.law import Law
from support.registry.manifolds import TWO_EQUATIONS

SPREAD_100 = np.geomspace(0.5, 2.0, 100)


def gaussian_one(p: Array) -> Array:
    return -0.5 * jnp.sum(((p - 0.3) / 1.5) ** 2)


def gaussian_hundred(p: Array) -> Array:
    return -0.5 * jnp.sum((p / jnp.asarray(SPREAD_100, p.dtype)) ** 2)


def look_at_hundred(p: Array) -> Array:
    z = p / jnp.asarray(SPREAD_100, p.dtype)
    return jnp.stack([p[0], p[0] ** 2, p[99], p[99] ** 2, jnp.mean(z), jnp.sum(z**2)])


AFFINE = {"mean": np.array([1.0, -0.5, 0.3, 0.0]), "sd": np.array([1.0, 0.7, 1.5, 0.5])}
EQUATIONS, OFFSET = np.array(TWO_EQUATIONS), np.array([1.0, -2.0])


def gaussian_affine(p: Array) -> Array:
    mean, sd = (jnp.asarray(a, p.dtype) for a in AFFINE.values())
    return -0.5 * jnp.sum(((p - mean) / sd) ** 2)


def half_normal_and_gamma(p: Array) -> Array:
    """A density that is largest at the wall, and Gamma(3)."""
    return -0.5 * p[0] ** 2 + 2 * jnp.log(p[1]) - p[1]


def gamma_two(p: Array) -> Array:
    """Gamma(0.5) and Gamma(4)."""
    return -0.5 * jnp.log(p[0]) + 3 * jnp.log(p[1]) - jnp.sum(p)


BALL_MEAN = np.array([0.5, -0.2, 0.1])


def normal_in_ball(p: Array) -> Array:
    return -0.5 * jnp.sum(((p - jnp.asarray(BALL_MEAN, p.dtype)) / 0.6) ** 2)


BOX = {"mean": np.array([0.2, 1.5, 3.0]), "sd": np.array([0.5, 1.0, 2.0])}
BOX_WALLS = np.array([0.0, -1.0, 2.0]), np.array([1.0, 1.0, 5.0])


def normal_in_box(p: Array) -> Array:
    mean, sd = (jnp.asarray(a, p.dtype) for a in BOX.values())
    return -0.5 * jnp.sum(((p - mean) / sd) ** 2)


def funnel(p: Array) -> Array:
    """p0 ~ N(0, 1), p1 and p2 ~ N(0, exp(p0))."""
    return -0.5 * p[0] ** 2 - 0.5 * jnp.sum(p[1:] ** 2) * jnp.exp(-p[0]) - p[0]


def draw_funnel(rng: np.random.Generator, n: int) -> np.ndarray:
    first = rng.normal(size=(n, 1))
    return np.concatenate([first, np.exp(first / 2) * rng.normal(size=(n, 2))], axis=1)


def following(x: Array) -> Array:
    """The diagonal of the funnel's expected information."""
    w = jnp.exp(-x[0])
    return jnp.stack([jnp.full_like(w, 2), w, w])


def mixing(x: Array) -> Array:
    """A full matrix that depends on two coordinates."""
    u = jnp.asarray([1.0, 0.5, 0.0], x.dtype)
    return jnp.diag(following(x)) + 0.3 * jnp.outer(u, u) * (1 + jnp.tanh(x[1]))


def between_one_and_two(x: Array) -> Array:
    """A diagonal metric that depends on the position and bends the dynamics everywhere."""
    return 1 + jax.nn.sigmoid(x)


def look_at_funnel(p: Array) -> Array:
    z = p[1:] * jnp.exp(-p[0] / 2)
    return jnp.concatenate([p[:1], p[:1] ** 2, z, z**2])


FLAT: dict[str, Law] = {
    "gaussian-1": Law(
        Euclidean,
        gaussian_one,
        lambda rng, n: 0.3 + 1.5 * rng.normal(size=(n, 1)),
        step=1.2,
        num_steps=2,
        walk=3.0,
        chains=12_500,
        metric=between_one_and_two,
    ),
    "gaussian-100": Law(
        Euclidean,
        gaussian_hundred,
        lambda rng, n: SPREAD_100 * rng.normal(size=(n, 100)),
        means=lambda: np.array([0, SPREAD_100[0] ** 2, 0, SPREAD_100[99] ** 2, 0, 100]),
        functionals=look_at_hundred,
        step=0.45,
        num_steps=5,
        walk=0.15,
        chains=16_000,
    ),
    "affine": Law(
        lambda: Affine(EQUATIONS, OFFSET),
        gaussian_affine,
        lambda rng, n: exact.conditional_normal(rng, n, AFFINE["mean"], AFFINE["sd"], EQUATIONS, OFFSET),
        step=0.5,
        num_steps=3,
        walk=0.8,
    ),
    "positive": Law(
        Positive,
        half_normal_and_gamma,
        lambda rng, n: np.stack([np.abs(rng.normal(size=n)), rng.gamma(3.0, size=n)], axis=1),
        step=0.8,
        num_steps=3,
        walk=1.5,
        chains=22_000,
    ),
    "log-positive": Law(
        LogPositive,
        gamma_two,
        lambda rng, n: np.stack([rng.gamma(0.5, size=n), rng.gamma(4.0, size=n)], axis=1),
        step=0.6,
        num_steps=4,
        walk=1.2,
        chains=23_000,
        metric=between_one_and_two,
        functionals=lambda p: jnp.concatenate([p, p**2, jnp.log(p)]),
    ),
    "ball": Law(
        Ball,
        normal_in_ball,
        lambda rng, n: exact.truncated_normal_in_ball(rng, n, BALL_MEAN, 0.6),
        step=0.25,
        num_steps=4,
        walk=0.5,
    ),
    "box": Law(
        lambda: Box(jnp.asarray(BOX_WALLS[0]), jnp.asarray(BOX_WALLS[1])),
        normal_in_box,
        lambda rng, n: exact.truncated_normal_in_box(rng, n, BOX["mean"], BOX["sd"], *BOX_WALLS),
        step=0.35,
        num_steps=4,
        walk=0.9,
    ),
    "funnel": Law(
        Euclidean,
        funnel,
        draw_funnel,
        functionals=look_at_funnel,
        step=0.5,
        num_steps=3,
        walk=1.0,
        chains=13_000,
        langevin=0.9,
        metric=following,
    ),
}
FLAT["funnel-mixed"] = replace(FLAT["funnel"], metric=mixing)
