"""A fit from its command to its folder, the same for every model: a kill at any moment loses little.

First the data and the settings are saved, then the run commits its state as it goes (`state/`); the rest is a function
of the draws. So `resume` does what `fit` does, from the first step that is not done, and ends in the same numbers. What
differs between models is a `Fitting`.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from orthodrome.core.display import shown
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.told import PAGE, Told, write_told

if TYPE_CHECKING:
    from rich.console import Console

Settings = TypeVar("Settings")
Data = TypeVar("Data")
Found = TypeVar("Found")


class Fitting(abc.ABC, Generic[Settings, Data, Found]):
    """What a command has to know of its model: `Settings` is the job, `Data` what is fitted, `Found` the result."""

    @property
    @abc.abstractmethod
    def fits(self) -> FitFolder[Settings]:
        """The folders of these fits."""

    @abc.abstractmethod
    def check(self, job: Settings) -> None:
        """Raise if a setting is invalid, before anything is read or written."""

    @abc.abstractmethod
    def save(self, data: Data, folder: Path) -> None:
        """Save the data, as the input may be gone when the fit is resumed."""

    @abc.abstractmethod
    def load(self, folder: Path) -> Data:
        """Load what `save` wrote."""

    @abc.abstractmethod
    def announcement(self, job: Settings, data: Data) -> str:
        """Return what is fitted, in one line."""

    @abc.abstractmethod
    def learn(self, job: Settings, data: Data, folder: Path, progress: bool) -> Found:
        """Draw what is not drawn yet, and say what was found."""

    @abc.abstractmethod
    def write(self, job: Settings, data: Data, found: Found, folder: Path) -> list[Path]:
        """Write tables, figures and the result; return the paths of the figures."""

    @abc.abstractmethod
    def told(self, job: Settings, data: Data, found: Found, folder: Path) -> Told:
        """Return what the report page shows."""

    def told_again(self, folder: Path) -> Told:
        """Return the same of a finished fit; what it found is loaded, or read from the draws again."""
        job, data = self.fits.load_job(folder), self.load(folder)
        return self.told(job, data, self.found(job, data, folder), folder)

    def found(self, job: Settings, data: Data, folder: Path) -> Found:
        """Return what a finished fit found: here by resuming it, which draws nothing."""
        return self.learn(job, data, folder, progress=False)

    @abc.abstractmethod
    def show(self, job: Settings, data: Data, found: Found, console: Console) -> None:
        """Print what was found."""

    @abc.abstractmethod
    def show_places(self, folder: Path, figures: list[Path], console: Console) -> None:
        """Print where the files are."""


def fit(
    kind: Fitting[Settings, Data, Found],
    job: Settings,
    read: Callable[[], Data],
    folder: Path,
    console: Console,
    progress: bool = True,
    owner: str = "",
) -> Found:
    """Fit what `read` returns in a new folder."""
    kind.check(job)
    kind.fits.refuse_occupied(folder)
    data = read()
    with contextlib.ExitStack() as locks:
        kind.fits.begin(folder, locks, owner)
        with kind.fits.writing(folder):
            kind.save(data, folder)
            kind.fits.save_job(job, folder)
            kind.fits.seal_inputs(folder)
        console.print(kind.announcement(job, data), soft_wrap=True)
        again = f"orthodrome {kind.fits.command} resume {shown(str(folder))}"
        console.print(f"if this is stopped, go on with: {again}", style="dim", soft_wrap=True)
        data = kind.load(folder)  # as `resume` will have them, and only once in memory
        with kind.fits.refused(folder):
            return finish(kind, job, data, folder, console, progress)


def resume(kind: Fitting[Settings, Data, Found], folder: Path, console: Console, progress: bool = True) -> Found:
    """Resume a fit and finish it."""
    kind.fits.require(folder)
    with contextlib.ExitStack() as locks:
        kind.fits.go_on(folder, locks)
        return finish(kind, kind.fits.load_job(folder), kind.load(folder), folder, console, progress)


def finish(
    kind: Fitting[Settings, Data, Found], job: Settings, data: Data, folder: Path, console: Console, progress: bool
) -> Found:
    """Draw what is not drawn yet; write and show the results."""
    found = kind.learn(job, data, folder, progress)
    with kind.fits.writing(folder):
        kind.fits.reopen(folder)
        figures = kind.write(job, data, found, folder)
        kind.fits.seal_results(folder)  # last: a folder with a result is finished
        page = write_told(kind.told(job, data, found, folder), folder / PAGE)
    kind.show(job, data, found, console)
    kind.show_places(folder, figures, console)
    console.print(f"report, to be opened in a browser: {shown(str(page))}", soft_wrap=True)
    return found
