"""What `orthodrome topics fit` was asked to do, saved beside its results: `resume` needs nothing but the folder.

folder/job.json          the settings
folder/corpus.npz        the unit vectors; `training` says which rows the topics are learnt from
folder/vocabulary.txt    the word of each column
folder/documents.txt     the name of each row
folder/state/            the checkpoint of the run, and its draws
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

from orthodrome.errors import BadInput, CheckpointError
from orthodrome.storage import checksums, files

BUILT_IN = "docstrings"
"""The name of the built-in corpus."""


@dataclasses.dataclass(frozen=True)
class Job:
    """The settings of a fit; None leaves the choice to the model.

    input: a file or folder, or "docstrings" for the built-in corpus
    format, vocabulary, encoding, text_column: as in `read_corpus`
    min_df, max_df: the lowest and highest document frequency, a share if below 1, otherwise a number of documents
    max_words: the largest size of the vocabulary
    min_words: the least number of words of a document
    normalize: whether rows that are not counts are divided by their lengths
    held_out: the share of documents that are held out for the log-perplexity
    num_topics: the number of topics
    num_iterations: draws of the topics, the warm-up included
    num_draws: the largest number of draws that are kept
    num_threads: of the kernels; None: one or all cores, whichever is faster
    method, batch_size: as in `SAM`
    corpus_concentration, topic_concentration, document_concentration: kappa0, sigma and kappa1
    doc_topic_prior: alpha of each topic
    num_top_words: the words that are shown of a topic
    seed: of all random numbers
    checkpoint_every: seconds between commits
    output_topic_keys, output_doc_topics: where to copy these two tables to
    """

    input: str = BUILT_IN
    format: str | None = None
    vocabulary: str | None = None
    encoding: str = "utf-8"
    text_column: str | None = None
    min_df: float = 5
    max_df: float = 0.15
    max_words: int | None = None
    min_words: int = 5
    normalize: bool = False
    held_out: float = 0.1
    num_topics: int = 20
    num_iterations: int = 2000
    num_draws: int = 50
    num_threads: int | None = None
    method: str = "gsgnht"
    batch_size: int | None = None
    corpus_concentration: float | None = None
    topic_concentration: float | None = None
    document_concentration: float | None = None
    doc_topic_prior: float | None = None
    num_top_words: int = 10
    seed: int = 0
    checkpoint_every: float = 5.0
    output_topic_keys: str | None = None
    output_doc_topics: str | None = None


def check_job(job: Job) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    for field in dataclasses.fields(job):
        value = getattr(job, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{field.name} is {value}; it must be a finite number")
    if not 0 <= job.seed < 2**32:
        raise BadInput(f"the seed is {job.seed}; it must be from 0 to 4294967295")
    if job.output_topic_keys is not None and job.output_topic_keys == job.output_doc_topics:
        raise BadInput(f"--output-topic-keys and --output-doc-topics are both {job.output_doc_topics}")
    for path in (job.output_topic_keys, job.output_doc_topics):
        if path is not None and Path(path).exists():
            raise BadInput(f"{path} exists already, and is not overwritten; choose another path, or remove it")
        if path is not None and not Path(path).parent.is_dir():
            raise BadInput(f"cannot write {path}: there is no folder {Path(path).parent}")


def each_topic(prior: float | None, total: float | None, num_topics: int) -> float | None:
    """Return the concentration of each topic's proportion, given itself or as MALLET's --alpha, its sum over topics."""
    if total is None:
        return prior
    if prior is not None:
        raise BadInput("--alpha is --doc-topic-prior times the number of topics: give one of them")
    return total / num_topics


def save_job(job: Job, folder: Path) -> None:
    """Write the settings."""
    files.write_json(folder / "job.json", checksums.sealed(dataclasses.asdict(job)))


def load_job(folder: Path) -> Job:
    """Return the settings in a folder, or raise if there is no fit of this version in it."""
    path = folder / "job.json"
    if not path.is_file():
        raise BadInput(f"{folder} holds no fit: there is no {path}; make one with `orthodrome topics fit --output DIR`")
    content = checksums.read_sealed(path, "restore it, or fit again in a new folder")
    try:
        return Job(**content)
    except TypeError as error:
        raise CheckpointError(f"{path} is of another version ({error}): fit again in a new folder") from error
