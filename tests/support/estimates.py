"""Many estimates of one gradient, and how far their mean is from what it should be."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

NUM_KEYS = 20_000
THRESHOLD = 4.4
"""In standard errors; as in `truth`."""


@partial(jax.jit, static_argnames="count")
def estimates(estimator: Any, x: Any, before: Any, key: Array, count: int = NUM_KEYS) -> Any:
    memory = estimator.init(before)
    return jax.vmap(lambda i: estimator.estimate(jax.random.fold_in(key, i), x, memory)[0])(jnp.arange(count))


def z_scores(found: Any, exact: Any) -> np.ndarray:
    found = np.asarray(found, np.float64)
    return (found.mean(axis=0) - np.asarray(exact)) / (found.std(axis=0) / np.sqrt(len(found)) + 1e-6)
