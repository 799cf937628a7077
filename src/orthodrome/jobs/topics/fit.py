"""The main job: read a corpus, draw topics, write and show what was found (see `jobs.fitting`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orthodrome.errors import BadInput
from orthodrome.jobs import fitting
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.told import Told, settings_of
from orthodrome.jobs.topics import show as screen
from orthodrome.jobs.topics.documents import TopicCorpus, load_documents, read_documents, save_documents
from orthodrome.jobs.topics.folder import FITS
from orthodrome.jobs.topics.job import Job, check_job, with_absolute_copies
from orthodrome.jobs.topics.model import KINDS, learn
from orthodrome.jobs.topics.outputs import write_figures, write_tables
from orthodrome.jobs.topics.result import Result, load_result, save_result

if TYPE_CHECKING:
    from rich.console import Console


class TopicFitting(fitting.Fitting[Job, TopicCorpus, Result]):
    """Topics of documents."""

    @property
    def fits(self) -> FitFolder[Job]:
        return FITS

    def check(self, job: Job) -> None:
        check_job(job)
        KINDS[job.model].check(job)

    def save(self, data: TopicCorpus, folder: Path) -> None:
        save_documents(data, folder)

    def load(self, folder: Path) -> TopicCorpus:
        return load_documents(folder)

    def announcement(self, job: Job, data: TopicCorpus) -> str:
        training, words = int(data.training.sum()), data.rows.shape[1]
        return (
            f"{training:,} documents to learn from, {len(data.names) - training:,} held out, {words:,} words; "
            f"{job.num_topics} topics of {job.model.upper()} by {job.inference}"
        )

    def learn(self, job: Job, data: TopicCorpus, folder: Path, progress: bool) -> Result:
        return learn(job, data, folder / "state", progress)

    def write(self, job: Job, data: TopicCorpus, found: Result, folder: Path) -> list[Path]:
        write_tables(found, data, folder, job.num_top_words)
        figures = write_figures(found, data, folder / "figures", job.seed)
        save_result(found, folder)
        return figures

    def found(self, job: Job, data: TopicCorpus, folder: Path) -> Result:
        return load_result(folder, job.model)

    def told(self, job: Job, data: TopicCorpus, found: Result, folder: Path) -> Told:
        from orthodrome.report.pictures.topics import TopicTables, topics

        tables = TopicTables(
            *(found.mean, found.spread, found.corpus, found.proportions, found.proportions_sd),
            *(data.vocabulary, data.names, data.rows, found.quantity, found.tells_absence),
        )
        title = f"{job.num_topics} topics of {Path(job.input).name} by {job.model.upper()}"
        return Told(folder / "state", title, settings_of(job, found.numbers), (topics(tables, job.seed),))

    def show(self, job: Job, data: TopicCorpus, found: Result, console: Console) -> None:
        screen.show_topics(found, data.vocabulary, job.num_top_words, console)
        screen.show_numbers(found, console)

    def show_places(self, folder: Path, figures: list[Path], console: Console) -> None:
        screen.show_places(folder, figures, console)


KIND = TopicFitting()


def fit(job: Job, folder: Path, console: Console, progress: bool = True, owner: str = "") -> Result:
    """Fit in a new folder."""
    job = with_absolute_copies(job)
    read = lambda: read_documents(job, KINDS[job.model])
    return with_copies(job, folder, fitting.fit(KIND, job, read, folder, console, progress, owner))


def resume(folder: Path, console: Console, progress: bool = True) -> Result:
    """Resume a fit and finish it."""
    result = fitting.resume(KIND, folder, console, progress)
    return with_copies(FITS.load_job(folder), folder, result)


def with_copies(job: Job, folder: Path, result: Result) -> Result:
    """Copy the tables to where the job asks for them, and return the result; of several processes the first does it."""
    from orthodrome.run.parallel import this_process

    if not this_process().first:
        return result
    copy_out(folder, {"topic-keys.txt": job.output_topic_keys, "doc-topics.txt": job.output_doc_topics})
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
            with open(path, "xb") as file, removed_if_cut_off(Path(path)):
                file.write(content)
                file.flush()
        except OSError as error:
            raise BadInput(f"cannot write {path}: {error.strerror}; {folder / name} has the same") from error


@contextlib.contextmanager
def removed_if_cut_off(path: Path) -> Iterator[None]:
    """Remove a new file that could not be written to its end."""
    try:
        yield
    except OSError:
        path.unlink(missing_ok=True)
        raise
