"""A run over processes that takes some seconds and commits often: `python hosts_kill_case.py CHECKPOINT RESULT`."""

from __future__ import annotations

import sys
from typing import Any

import orthodrome

HOSTS = orthodrome.use_hosts()

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


def logdensity(x: Any) -> Any:
    return 3 * x[0]


if __name__ == "__main__":
    print(f"alive {HOSTS.process}", flush=True)
    sampler = orthodrome.GeodesicHMC(orthodrome.Target(orthodrome.Sphere(), logdensity))
    start = jnp.array([0.0, 0.0, 1.0])
    settings: dict[str, Any] = {"seed": 0, "num_chains": 4, "num_warmup": 300, "num_draws": 40_000, "thin": 10}
    tree = orthodrome.sample(
        sampler, start, **settings, checkpoint=sys.argv[1], checkpoint_every=0.01, progress=False, check=False
    )
    if HOSTS.first:
        np.save(sys.argv[2], np.asarray(tree["posterior"]["x"]))
