"""Choices of D and Q for the synthetic experiments of Ma, Chen & Fox (2015): the metric of F.1, and supplement E.

**F.1.** The metric of the paper is made from the minibatch's own potential, G^-1 = 1.5 sqrt|U~ + C|. A gradient with
the error w, grad U~ = grad U + w, belongs to a potential U~ = U + w.x, so metric and gradient share their error: the
mean of G^(-1/2) grad U~ over w is not G^(-1/2) grad U, a bias that does not vanish with the step.

**E.** "An adaptive diffusion matrix can facilitate a faster escape from a local mode if |D| is larger in regions of low
probability", and "an adaptive curl matrix with 2-norm growing with the level set can facilitate a more efficient
sampler". On the double well U = 3 (x^2 - 1)^2 both are measured at equal mean strength: D(x) = a sqrt(U + 1/2) against
the constant E D, and Q the same with D constant in the momentum. For D alone the mean time from one well to the other
is also known by quadrature,

    T = int_{-1}^{1} e^{U(y)} / D(y) int_{-inf}^{y} e^{-U(z)} dz dy.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.experiments.support.contract import Claim
from orthodrome.gradients.estimator import Estimate
from orthodrome.metrics.inverse_metric import PositionMetric
from orthodrome.recipe.recipe import Recipe

SCALE, OFFSET, STEP, FRICTION = 1.5, 0.5, 0.004, 1.0


@pytree
class OwnPotentialMetric(PositionMetric):
    """G^-1 = 1.5 sqrt|U~ + C| with U~ = U + w.x, the error w taken from the estimate of the gradient.

    potential: x -> U(x), one number, or with `copies` one for each element of x; with `data` (x, data)
    offset: C
    """

    potential: Any = static()
    offset: Any = OFFSET
    data: Any = None
    copies: bool = static(default=False)

    def inverse(self, x: Tree, estimate: Estimate) -> Tree:
        return jnp.broadcast_to(SCALE * jnp.sqrt(jnp.abs(self._shifted(x, estimate))), x.shape)

    def inverse_divergence(self, key: Array, x: Tree, estimate: Estimate) -> Tree:
        u = self._shifted(x, estimate)
        return -SCALE / 2 * jnp.sign(u) / jnp.sqrt(jnp.abs(u)) * estimate.gradient

    def root_divergence(self, key: Array, x: Tree, estimate: Estimate) -> Tree:
        u = self._shifted(x, estimate)
        return -(SCALE**0.5) / 4 * jnp.sign(u) * jnp.abs(u) ** -0.75 * estimate.gradient

    def _shifted(self, x: Array, estimate: Estimate) -> Array:
        """Return U~ + C."""
        at = lambda y: self.potential(y) if self.data is None else self.potential(y, self.data)
        error = -estimate.gradient - jax.grad(lambda y: jnp.sum(at(y)))(x)
        tilt = error * x
        return at(x) + (tilt if self.copies else jnp.sum(tilt)) + self.offset


def well(x: Array) -> Array:
    """Return U = 3 (x^2 - 1)^2."""
    return 3 * (x * x - 1) ** 2


def strength(x: Array) -> Array:
    """Return sqrt(U + C), which is large where the density is low."""
    return jnp.sqrt(well(x) + OFFSET)


def mean_strength() -> float:
    """Return the mean of `strength` under exp(-U), by quadrature."""
    x = np.linspace(-2.5, 2.5, 20_001)
    p = np.exp(-3 * (x**2 - 1) ** 2)
    return float(np.sum(p * np.sqrt(3 * (x**2 - 1) ** 2 + OFFSET)) / np.sum(p))


def passage_time(adaptive: bool) -> float:
    """Return the mean time from one well to the other with D(x) or its mean, by quadrature."""
    x = np.linspace(-3, 1, 80_001)
    u = 3 * (x**2 - 1) ** 2
    d = np.sqrt(u + OFFSET) if adaptive else np.full_like(x, mean_strength())
    below = np.cumsum(np.exp(-u)) * (x[1] - x[0])
    inside = x >= -1
    return float(np.sum((np.exp(u) / d * below)[inside]) * (x[1] - x[0]))


def position_diffusion(z: Array, level: Array) -> Array:
    """Return D of a position alone: strength(x) if the level is 0, else the level."""
    return jnp.where(level > 0, level, strength(z[0]))[None, None]


def momentum_diffusion(z: tuple[Array, Array], level: Array) -> Array:
    """Return a constant friction of the momentum."""
    return jnp.diag(jnp.asarray([0.0, FRICTION], z[0].dtype))


def curl(z: tuple[Array, Array], level: Array) -> Array:
    """Return Q of position and momentum, [[0, -g], [g, 0]] with g = strength(x), or the level."""
    g = jnp.where(level > 0, level, strength(z[0][0]))
    zero = jnp.zeros_like(g)
    return jnp.stack([jnp.stack([zero, -g]), jnp.stack([g, zero])])


def overdamped(z: Array, level: Array) -> Array:
    """Return H of the position alone."""
    return jnp.sum(well(z))


def underdamped(z: tuple[Array, Array], level: Array) -> Array:
    """Return H of position and momentum."""
    return jnp.sum(well(z[0])) + jnp.sum(z[1] ** 2) / 2


def momentum(key: Array, x: Array) -> tuple[Array]:
    """Draw a momentum."""
    return (jax.random.normal(key, x.shape, x.dtype),)


@partial(jax.jit, static_argnames=("chains", "steps"))
def crossings(recipe: Recipe, key: Array, chains: int, steps: int) -> Array:
    """Return how often each chain passed from the bottom of one well (beyond -1 or 1) to that of the other."""
    start_key, init_key, step_key = jax.random.split(key, 3)
    sign = jax.random.rademacher(start_key, (chains, 1), jnp.float32)

    def step(carry: Any, i: Array) -> tuple[Any, None]:
        states, side, count = carry
        states, _ = jax.vmap(recipe.step)(jax.random.split(jax.random.fold_in(step_key, i), chains), states)
        x = states.position[:, 0]
        now = jnp.where(x > 1, 1.0, jnp.where(x < -1, -1.0, side))
        return (states, now, count + (now != side).astype(jnp.int32)), None

    states = jax.vmap(recipe.init)(sign, jax.random.split(init_key, chains))
    begin = (states, sign[:, 0], jnp.zeros(chains, jnp.int32))
    (_, _, count), _ = jax.lax.scan(step, begin, jnp.arange(steps))
    return count


def choice_claims(seed: int, chains: int, time: float) -> list[Claim]:
    """Return the claims of supplement E, from so many chains of a length in units of time."""
    steps = round(time / STEP)
    level = {"adaptive": jnp.zeros(()), "constant": jnp.asarray(mean_strength(), jnp.float32)}
    kinds = {
        "D": lambda a: Recipe(overdamped, position_diffusion, None, STEP, data=a),
        "Q": lambda a: Recipe(underdamped, momentum_diffusion, curl, STEP, data=a, auxiliary=momentum),
    }
    said = {"D": "D(z) can guide escaping from local modes", "Q": "Q(z) can enable rapid traversing of low probability"}
    claims = []
    for i, (name, make) in enumerate(kinds.items()):
        found, errors = {}, {}
        for j, (kind, value) in enumerate(level.items()):
            count = np.asarray(crossings(make(value), jax.random.key(seed * 100 + 10 * i + j), chains, steps), float)
            found[kind], errors[kind] = count.mean() / time, count.std() / np.sqrt(chains) / time
        gain = found["adaptive"] - found["constant"]
        measured = {"passages per unit of time": found, "standard errors": errors}
        if name == "D":
            measured["by quadrature"] = {kind: 1 / passage_time(kind == "adaptive") for kind in level}
        text = f"a {name} that grows where the density is low crosses between wells more often than its mean (3 errors)"
        claims.append(Claim(f"choice-{name}", text, said[name], measured, gain > 3 * np.hypot(*errors.values())))
    return claims
