"""`orthodrome topics fit | resume | show`: SAM on a corpus, with MALLET's names for the options that mean the same."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from orthodrome.cli.terminal import console, let_threads_sleep

app = typer.Typer(
    help="Spherical topics (SAM): fit them to a corpus, go on after a kill, look at them.", no_args_is_help=True
)


class Method(enum.StrEnum):
    """The method of inference for the topics."""

    GSGNHT = "gsgnht"
    SGGMC = "sggmc"
    GMC_APPRMH = "gmc-apprmh"
    GMC_BGIBBS = "gmc-bgibbs"
    VI = "vi"
    STOVI = "stovi"


class Format(enum.StrEnum):
    """The format of the input."""

    NPZ = "npz"
    LDAC = "ldac"
    DOCWORD = "docword"
    CSV = "csv"
    TEXT = "text"


Folder = Annotated[Path, typer.Argument(help="The folder of a fit.", metavar="FOLDER")]
Words = Annotated[int, typer.Option("--num-top-words", min=1, help="Words shown of each topic.")]


@app.command()
def fit(
    output: Annotated[Path, typer.Option(help="The folder to write to; it must be new or empty.")],
    input: Annotated[
        str, typer.Option(help="A file or folder; 'docstrings' is the built-in corpus, Python's own documentation.")
    ] = "docstrings",
    format: Annotated[Format | None, typer.Option(help="What the input is (else guessed from its name).")] = None,
    vocabulary: Annotated[str | None, typer.Option(help="One word per line (else vocab.txt beside the input).")] = None,
    encoding: Annotated[str, typer.Option(help="Of texts.")] = "utf-8",
    text_column: Annotated[str | None, typer.Option(help="The column of a CSV file that holds the texts.")] = None,
    min_df: Annotated[float, typer.Option(min=0, help="Least document frequency: a share below 1, else a number.")] = 5,
    max_df: Annotated[float, typer.Option(min=0, help="Greatest document frequency, likewise.")] = 0.15,
    max_words: Annotated[int | None, typer.Option(min=3, help="Keep so many of the most frequent words left.")] = None,
    min_words: Annotated[int, typer.Option(min=1, help="Leave out documents with fewer words.")] = 5,
    normalize: Annotated[bool, typer.Option("--normalize", help="Make rows that are not counts unit vectors.")] = False,
    held_out: Annotated[float, typer.Option(min=0, max=0.9, help="Share kept for the log-perplexity.")] = 0.1,
    num_topics: Annotated[int, typer.Option(min=1)] = 20,
    num_iterations: Annotated[int, typer.Option(min=1, help="Draws of the topics; the first 60 % only tune.")] = 2000,
    num_draws: Annotated[int, typer.Option(min=1, help="Keep at most so many, evenly spaced.")] = 50,
    num_threads: Annotated[int | None, typer.Option(min=1, help="Threads (else what is faster: one or all).")] = None,
    method: Annotated[Method, typer.Option(help="How the topics are inferred.")] = Method.GSGNHT,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Documents per step (else chosen from the data).")
    ] = None,
    corpus_concentration: Annotated[float | None, typer.Option(help="kappa0 (else chosen from the data).")] = None,
    topic_concentration: Annotated[float | None, typer.Option(help="sigma (else chosen from the data).")] = None,
    document_concentration: Annotated[float | None, typer.Option(help="kappa1 (else chosen from the data).")] = None,
    doc_topic_prior: Annotated[float | None, typer.Option(help="alpha of each topic (else 1).")] = None,
    alpha: Annotated[float | None, typer.Option(help="The same as MALLET has it: the sum over topics.")] = None,
    num_top_words: Words = 10,
    output_topic_keys: Annotated[Path | None, typer.Option(help="Also write the topic keys here.")] = None,
    output_doc_topics: Annotated[Path | None, typer.Option(help="Also write the documents' topics here.")] = None,
    random_seed: Annotated[int, typer.Option("--random-seed", "--seed", help="The seed of all randomness.")] = 0,
    checkpoint_every: Annotated[float, typer.Option(min=0, help="Seconds between two commits of the state.")] = 5.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Fit SAM to a corpus: draws, state, topic keys, document topics and figures in OUTPUT."""
    let_threads_sleep()
    from orthodrome.jobs.topics import fit as topics
    from orthodrome.jobs.topics.job import Job, each_topic

    job = Job(
        input=input,
        format=None if format is None else format.value,
        vocabulary=vocabulary,
        encoding=encoding,
        text_column=text_column,
        min_df=min_df,
        max_df=max_df,
        max_words=max_words,
        min_words=min_words,
        normalize=normalize,
        held_out=held_out,
        num_topics=num_topics,
        num_iterations=num_iterations,
        num_draws=num_draws,
        num_threads=num_threads,
        method=method.value,
        batch_size=batch_size,
        corpus_concentration=corpus_concentration,
        topic_concentration=topic_concentration,
        document_concentration=document_concentration,
        doc_topic_prior=each_topic(doc_topic_prior, alpha, num_topics),
        num_top_words=num_top_words,
        seed=random_seed,
        checkpoint_every=checkpoint_every,
        output_topic_keys=absolute(output_topic_keys),
        output_doc_topics=absolute(output_doc_topics),
    )
    topics.fit(job, output, console(), progress=not quiet)


def absolute(path: Path | None) -> str | None:
    """Return the absolute path of an output file, for a `resume` that is called from another folder."""
    return None if path is None else str(path.absolute())


@app.command()
def resume(folder: Folder, quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False) -> None:
    """Resume a fit that was stopped or killed; it ends with the same numbers as an uninterrupted one."""
    let_threads_sleep()
    from orthodrome.jobs.topics import fit as topics

    topics.resume(folder, console(), progress=not quiet)


@app.command()
def show(
    folder: Folder,
    num_top_words: Words = 10,
    word: Annotated[str | None, typer.Option(help="Show where this word stands in each topic.")] = None,
) -> None:
    """Show the topics of a finished fit, or where one word stands in them."""
    from orthodrome.jobs.topics import fit as topics

    topics.show(folder, console(), num_top_words, word)
