"""The choice of a tuner: by the sampler's contract, if its facts say that there is anything to learn."""

from __future__ import annotations

from typing import cast

from orthodrome.errors import Unsupported
from orthodrome.samplers.contract import DiffusionSampler, ExactSampler, Sampler, StochasticSampler
from orthodrome.samplers.holders.tempering import Tempering
from orthodrome.tuning.adapted import Adapted
from orthodrome.tuning.diffusion_tuning import AdaptedDiffusion
from orthodrome.tuning.stochastic_tuning import StochasticAdapted
from orthodrome.tuning.tempering_tuning import AdaptedTempering
from orthodrome.tuning.tuner import Tuner


def needs_tuning(sampler: Sampler) -> bool:
    """Return whether `sample` must wrap this sampler in a tuner."""
    return bool(sampler.learns)


def tuner_for(sampler: Sampler, num_warmup: int, pool: tuple[str, ...]) -> Tuner:
    """Return the sampler wrapped in the tuner of its contract."""
    if sampler.learns & AdaptedTempering.finds:
        return AdaptedTempering(cast(Tempering, sampler), num_warmup, pool=pool)
    if isinstance(sampler, StochasticSampler):
        return StochasticAdapted(sampler, num_warmup, pool=pool)
    if isinstance(sampler, DiffusionSampler):
        return AdaptedDiffusion(sampler, num_warmup, pool=pool)
    if isinstance(sampler, ExactSampler):
        return Adapted(sampler, num_warmup, pool=pool)
    wanted = ", ".join(sorted(sampler.learns))
    raise Unsupported(f"nothing learns the {wanted} of {type(sampler).__name__}; set what it leaves open by hand")
