"""The settings that every model fitted by `sample` has: of its table and of its run."""

from __future__ import annotations

import dataclasses

from orthodrome.jobs.options import option


@dataclasses.dataclass(frozen=True)
class RunSettings:
    """The run of a fit."""

    encoding: str = option("utf-8", "Of the CSV file.")
    num_chains: int = option(4, "Chains, which must agree.", least=1, most=10_000)
    num_warmup: int = option(1000, "Transitions of each chain before its first draw; they tune the sampler.", least=1)
    num_draws: int = option(1000, "Draws of each chain.", least=4)
    dtype: str = option("float32", "The precision.", choices=("float32", "float64"))
    seed: int = option(0, "The seed of all randomness.", names=("--seed", "--random-seed"))
    checkpoint_every: float = option(5.0, "Seconds between two commits of the state.", least=0)
