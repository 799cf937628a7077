"""What `orthodrome network fit` can be asked to do. The fields are the options."""

from __future__ import annotations

import dataclasses

from orthodrome.errors import BadInput
from orthodrome.jobs.options import check_numbers, option
from orthodrome.jobs.sampled.job import RunSettings
from orthodrome.jobs.sampled.tempering import model_tempering, tempering_option


@dataclasses.dataclass(frozen=True)
class NetworkJob(RunSettings):
    """The settings of a fit. Each field says what it is in its `help`."""

    source: str | None = option(None, "The column that holds one end of an edge (else the first).")
    target: str | None = option(None, "The column that holds the other end (else the second).")
    nodes: str | None = option(None, "A file with the names of all nodes, one per line (else those with an edge).")
    num_nodes: int | None = option(None, "The nodes are the numbers from 0 to this one less 1.", least=2)
    missing: str | None = option(None, "A CSV file of pairs whose edge is not known, with the same columns.")
    held_out: float = option(0.0, "Share of the pairs kept back to measure how well edges are told.", least=0, most=0.5)
    rank: int = option(3, "The number of directions.", least=1)
    link: str = option("probit", "From the eigenmodel to a probability.", choices=("probit", "logit"))
    method: str = option("hmc", "hmc, or gibbs: Hoff's sampler (probit only).", choices=("hmc", "gibbs"))
    restarts: int = option(4, "Random starts that are tried beside those from the spectrum.", least=0, most=1000)
    tempering: str = tempering_option()
    num_steps: int | None = option(None, "Leapfrog steps of a trajectory (else 10 on average).", least=1, most=10_000)
    num_warmup: int = option(500, "Transitions of each chain before its first draw; they tune the sampler.", least=1)
    num_draws: int = option(500, "Draws of each chain.", least=4)


def check_job(job: NetworkJob) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    check_numbers(job)
    always = isinstance(model_tempering(job.tempering), int)
    if job.method == "gibbs" and (job.link != "probit" or always):
        raise BadInput("--method gibbs needs --link probit and has no tempering; use --method hmc")
    if job.nodes is not None and job.num_nodes is not None:
        raise BadInput("--nodes and --num-nodes both say which nodes there are: give one of them")
