"""The main job: read a corpus, draw topics, write and show what was found. A kill at any moment loses little.

First the documents and the settings are saved, then the run commits its state as it goes (`state/`); the rest is a
function of the draws. So `resume` does what `fit` does, from the first step that is not done, and ends in the same
numbers.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from orthodrome.errors import BadInput
from orthodrome.jobs.topics import show as screen
from orthodrome.jobs.topics.inputs import TopicCorpus, load_documents, read_documents, save_documents
from orthodrome.jobs.topics.job import Job, load_job, make_folder, refuse_occupied, save_job
from orthodrome.jobs.topics.model import learn
from orthodrome.jobs.topics.outputs import write_figures, write_tables
from orthodrome.jobs.topics.result import Result, load_result, save_result

if TYPE_CHECKING:
    from rich.console import Console


def fit(job: Job, folder: Path, console: Console, progress: bool = True) -> Result:
    """A new fit in a new folder."""
    refuse_occupied(folder)
    documents = read_documents(job)
    make_folder(folder)
    save_documents(documents, folder)
    save_job(job, folder)
    training, words = int(documents.training.sum()), documents.vectors.shape[1]
    console.print(
        f"{training:,} documents to learn from, {len(documents.names) - training:,} held out, {words:,} words; "
        f"{job.num_topics} topics by {job.method}"
    )
    console.print(f"if this is stopped, go on with: orthodrome topics resume {folder}", style="dim")
    return finish(job, documents, folder, console, progress)


def resume(folder: Path, console: Console, progress: bool = True) -> Result:
    """The rest of a fit."""
    return finish(load_job(folder), load_documents(folder), folder, console, progress)


def finish(job: Job, documents: TopicCorpus, folder: Path, console: Console, progress: bool) -> Result:
    """Draw what is not drawn yet; write and show."""
    result = learn(job, documents, folder / "state", progress)
    write_tables(result, documents, folder, job.num_top_words)
    figures = write_figures(result, documents, folder / "figures", job.seed)
    save_result(result, folder)  # last: a folder with a result is finished
    screen.show_topics(result, documents.vocabulary, job.num_top_words, console)
    screen.show_numbers(result, console)
    screen.show_places(folder, figures, console)
    return result


def show(folder: Path, console: Console, num_words: int, word: str | None) -> None:
    """A finished fit, or one word of it."""
    load_job(folder)
    result, documents = load_result(folder), load_documents(folder)
    if word is not None:
        return screen.show_word(result, documents.vocabulary, word, console)
    screen.show_topics(result, documents.vocabulary, num_words, console)
    screen.show_numbers(result, console)


def copy_out(folder: Path, wanted: Mapping[str, Path | None]) -> None:
    """Copies of files of the folder, where they were asked for."""
    for name, path in wanted.items():
        if path is not None:
            try:
                shutil.copyfile(folder / name, path)
            except OSError as error:
                raise BadInput(f"cannot write {path}: {error.strerror}; {folder / name} has the same") from error
