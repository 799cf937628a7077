"""What `orthodrome compare-teams fit` can be asked to do. The fields are the options."""

from __future__ import annotations

import dataclasses

from orthodrome.errors import BadInput
from orthodrome.jobs.options import check_numbers, option
from orthodrome.jobs.sampled.job import RunSettings


@dataclasses.dataclass(frozen=True)
class TeamsJob(RunSettings):
    """The settings of a fit. Each field says what it is in its `help`."""

    winners: str = option("winners", "The column that holds who won: a name, or the names of a team.")
    losers: str = option("losers", "The column that holds who lost.")
    count: str | None = option(None, "The column that holds how often (else 'count' if there is one, or once).")
    separator: str = option(
        " ", "What separates the names in a team; 'none': a cell is one name, spaces and all.", shown="a space"
    )
    concentration: float = option(1.0, "Of the Dirichlet prior: a higher one expects players that are more alike.")
    space: str = option("auto", "The coordinates of the strengths.", choices=("auto", "sphere", "flat", "log-ratio"))
    method: str = option("hmc", "The sampler, tuned in the warm-up.", choices=("hmc", "nuts", "random-walk"))


def check_job(job: TeamsJob) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    check_numbers(job)
    if job.concentration <= 0:
        raise BadInput(f"--concentration is {job.concentration:g}; it must be above 0")
    if not job.separator:
        raise BadInput("--separator is empty; give the character between two names, or 'none' if a cell is one name")
