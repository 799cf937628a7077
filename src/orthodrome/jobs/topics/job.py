"""What `orthodrome topics fit` can be asked to do, and whether that is possible.

The fields are the options of the command. SAM and LDA share most of them; a field with `only` belongs to one model.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from orthodrome.errors import BadInput
from orthodrome.jobs.options import check_numbers, check_owners, flag, option

BUILT_IN = "docstrings"
"""The name of the built-in corpus."""
METHODS = {
    "sam": ("gsgnht", "sggmc", "gmc-apprmh", "gmc-bgibbs", "vi", "stovi"),
    "lda": ("gibbs", "collapsed", "scir", "sgrld", "sgrhmc", "sgld", "sghmc"),
}
"""The methods of each model, its default first."""
FORMATS = ("npz", "ldac", "docword", "csv", "text")
FROM_DATA = "(else chosen from the documents)"


@dataclasses.dataclass(frozen=True)
class Job:
    """The settings of a fit; None leaves the choice to the model. Each field says what it is in its `help`."""

    model: str = option(
        "sam", "sam: unit vectors, topics also say which words are absent; lda: counts.", choices=("sam", "lda")
    )
    input: str = option(BUILT_IN, f"A file or folder; '{BUILT_IN}' is the built-in corpus, Python's own documentation.")
    format: str | None = option(None, "What the input is (else guessed from its name).", choices=FORMATS)
    vocabulary: str | None = option(None, "One word per line (else vocab.txt beside the input).")
    encoding: str = option("utf-8", "Of texts.")
    text_column: str | None = option(None, "The column of a CSV file that holds the texts.")
    min_df: float = option(5, "Least document frequency: a share below 1, else a number.", least=0)
    max_df: float = option(0.15, "Greatest document frequency, likewise.", least=0)
    max_words: int | None = option(None, "Keep so many of the most frequent words left.", least=3)
    min_words: int = option(5, "Leave out documents with fewer words.", least=1)
    normalize: bool = option(False, "Make rows that are not counts unit vectors.", only="sam")
    held_out: float = option(0.1, "Share kept for the perplexity.", least=0, most=0.9)
    num_topics: int = option(20, "The number of topics.", least=1, most=100_000)
    num_iterations: int | None = option(
        None, "Draws of the topics; the first 60 % only tune (else 2000; lda: chosen from the documents).", least=1
    )
    num_draws: int | None = option(None, "Keep at most so many, evenly spaced (else 50; lda: 20).", least=1)
    num_threads: int | None = option(None, "Threads (else what is faster: one or all).", least=1)
    method: str | None = option(
        None,
        f"How the topics are inferred. sam: {', '.join(METHODS['sam'])}; lda: {', '.join(METHODS['lda'])}.",
        choices=tuple(dict.fromkeys(METHODS["sam"] + METHODS["lda"])),
    )
    batch_size: int | None = option(None, f"Documents per step {FROM_DATA}.", least=1)
    sweeps: int | None = option(None, "Gibbs sweeps over a minibatch (else 10).", least=1, most=100_000, only="lda")
    corpus_concentration: float | None = option(None, f"kappa0 {FROM_DATA}.", only="sam")
    topic_concentration: float | None = option(None, f"sigma {FROM_DATA}.", only="sam")
    document_concentration: float | None = option(None, f"kappa1 {FROM_DATA}.", only="sam")
    doc_topic_prior: float | None = option(None, "alpha of each topic (else 1; lda: 0.1, or 1/K if that is more).")
    alpha: float | None = option(None, "The same as MALLET has it: the sum over topics.")
    learn_prior: bool = option(False, "Learn alpha, one for each topic, in the warm-up.", only="lda")
    topic_word_prior: float | None = option(
        None, "beta of each word (else 0.1).", names=("--topic-word-prior", "--beta"), only="lda"
    )
    num_top_words: int = option(10, "Words shown of each topic.", least=1)
    output_topic_keys: str | None = option(None, "Also write the topic keys here.")
    output_doc_topics: str | None = option(None, "Also write the documents' topics here.")
    seed: int = option(0, "The seed of all randomness.", names=("--random-seed", "--seed"))
    checkpoint_every: float = option(5.0, "Seconds between two commits of the state.", least=0)

    @property
    def inference(self) -> str:
        """The method, or the default of the model."""
        return METHODS[self.model][0] if self.method is None else self.method

    @property
    def prior(self) -> float | None:
        """alpha of each topic, however it was given."""
        return self.doc_topic_prior if self.alpha is None else self.alpha / self.num_topics


def check_job(job: Job) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    check_numbers(job)
    check_combination(job)
    check_copies(job)


def check_combination(job: Job) -> None:
    """Raise if a setting or a method belongs to the other model, or one thing is said twice."""
    check_owners(job)
    if job.inference not in METHODS[job.model]:
        raise BadInput(f"--model {job.model} has no method {job.method!r}; it has {', '.join(METHODS[job.model])}")
    if job.inference == "gibbs" and (job.batch_size is not None or job.sweeps is not None):
        name = "batch_size" if job.batch_size is not None else "sweeps"
        raise BadInput(f"--method gibbs sweeps all documents once in every draw: leave {flag(name)} out, or use scir")
    if job.alpha is not None and job.alpha <= 0:
        raise BadInput(f"--alpha is {job.alpha:g}; it must be above 0")
    if job.alpha is not None and job.doc_topic_prior is not None:
        raise BadInput("--alpha is --doc-topic-prior times the number of topics: give one of them")


def check_copies(job: Job) -> None:
    """Raise if a copy of a table cannot be written where it is asked for."""
    if job.output_topic_keys is not None and job.output_topic_keys == job.output_doc_topics:
        raise BadInput(f"--output-topic-keys and --output-doc-topics are both {job.output_doc_topics}")
    for path in (job.output_topic_keys, job.output_doc_topics):
        if path is not None and Path(path).exists():
            raise BadInput(f"{path} exists already, and is not overwritten; choose another path, or remove it")
        if path is not None and not Path(path).parent.is_dir():
            raise BadInput(f"cannot write {path}: there is no folder {Path(path).parent}")


def with_absolute_copies(job: Job) -> Job:
    """Return the job with the absolute paths of the copies, for a `resume` that is called from another folder."""
    absolute = lambda path: None if path is None else str(Path(path).absolute())
    keys, documents = absolute(job.output_topic_keys), absolute(job.output_doc_topics)
    return dataclasses.replace(job, output_topic_keys=keys, output_doc_topics=documents)
