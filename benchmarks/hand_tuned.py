"""Geodesic HMC by hand: plain JAX, no framework, the best of a dozen settings for each law.

This is what an expert writes for one law after an afternoon of trying: a step size (with a uniform jitter from draw
to draw, which breaks resonances) and a number of steps, nothing learnt, a scan that keeps the draws. It is the bar
for the self-tuned samplers. The settings are tried in the run itself, by min-ESS per second of a short run; the
winner is then measured like everybody else. The Dirichlet is in centred log ratios, the frames use JAX's `expm`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.linalg import expm

from benchmarks.laws import Law
from benchmarks.measure import Compilations, Run, min_ess
from benchmarks.spread import NUM_CHAINS, chain_keys, over_chains

SETTINGS: dict[str, tuple[tuple[float, ...], tuple[int, ...], tuple[float, ...]]] = {
    "vMF d=3": ((0.25, 0.3, 0.35), (2, 3), (0.0, 0.2)),
    "vMF d=100": ((0.06, 0.07, 0.08), (2, 3), (0.0, 0.2)),
    "BVMF d=5": ((0.13, 0.16, 0.2), (2, 3), (0.2, 0.5)),
    "Bingham d=10": ((0.16, 0.25), (3, 5, 8), (0.2, 0.5)),
    "Dirichlet d=10": ((0.35, 0.4, 0.45, 0.5), (5, 7, 9), (0.5,)),
    "matrix vMF Stiefel(20,3)": ((0.08, 0.1, 0.12), (3, 4), (0.0, 0.2)),
}
"""Law -> step sizes, numbers of steps and jitters; all combinations are tried. Found by a search over wider grids."""


def sphere_project(x: Array, u: Array) -> Array:
    return u - x * (x @ u)


def sphere_flow(x: Array, v: Array, t: Any) -> tuple[Array, Array]:
    speed = jnp.sqrt(v @ v)
    c, s = jnp.cos(speed * t), jnp.sin(speed * t)
    y = x * c + v * (s / speed)
    return y / jnp.sqrt(y @ y), v * c - x * (speed * s)


def frame_project(x: Array, u: Array) -> Array:
    a = x.T @ u
    return u - x @ (a + a.T) / 2


def frame_flow(x: Array, v: Array, t: Any) -> tuple[Array, Array]:
    """[X V] exp t[[A, -S], [I, A]] diag(exp -tA, exp -tA), A = X'V, S = V'V (Edelman, Arias & Smith 1998)."""
    p = x.shape[1]
    a, s = x.T @ v, v.T @ v
    turned = jnp.concatenate([x, v], 1) @ expm(t * jnp.block([[a, -s], [jnp.eye(p), a]]))
    back = expm(-t * a)
    y = turned[:, :p] @ back
    return y @ (3 * jnp.eye(p) - y.T @ y) / 2, turned[:, p:] @ back


def plane_project(x: Array, u: Array) -> Array:
    return u - jnp.mean(u)


def plane_flow(x: Array, v: Array, t: Any) -> tuple[Array, Array]:
    return x + t * v, v


SPACES = {
    "sphere": (sphere_project, sphere_flow),
    "frame": (frame_project, frame_flow),
    "simplex": (plane_project, plane_flow),
}


def embedded(law: Law) -> Callable[[Array], Array]:
    """The density that the dynamics see: the Dirichlet in centred log ratios, where it gains a factor p_1 ... p_d."""
    if law.space != "simplex":
        return law.logdensity
    a = jnp.asarray(law.parameters[0], jnp.float32)
    return lambda x: a @ jax.nn.log_softmax(x)


def to_user(law: Law, x: Array) -> Array:
    return jax.nn.softmax(x) if law.space == "simplex" else x


def first_point(law: Law, key: Array) -> Array:
    z = jax.random.normal(key, law.shape, jnp.float32)
    if law.space == "sphere":
        return z / jnp.sqrt(z @ z)
    return jnp.linalg.qr(z)[0] if law.space == "frame" else z - jnp.mean(z)


def chain(
    law: Law, num_draws: int, chain: tuple[Array, Array], setting: tuple[Array, Array, Array]
) -> tuple[Array, Array]:
    """The last position and the draws of one chain."""
    project, flow = SPACES[law.space]
    density = jax.value_and_grad(embedded(law))
    mean_step, num_steps, jitter = setting

    def leapfrog(step_size: Array, _: Any, point: Any) -> Any:
        x, v, _, g = point
        x, v = flow(x, v + project(x, g) * (step_size / 2), step_size)
        lp, g = density(x)
        return x, v + project(x, g) * (step_size / 2), lp, g

    def draw(state: Any, key: Array) -> tuple[Any, Array]:
        velocity_key, accept_key, step_key = jax.random.split(key, 3)
        step_size = mean_step * (1 + jitter * jax.random.uniform(step_key, minval=-1))
        x, lp, g = state
        v = project(x, jax.random.normal(velocity_key, x.shape, x.dtype))
        x1, v1, lp1, g1 = jax.lax.fori_loop(0, num_steps, partial(leapfrog, step_size), (x, v, lp, g))
        change = lp1 - lp + (jnp.sum(v * v) - jnp.sum(v1 * v1)) / 2
        accepted = jnp.log(jax.random.uniform(accept_key)) < change
        state = jax.tree.map(partial(jnp.where, accepted), (x1, lp1, g1), state)
        return state, to_user(law, state[0])

    key, x = chain
    last, draws = jax.lax.scan(draw, (x, *density(x)), jax.random.split(key, num_draws))
    return last[0], draws


def run(law: Law, seeds: range, num_warmup: int, num_draws: int) -> Iterator[Run]:
    """Try the settings, then one Run per seed with the best."""
    clock = Compilations()
    pilot_draws = max(100, num_draws // 4)
    burn_in, pilot, draws = (over_chains(partial(chain, law, n), 2) for n in (num_warmup, pilot_draws, num_draws))
    start = over_chains(lambda key, _: first_point(law, key), 2)
    settings = [(np.float32(h), np.int32(n), np.float32(u)) for h, n, u in itertools.product(*SETTINGS[law.name])]
    (x, _) = burn_in((chain_keys(1000, 0), start(chain_keys(1000, 1), 0)), settings[0])

    def score(setting: Any) -> float:
        clock.timed(pilot, (chain_keys(1000, 2), x), setting)
        (_, values), seconds = clock.timed(pilot, (chain_keys(1000, 3), x), setting)
        return min_ess(np.asarray(values)) / seconds

    best = max(settings, key=score)
    draws((chain_keys(1000, 4), x), best)
    for seed in seeds:
        keys = [chain_keys(seed, phase) for phase in range(3)]
        (x, _), warmup = clock.timed(burn_in, (keys[0], start(keys[1], 0)), best)
        (_, values), seconds = clock.timed(draws, (keys[2], x), best)
        gradients = NUM_CHAINS * num_draws * int(best[1])
        yield Run(
            np.asarray(values), seconds, warmup, gradients, f"step {best[0]:.3g}, {best[1]} steps, jitter {best[2]:.1f}"
        )
