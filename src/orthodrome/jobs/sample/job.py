"""What `orthodrome sample` can be asked to do. The fields are the options."""

from __future__ import annotations

import dataclasses

from orthodrome.errors import BadInput
from orthodrome.jobs.options import check_numbers, option

SAMPLERS = (
    *("GeodesicNUTS", "GeodesicHMC", "GeodesicWALNUTS", "RandomWalk", "RiemannianHMC", "RiemannianLangevin"),
    *("ColumnGibbs", "ColumnPairs"),
    *("SGGMC", "GSGNHT", "SGLD", "SGFS", "SGHMC", "SGNHT", "SGRLD", "SGRHMC", "SCIR", "SOU", "SWF", "SimplexLangevin"),
)
"""The samplers by name; holders of samplers are `--tempering`, or made in the file."""
GRADIENTS = ("full", "minibatch", "control-variate", "svrg")


@dataclasses.dataclass(frozen=True)
class SampleJob:
    """The settings of a run. Each field says what it is in its `help`."""

    sampler: str | None = option(
        None, "The sampler (else the file's own `sampler`, or GeodesicNUTS).", choices=SAMPLERS
    )
    set: str = option(
        "", "The sampler's own options, such as 'step_size=0.1, max_depth=8'; a value may be a name in the file."
    )
    gradient: str | None = option(
        None, "The gradient (else the file's own `gradient`; minibatch with --batch-size; full).", choices=GRADIENTS
    )
    batch_size: int | None = option(None, "Rows of a minibatch, of a `posterior`.", least=1)
    tempering: int | None = option(None, "Replicas of parallel tempering, against several modes.", least=2, most=1000)
    num_chains: int = option(4, "Chains, which must agree.", least=1, most=100_000)
    num_warmup: int = option(1000, "Transitions of each chain before its first draw; they tune the sampler.", least=0)
    num_draws: int = option(1000, "Draws of each chain.", least=1)
    thin: int = option(1, "Transitions for each draw.", least=1)
    keep_warmup: bool = option(False, "Keep the draws of the warm-up too.")
    stop_ess: float | None = option(None, "Stop as soon as every variable has so many effective draws.", least=1)
    stop_rhat: float | None = option(None, "and R-hat is at most this.", least=1)
    dtype: str = option("float32", "The precision.", choices=("float32", "float64"))
    seed: int = option(0, "The seed of all randomness.", names=("--seed", "--random-seed"))
    checkpoint_every: float = option(5.0, "Seconds between two commits of the state.", least=0)
    path: str = ""
    """The file, absolute."""


def check_job(job: SampleJob) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    check_numbers(job)
    if job.batch_size is None and job.gradient in ("minibatch", "control-variate", "svrg"):
        raise BadInput(f"--gradient {job.gradient} needs --batch-size")
    if job.batch_size is not None and job.gradient == "full":
        raise BadInput("--gradient full looks at all rows: leave --batch-size out, or use --gradient minibatch")
    if job.stop_rhat is not None and job.stop_ess is None:
        raise BadInput("--stop-rhat goes with --stop-ess: give both")
