"""A fit from its command to its folder, the same for every model: a kill at any moment loses little.

First the data and the settings are saved, then the run commits its state as it goes (`state/`); the rest is a function
of the draws. So `resume` does what `fit` does, from the first step that is not done, and ends in the same numbers. What
differs between models is a `Fitting`.

Of several processes (`use_hosts`) all draw, and the first alone reads the input and writes what was found: the folder
is one that all of them see.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from orthodrome.core.display import shown
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.told import PAGE, Told, write_told

if TYPE_CHECKING:
    from rich.console import Console

    from orthodrome.run.parallel import Team

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
    from orthodrome.run.parallel import Team

    team = Team()
    with contextlib.ExitStack() as locks:
        with team.sharing_failures():
            kind.check(job)
            if team.first:
                kind.fits.refuse_occupied(folder)
                save_inputs(kind, job, read(), folder, locks, owner)
            see_inputs(kind, folder, team)
        data = kind.load(folder)  # as `resume` will have them, and only once in memory
        console.print(kind.announcement(job, data), soft_wrap=True)
        console.print(f"if this is stopped, go on with: {again(kind, folder)}", style="dim", soft_wrap=True)
        with kind.fits.refused(folder):
            return finish(kind, job, data, folder, console, team, progress)


def again(kind: Fitting[Settings, Data, Found], folder: Path) -> str:
    """Return the command line that resumes a fit."""
    return f"orthodrome {kind.fits.command} resume {shown(str(folder))}"


def save_inputs(
    kind: Fitting[Settings, Data, Found],
    job: Settings,
    data: Data,
    folder: Path,
    locks: contextlib.ExitStack,
    owner: str,
) -> None:
    """Make and lock the folder, and save in it what a fit is resumed from."""
    kind.fits.begin(folder, locks, owner)
    with kind.fits.writing(folder):
        kind.save(data, folder)
        kind.fits.save_job(job, folder)
        kind.fits.seal_inputs(folder)


def see_inputs(kind: Fitting[Settings, Data, Found], folder: Path, team: Team) -> None:
    """Wait until the first process has saved the inputs, and raise on all if one of them does not see them."""
    team.meet()
    if not team.first and not kind.fits.sealed(folder):
        raise BadInput(
            f"process {team.process} of {team.processes} does not see {folder}, which the first one created: put it on "
            "a file system that all hosts share, under the same path"
        )
    team.meet()


def resume(kind: Fitting[Settings, Data, Found], folder: Path, console: Console, progress: bool = True) -> Found:
    """Resume a fit and finish it."""
    from orthodrome.run.parallel import Team

    team = Team()
    with contextlib.ExitStack() as locks:
        with team.sharing_failures():
            kind.fits.require(folder)
            if team.first:
                kind.fits.go_on(folder, locks)
            team.meet()
        return finish(kind, kind.fits.load_job(folder), kind.load(folder), folder, console, team, progress)


def finish(
    kind: Fitting[Settings, Data, Found],
    job: Settings,
    data: Data,
    folder: Path,
    console: Console,
    team: Team,
    progress: bool,
) -> Found:
    """Draw what is not drawn yet; write and show the results."""
    try:
        found = kind.learn(job, data, folder, progress)
    except KeyboardInterrupt:
        console.print(f"stopped; go on with: {again(kind, folder)}", soft_wrap=True)
        raise
    except CheckpointError as error:
        if isinstance(error.__cause__, OSError):
            console.print(f"when it can be written, go on with: {again(kind, folder)}", soft_wrap=True)
        raise
    with team.sharing_failures():
        if team.first:
            write_results(kind, job, data, found, folder, console)
        team.meet()  # if it cannot be written, all of them fail
    return found


def write_results(
    kind: Fitting[Settings, Data, Found], job: Settings, data: Data, found: Found, folder: Path, console: Console
) -> None:
    """Write tables, figures and the report page, and print what was found and where it is."""
    with kind.fits.writing(folder):
        kind.fits.reopen(folder)
        figures = kind.write(job, data, found, folder)
        kind.fits.seal_results(folder)  # last: a folder with a result is finished
        page = write_told(kind.told(job, data, found, folder), folder / PAGE)
    kind.show(job, data, found, console)
    kind.show_places(folder, figures, console)
    console.print(f"report, to be opened in a browser: {shown(str(page))}", soft_wrap=True)
