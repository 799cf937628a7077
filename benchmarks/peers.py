"""NumPyro's and BlackJAX's NUTS on the laws in the form one writes without manifolds.

    sphere    x = z / |z|, z standard normal             (uniform on the sphere, then weighted by the law)
    frame     X = Z L^-T, Z'Z = LL', Z standard normal   (the Q of QR with a positive diagonal: uniform on frames)
    simplex   stick breaking, as NumPyro's Dirichlet site has it

Both tune themselves chain by chain (step size and diagonal metric, their defaults) in programs compiled once, and
each law is drawn in the layout that is faster for it. NumPyro is driven by its kernel's `init` and `sample`: its own
driver compiles again in every call with `chain_method="parallel"`, which would be unkind to measure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from benchmarks.laws import Law
from benchmarks.measure import Compilations, Run
from benchmarks.spread import NUM_CHAINS, chain_keys, over_chains

LAYOUTS = (4, 2)


def to_user(law: Law, z: Array) -> Array:
    """The point of the law's space from free coordinates."""
    if law.space == "sphere":
        return z / jnp.sqrt(z @ z)
    if law.space == "frame":
        return jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(z.T @ z), z.T, lower=True).T
    return _stick_breaking()(z)


def logdensity(law: Law, z: Array) -> Array:
    """In free coordinates."""
    x = to_user(law, z)
    if law.space == "simplex":
        return law.logdensity(x) + _stick_breaking().log_abs_det_jacobian(z, x)
    return law.logdensity(x) - jnp.sum(z * z) / 2


def free_shape(law: Law) -> tuple[int, ...]:
    return (law.shape[0] - 1,) if law.space == "simplex" else law.shape


def _stick_breaking() -> Any:
    from numpyro.distributions.transforms import StickBreakingTransform

    return StickBreakingTransform()


def numpyro_model(law: Law) -> Callable[[], None]:
    """As a user writes it."""
    import numpyro
    import numpyro.distributions as dist

    def flat() -> None:
        z = numpyro.sample("z", dist.Normal(0, 1).expand(law.shape).to_event())
        numpyro.factor("law", law.logdensity(to_user(law, z)))

    def simplex() -> None:
        numpyro.sample("z", dist.Dirichlet(jnp.asarray(law.parameters[0], jnp.float32)))

    return simplex if law.space == "simplex" else flat


Programs = tuple[Callable[..., Any], Callable[..., Any]]
"""Of one chain: warm(key, _) -> state; draw((key, state), _) -> (free coordinates, gradients), both (draw, ...)."""


def numpyro_programs(law: Law, num_warmup: int, num_draws: int) -> Programs:
    from numpyro.infer import NUTS

    kernel = NUTS(numpyro_model(law))
    kernel.init(jax.random.key(0), num_warmup, None, (), {})

    def warm(key: Array, _: Any) -> Any:
        state = kernel.init(key, num_warmup, None, (), {})
        return jax.lax.fori_loop(0, num_warmup, lambda _, s: kernel.sample(s, (), {}), state)

    def draw(chain: tuple[Array, Any], _: Any) -> Any:
        def one(state: Any, _: None) -> Any:
            state = kernel.sample(state, (), {})
            return state, (state.z["z"], state.num_steps)

        return jax.lax.scan(one, chain[1]._replace(rng_key=chain[0]), None, num_draws)[1]

    return warm, draw


def blackjax_programs(law: Law, num_warmup: int, num_draws: int) -> Programs:
    import blackjax

    density = partial(logdensity, law)
    adaptation = blackjax.window_adaptation(blackjax.nuts, density, adaptation_info_fn=lambda *_: None)

    def warm(key: Array, _: Any) -> Any:
        start_key, key = jax.random.split(key)
        (state, parameters), _ = adaptation.run(key, jax.random.normal(start_key, free_shape(law)), num_warmup)
        return state, {name: parameters[name] for name in ("step_size", "inverse_mass_matrix")}

    def draw(chain: tuple[Array, Any], _: Any) -> Any:
        key, (state, parameters) = chain
        step = blackjax.nuts(density, **parameters).step

        def one(state: Any, key: Array) -> Any:
            state, info = step(key, state)
            return state, (state.position, info.num_integration_steps)

        return jax.lax.scan(one, state, jax.random.split(key, num_draws))[1]

    return warm, draw


def run(programs: Callable[..., Programs], law: Law, seeds: range, num_warmup: int, num_draws: int) -> Iterator[Run]:
    """Choose the layout, then one Run per seed."""
    clock = Compilations()
    warm_one, draw_one = programs(law, num_warmup, num_draws)
    warm = over_chains(warm_one, LAYOUTS[0])
    began = time.perf_counter()
    state = jax.block_until_ready(warm(chain_keys(1000, 0), 0))
    seconds_of, compiling = {}, 0.0
    for layout in LAYOUTS:
        draw = over_chains(draw_one, layout)
        draw((chain_keys(1000, 1), state), 0)
        compiling = compiling or clock.between(began, time.perf_counter())  # of the warm-up and one layout
        seconds_of[layout] = clock.timed(draw, (chain_keys(1000, 2), state), 0)[1], draw
    layout = min(LAYOUTS, key=lambda n: seconds_of[n][0])
    draw = seconds_of[layout][1]
    from_free = jax.jit(jax.vmap(jax.vmap(partial(to_user, law))))
    for seed in seeds:
        state, warmup = clock.timed(warm, chain_keys(seed, 0), 0)
        (z, gradients), seconds = clock.timed(draw, (chain_keys(seed, 1), state), 0)
        per_draw = float(np.mean(gradients))
        note = f"{per_draw:.1f} steps, {layout} devices x {NUM_CHAINS // layout} chains"
        yield Run(np.asarray(from_free(z)), seconds, warmup, int(np.sum(gradients)), note, compiling)


numpyro_nuts = partial(run, numpyro_programs)
blackjax_nuts = partial(run, blackjax_programs)
