"""The main job: read a corpus, draw topics, write and show what was found. A kill at any moment loses little.

First the documents and the settings are saved, then the run commits its state as it goes (`state/`); the rest is a
function of the draws. So `resume` does what `fit` does, from the first step that is not done, and ends in the same
numbers.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from orthodrome.core.display import shown
from orthodrome.errors import BadInput
from orthodrome.jobs.report import report
from orthodrome.jobs.topics import show as screen
from orthodrome.jobs.topics.documents import TopicCorpus, load_documents, read_documents, save_documents
from orthodrome.jobs.topics.folder import FITS
from orthodrome.jobs.topics.job import Job, check_job, with_absolute_copies
from orthodrome.jobs.topics.model import KINDS, learn
from orthodrome.jobs.topics.outputs import write_figures, write_tables
from orthodrome.jobs.topics.result import Result, load_result, save_result

if TYPE_CHECKING:
    from rich.console import Console


def fit(job: Job, folder: Path, console: Console, progress: bool = True, owner: str = "") -> Result:
    """Fit in a new folder."""
    job = with_absolute_copies(job)
    check_job(job)
    KINDS[job.model].check(job)
    FITS.refuse_occupied(folder)
    documents = read_documents(job, KINDS[job.model])
    with contextlib.ExitStack() as locks:
        FITS.begin(folder, locks, owner)
        with FITS.writing(folder):
            save_documents(documents, folder)
            FITS.save_job(job, folder)
            FITS.seal_inputs(folder)
        announce(job, documents, folder, console)
        return finish(job, documents, folder, console, progress)


def announce(job: Job, documents: TopicCorpus, folder: Path, console: Console) -> None:
    """Print what is fitted, and how to resume it."""
    training, words = int(documents.training.sum()), documents.rows.shape[1]
    console.print(
        f"{training:,} documents to learn from, {len(documents.names) - training:,} held out, {words:,} words; "
        f"{job.num_topics} topics of {job.model.upper()} by {job.inference}"
    )
    console.print(f"if this is stopped, go on with: orthodrome topics resume {shown(str(folder))}", style="dim")


def resume(folder: Path, console: Console, progress: bool = True) -> Result:
    """Resume a fit and finish it."""
    FITS.require(folder)
    with contextlib.ExitStack() as locks:
        FITS.go_on(folder, locks)
        return finish(FITS.load_job(folder), load_documents(folder), folder, console, progress)


def finish(job: Job, documents: TopicCorpus, folder: Path, console: Console, progress: bool) -> Result:
    """Draw what is not drawn yet; write and show the results."""
    result = learn(job, documents, folder / "state", progress)
    with FITS.writing(folder):
        FITS.reopen(folder)
        write_tables(result, documents, folder, job.num_top_words)
        figures = write_figures(result, documents, folder / "figures", job.seed)
        save_result(result, folder)
        FITS.seal_results(folder)  # last: a folder with a result is finished
    page = report(folder)
    copy_out(folder, {"topic-keys.txt": job.output_topic_keys, "doc-topics.txt": job.output_doc_topics})
    screen.show_topics(result, documents.vocabulary, job.num_top_words, console)
    screen.show_numbers(result, console)
    screen.show_places(folder, figures, console)
    console.print(f"report, to be opened in a browser: {shown(str(page))}", soft_wrap=True)
    return result


def show(folder: Path, console: Console, num_words: int, word: str | None) -> None:
    """Print the topics of a finished fit, or where one word stands in them."""
    FITS.require(folder)
    FITS.verify(folder)
    result, documents = load_result(folder, FITS.load_job(folder).model), load_documents(folder)
    if word is not None:
        return screen.show_word(result, documents.vocabulary, word, console)
    screen.show_topics(result, documents.vocabulary, num_words, console)
    screen.show_numbers(result, console)


def copy_out(folder: Path, wanted: dict[str, str | None]) -> None:
    """Copy files of the folder to where they were asked for; an existing file with other content is left alone."""
    for name, path in wanted.items():
        content = (folder / name).read_bytes()
        if path is None or (Path(path).is_file() and Path(path).read_bytes() == content):
            continue
        try:
            with open(path, "xb") as file:
                file.write(content)
        except OSError as error:
            raise BadInput(f"cannot write {path}: {error.strerror}; {folder / name} has the same") from error
