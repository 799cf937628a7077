"""`cluster fit | resume | show`: clusters of rows, as many as the rows ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orthodrome.cli.options import takes
from orthodrome.cli.places import check_places
from orthodrome.cli.terminal import console, join_processes, let_threads_sleep
from orthodrome.jobs.cluster.job import ClusterJob

app = typer.Typer(
    help="Clusters of rows (Dirichlet-process mixtures): fit them, go on after a kill, look at them.",
    no_args_is_help=True,
    epilog="Example:\n\northodrome cluster fit --input rows.csv --columns height,width --output fit",
)

Folder = Annotated[Path, typer.Argument(help="The folder of a fit.", metavar="FOLDER")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


@app.command(epilog="Example:\n\northodrome cluster fit --input rows.csv --columns height,width --output fit")
@takes(ClusterJob)
def fit(
    input: Annotated[Path, typer.Option(help="The rows: .csv or .tsv (also .gz), .npy, or .npz (sparse counts).")],
    output: Annotated[Path, typer.Option(help="The folder to write to; it must be new or empty.")],
    quiet: Quiet = False,
    job: ClusterJob = ClusterJob(),
) -> None:
    """Cluster the rows of a file: draws, tables of clusters, profiles and labels, and figures in OUTPUT."""
    check_places(input, output)
    let_threads_sleep()
    join_processes()
    from orthodrome.jobs.cluster import fit as clusters

    clusters.fit(job, input, output, console(), progress=not quiet)


@app.command(epilog="Example:\n\northodrome cluster resume fit")
def resume(folder: Folder, quiet: Quiet = False) -> None:
    """Resume a fit that was stopped or killed; it ends with the same numbers as an uninterrupted one."""
    let_threads_sleep()
    join_processes()
    from orthodrome.jobs.cluster import fit as clusters

    clusters.resume(folder, console(), progress=not quiet)


@app.command(epilog="Example:\n\northodrome cluster show fit --cluster 2")
def show(
    folder: Folder,
    num_top: Annotated[int, typer.Option(min=1, help="Entries shown of each cluster's profile.")] = 8,
    cluster: Annotated[int | None, typer.Option(help="Show the whole profile of this cluster.")] = None,
) -> None:
    """Show the clusters of a finished fit, or the whole profile of one of them."""
    from orthodrome.jobs.cluster import fit as clusters

    clusters.show(folder, console(), num_top, cluster)
