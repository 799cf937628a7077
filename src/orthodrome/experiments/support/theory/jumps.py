"""Section 2.1: with D = 0 the dynamics is deterministic, and a jump process must be added.

HMC as a recipe, for many oscillators at once that all start at x = 3: with a new momentum every 125 steps the variance
is 1, without one every oscillator stays on the level of H on which it began, and `sample` refuses such a recipe.

The integrator is linear, (x, r) -> M (x, r) with r <- r - h x, x <- x + h r. From one jump to the next x is a x + b r,
(a, b) the first row of M^125 and r a new number, so its variance is exactly b^2 / (1 - a^2): 0.997, and 1 in the limit
of small steps.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import replace
from orthodrome.doors import check_sampler
from orthodrome.errors import BadInput
from orthodrome.experiments.support.contract import Claim
from orthodrome.metrics.divergence import ProbedDivergence
from orthodrome.recipe import MatrixFree, Recipe

STEP, EVERY, START, EARLY = 0.01, 125, 3.0, 20
"""The step, the steps between jumps, the start, and the jumps until the start is forgotten."""


def energy(z: tuple[Array, Array]) -> Array:
    """Return H of oscillators side by side."""
    return (jnp.sum(z[0] ** 2) + jnp.sum(z[1] ** 2)) / 2


def turned(z: Any, v: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return Q v."""
    return -v[1], v[0]


def momentum(key: Array, x: Array) -> tuple[Array]:
    """Draw a momentum."""
    return (jax.random.normal(key, x.shape, x.dtype),)


@partial(jax.jit, static_argnames=("copies", "jumps"))
def second_moments(recipe: Recipe, key: Array, copies: int, jumps: int) -> Array:
    """Return the mean of x^2 of each oscillator over the times between two jumps, after EARLY of them."""
    begin_key, step_key = jax.random.split(key)
    state = recipe.init(jnp.full(copies, START), begin_key)

    def between(state: Any, keys: Array) -> tuple[Any, Array]:
        state = jax.lax.scan(lambda s, k: (recipe.step(k, s)[0], None), state, keys)[0]
        return state, state.position**2

    keys = jax.random.split(step_key, EVERY * (EARLY + jumps)).reshape(EARLY + jumps, EVERY)
    return jnp.mean(jax.lax.scan(between, state, keys)[1][EARLY:], axis=0)


def variance() -> float:
    """Return the variance of x at the jumps that the integrator gives, b^2 / (1 - a^2)."""
    a, b = np.linalg.matrix_power(np.array([[1 - STEP**2, STEP], [-STEP, 1]]), EVERY)[0]
    return float(b**2 / (1 - a**2))


def jump_claims(seed: int, copies: int, jumps: int) -> list[Claim]:
    """Return the claims on HMC with and without jumps."""
    still = Recipe(energy, None, MatrixFree(turned), STEP, auxiliary=momentum, divergence=ProbedDivergence())
    found, errors = {}, {}
    for name, recipe in {"with jumps": replace(still, refresh_every=EVERY), "without": still}.items():
        each = np.asarray(second_moments(recipe, jax.random.key(seed), copies, jumps), float)
        found[name], errors[name] = float(each.mean()), float(each.std() / np.sqrt(copies))
    own = variance()
    try:
        check_sampler(still, jnp.zeros((1, 2)))
        told = "accepted"
    except BadInput as error:
        told = str(error)
    off = abs(found["with jumps"] - own)
    measured = {"variance": found, "standard error": errors, "the integrator's own": own}
    text = (
        f"HMC by the recipe with a new momentum every {EVERY} steps: the variance is that of the integrator within 4 "
    )
    text += "standard errors, and the latter is 1 within 0.005"
    stuck = "without jumps the chain stays on its first energy levels: the variance is above 4"
    return [
        Claim("jumps", text, "section 2.1", measured, off < 4 * errors["with jumps"] and abs(own - 1) < 0.005),
        Claim("jumps-none", stuck, "a jump process must be added", found["without"], found["without"] > 4),
        Claim(
            "jumps-refused",
            "HMC without jumps is refused, with the remedy named",
            None,
            told,
            "no jumps" in told and "refresh_every" in told,
        ),
    ]
