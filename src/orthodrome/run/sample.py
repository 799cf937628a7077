"""`sample`: from a sampler and a start to draws.

The run is a warm-up (discarded unless kept; `Adapted` tunes in it) and the draws, both carried forward in chunks of about half a
second; everything that is not sampling happens between chunks.
"""

from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np

from orthodrome import draws, parallel
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.run.engine import new_engine, new_key
from orthodrome.run.start import bytes_per_draw, first_states, stack_chains


def sample(sampler: Any, start: Any, *, seed: int, num_chains: int = 4, num_warmup: int = 1000, num_draws: int = 1000, thin: int = 1,
           keep_warmup: bool = False, progress: bool = True, mesh: Any = None) -> Any:
    """Draw."""
    try:
        from orthodrome.samplers.adapted import Adapted, needs_tuning
    except ImportError:
        needs_tuning = lambda s: False
    key = new_key(np.uint32(seed))
    mesh = parallel.chain_mesh(num_chains, mesh)
    positions = stack_chains([start] * num_chains)
    engine = new_engine(sampler, key, num_chains, mesh, bytes_per_draw(positions))
    if needs_tuning(sampler):
        pool = ("chains",) if mesh is None else ("chains", "devices")
        sampler = Adapted(sampler, num_warmup, pool=pool)
        tuning = True
    else:
        tuning = False
    _, state, look = first_states(sampler, None, key, np.arange(num_chains, dtype=np.uint32), positions, random=False)
    sampler = parallel.place_copies(sampler, mesh)
    state = engine.place(state)
    t = 0
    n = 0
    groups = {}
    while n < num_warmup:
        c = min(engine.length, num_warmup - n)
        state, kept = engine.advance(sampler, state, t, c, 1)
        n += c; t += c
    if tuning:
        sampler, state = parallel.place_copies(sampler.freeze(state), mesh), state.inner
    blocks = []
    n = 0
    while n < num_draws:
        c = min(engine.length, num_draws - n)
        state, kept = engine.advance(sampler, state, t, c, thin)
        blocks.append(jax.tree.map(np.array, kept))
        n += c; t += c * thin
    kept = jax.tree.map(lambda *b: np.concatenate(b, 1), *blocks)
    groups["posterior"] = draws.dataset(draws.named_leaves(kept.position))
    groups["sample_stats"] = draws.dataset({**draws.named_info(kept.info), "distance": kept.distance})
    return draws.datatree(groups, {"inference_library": "orthodrome", "sampler": type(sampler).__name__, "seed": seed})
