"""What `orthodrome topics fit` was asked to do, saved beside its results: `resume` needs nothing but the folder.

folder/job.json          the settings
folder/corpus.npz        the unit vectors; `training` says which rows the topics are learnt from
folder/vocabulary.txt    the word of each column
folder/documents.txt     the name of each row
folder/state/            the checkpoint of the run, and its draws
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from orthodrome.errors import BadInput, CheckpointError
from orthodrome.storage import files

BUILT_IN = "docstrings"


@dataclasses.dataclass(frozen=True)
class Job:
    """The settings of a fit; None leaves the choice to the model.

    input: a file or folder, or "docstrings" for the built-in corpus
    min_df, max_df: document-frequency cuts, a share if below 1, else a number of documents
    held_out: the share of documents that are kept for the log-perplexity
    """

    input: str = BUILT_IN
    format: str | None = None
    vocabulary: str | None = None
    encoding: str = "utf-8"
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


def each_topic(prior: float | None, total: float | None, num_topics: int) -> float | None:
    """The concentration of each topic's proportion, given so or as MALLET's --alpha, the sum over topics."""
    if total is None:
        return prior
    if prior is not None:
        raise BadInput("--alpha is --doc-topic-prior times the number of topics: give one of them")
    return total / num_topics


def save_job(job: Job, folder: Path) -> None:
    """Write the settings; after this the folder can be resumed."""
    files.write_json(folder / "job.json", dataclasses.asdict(job))


def load_job(folder: Path) -> Job:
    """The settings of a folder, or why it is none of ours."""
    path = folder / "job.json"
    if not path.is_file():
        raise BadInput(f"{folder} holds no fit: there is no {path}; make one with `orthodrome topics fit --output DIR`")
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        return Job(**content)
    except (ValueError, TypeError, OSError) as error:
        raise CheckpointError(f"{path} cannot be read ({error}): restore it, or fit again in a new folder") from error


def refuse_occupied(folder: Path) -> None:
    """A fit needs a new folder, or an empty one; said before anything is read."""
    if folder.is_dir() and any(folder.iterdir()):
        hint = "go on with `orthodrome topics resume`, or choose" if (folder / "job.json").exists() else "choose"
        raise BadInput(f"{folder} is not empty; {hint} another --output")


def make_folder(folder: Path) -> None:
    """The folder, made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write to {folder}: {error.strerror}; choose another --output") from error
