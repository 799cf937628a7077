"""`topics fit | resume | show | compare`: topics of a corpus. Options that mean the same as MALLET's have its names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orthodrome.cli.options import takes
from orthodrome.cli.places import check_places
from orthodrome.cli.terminal import console, join_processes, let_threads_sleep, refuse_processes
from orthodrome.jobs.topics.job import BUILT_IN, Job

app = typer.Typer(
    help="Topics (SAM or LDA): fit them to a corpus, go on after a kill, look at them.",
    no_args_is_help=True,
    epilog="Example:\n\northodrome topics fit --input texts.csv --text-column body --output fit",
)

Folder = Annotated[Path, typer.Argument(help="The folder of a fit.", metavar="FOLDER")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


@app.command(epilog="Example:\n\northodrome topics fit --input texts.csv --text-column body --output fit")
@takes(Job)
def fit(
    output: Annotated[Path, typer.Option(help="The folder to write to; it must be new or empty.")],
    quiet: Quiet = False,
    job: Job = Job(),
) -> None:
    """Fit a topic model to a corpus: draws, state, topic keys, document topics and figures in OUTPUT."""
    check_places(None if job.input == BUILT_IN else Path(job.input), output)
    let_threads_sleep()
    join_processes()
    from orthodrome.jobs.topics import fit as topics

    topics.fit(job, output, console(), progress=not quiet)


@app.command(epilog="Example:\n\northodrome topics resume fit")
def resume(folder: Folder, quiet: Quiet = False) -> None:
    """Resume a fit that was stopped or killed; it ends with the same numbers as an uninterrupted one."""
    let_threads_sleep()
    join_processes()
    from orthodrome.jobs.topics import fit as topics

    topics.resume(folder, console(), progress=not quiet)


@app.command(epilog="Example:\n\northodrome topics show fit --word rose")
def show(
    folder: Folder,
    num_top_words: Annotated[int, typer.Option(min=1, help="Words shown of each topic.")] = 10,
    word: Annotated[str | None, typer.Option(help="Show where this word stands in each topic.")] = None,
) -> None:
    """Show the topics of a finished fit, or where one word stands in them."""
    from orthodrome.jobs.topics import fit as topics

    topics.show(folder, console(), num_top_words, word)


@app.command(epilog="Example:\n\northodrome topics compare fit-sam fit-lda --output comparison")
def compare(
    first: Annotated[Path, typer.Argument(help="The folder of a finished fit.", metavar="FIRST")],
    second: Annotated[Path, typer.Argument(help="The folder of another one.", metavar="SECOND")],
    num_top_words: Annotated[int, typer.Option(min=1, help="Words shown of each topic.")] = 8,
    output: Annotated[Path | None, typer.Option(help="A new folder for the table.")] = None,
) -> None:
    """Compare two fits, such as SAM and LDA of the same texts: which topics are the same, and how coherent are they?"""
    refuse_processes("topics compare")
    from orthodrome.jobs.topics.compare import compare as side_by_side

    side_by_side(first, second, console(), num_top_words, output)
