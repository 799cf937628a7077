"""What `orthodrome cluster fit` can be asked to do, and whether that is possible. The fields are the options."""

from __future__ import annotations

import dataclasses

from orthodrome.errors import BadInput
from orthodrome.jobs.options import check_numbers, check_owners, option

METHODS = {
    "gaussian": ("gibbs", "sghmc", "sgld"),
    "multinomial": ("gibbs", "scir", "sgrld"),
    "categorical": ("gibbs", "scir", "sgrld"),
    "vmf": ("gibbs", "gsgnht", "sggmc"),
}
"""The methods of each family, the exact one first; the others go by minibatches."""


@dataclasses.dataclass(frozen=True)
class ClusterJob:
    """The settings of a fit; None leaves the choice to the model. Each field says what it is in its `help`."""

    family: str = option(
        "gaussian",
        "gaussian: real numbers; multinomial: counts; categorical: a category in every column; vmf: unit vectors.",
        choices=tuple(METHODS),
    )
    columns: str | None = option(None, "Columns of a CSV file to use, separated by commas (else all of them).")
    name_column: str | None = option(None, "The column of a CSV file that holds the names of the rows.")
    column_names: str | None = option(None, "A file with the names of the columns of .npy or .npz, one per line.")
    encoding: str = option("utf-8", "Of a CSV file.")
    normalize: bool = option(False, "Divide every row by its length.", only="vmf", of="family")
    held_out: float = option(0.0, "Share of the rows kept to measure the predictive density.", least=0, most=0.9)
    method: str = option(
        "gibbs",
        "gibbs is exact; by minibatches sghmc, sgld (gaussian), scir, sgrld (multinomial, categorical), gsgnht, sggmc "
        "(vmf).",
        choices=tuple(dict.fromkeys(word for words in METHODS.values() for word in words)),
    )
    concentration: float | None = option(None, "alpha: a higher one expects more clusters (else learnt).")
    category_prior: float = option(0.5, "a of Dirichlet(a) (multinomial, categorical).")
    num_clusters_init: int | None = option(
        None, "Clusters of the start, rows divided at random (else 1 for gibbs, 20 by minibatches).", least=1
    )
    max_components: int | None = option(None, "The largest number of clusters that a draw can hold.", least=1)
    batch_size: int | None = option(None, "Rows per step (gibbs: else all; minibatches: else 1000).", least=1)
    step_size: float | None = option(None, "h of the parameters, for minibatches.")
    num_warmup: int | None = option(None, "Steps before the first draw (else 100; minibatches: 1000).", least=0)
    num_draws: int | None = option(None, "Draws of each chain (else 50; intervals need some 300).", least=1)
    thin: int | None = option(None, "Steps for each draw (else 1; minibatches: 10).", least=1)
    num_chains: int = option(2, "Chains: if they disagree on the number of clusters, the verdict says so.", least=1)
    num_threads: int | None = option(None, "Threads (else what is faster: one or all).", least=1)
    num_top: int = option(8, "Entries shown of each cluster's profile.", least=1)
    seed: int = option(0, "The seed of all randomness.", names=("--random-seed", "--seed"))
    checkpoint_every: float = option(5.0, "Seconds between two commits of the state.", least=0)


def check_job(job: ClusterJob) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    check_numbers(job)
    check_owners(job)
    if job.method not in METHODS[job.family]:
        own = ", ".join(METHODS[job.family])
        raise BadInput(f"--family {job.family} has no method {job.method!r}; it has {own}")
    if job.method == "gibbs" and job.step_size is not None:
        raise BadInput("--method gibbs has no step: leave --step-size out, or use a method by minibatches")
