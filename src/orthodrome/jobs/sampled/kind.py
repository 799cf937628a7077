"""A model that `sample` draws from, as a command: the data as JSON, the draws as Zarr, the findings as tables."""

from __future__ import annotations

import abc
import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from orthodrome.core.display import shown
from orthodrome.errors import CheckpointError, NotConverged
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.fitting import Data, Fitting, Settings
from orthodrome.jobs.options import check_numbers
from orthodrome.jobs.sampled.draws import save_draws
from orthodrome.jobs.sampled.result import NamedTable, SampledResult, load_result, save_result, show_result, show_table
from orthodrome.jobs.told import Told, settings_of
from orthodrome.storage import files

if TYPE_CHECKING:
    from rich.console import Console


class Fitted(NamedTuple):
    """A fitted model and what it found."""

    model: Any
    result: SampledResult


class SampledFitting(Fitting[Settings, Data, Fitted], Generic[Settings, Data]):
    """What such a command has to say of its model, beside its job and its reader."""

    @abc.abstractmethod
    def plain(self, data: Data) -> dict[str, Any]:
        """Return the data as plain lists, numbers and texts."""

    @abc.abstractmethod
    def data(self, content: dict[str, Any]) -> Data:
        """Return the data from what `plain` returned; raise KeyError, TypeError or ValueError if it is none."""

    @abc.abstractmethod
    def fitted(self, job: Settings, data: Data, progress: bool, saving: dict[str, Any]) -> Any:
        """Return the fitted model; `saving` are the arguments of `fit` that say where its state is kept."""

    @abc.abstractmethod
    def tables(self, job: Settings, data: Data, model: Any) -> dict[str, NamedTable]:
        """Return what was found, the most important table first."""

    @abc.abstractmethod
    def numbers(self, job: Settings, data: Data, model: Any) -> dict[str, float]:
        """Return what one line of a table would hold."""

    @abc.abstractmethod
    def figures(self, model: Any) -> dict[str, Any]:
        """Return the figures by name."""

    def check(self, job: Settings) -> None:
        """Raise if a setting is invalid."""
        check_numbers(job)

    def save(self, data: Data, folder: Path) -> None:
        files.write_json(folder / "data.json", self.plain(data))

    def load(self, folder: Path) -> Data:
        try:
            return self.data(json.loads((folder / "data.json").read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"the data in {folder} cannot be read ({error}): restore them, or fit again in a new folder"
            ) from error

    def learn(self, job: Settings, data: Data, folder: Path, progress: bool) -> Fitted:
        from orthodrome.diagnostics import diagnose

        began = time.monotonic()
        every = job.checkpoint_every  # type: ignore[attr-defined]
        with warnings.catch_warnings():  # the whole diagnosis follows; a quick look would give another ESS beside it
            warnings.simplefilter("ignore", NotConverged)
            model = self.fitted(job, data, progress, {"checkpoint": folder / "state", "checkpoint_every": every})
        if model.draws_.attrs["interrupted"]:
            raise KeyboardInterrupt  # what was drawn is in the checkpoint; only a whole run has a result
        diagnosis = diagnose(model.draws_)
        worst = {
            "largest R-hat": max(row["rhat"] for row in diagnosis.variables.values()),
            "smallest ESS": min(min(row["ess_bulk"], row["ess_tail"]) for row in diagnosis.variables.values()),
            "divergences": float(diagnosis.divergences),
            "seconds": round(time.monotonic() - began, 1),
        }
        found = (self.numbers(job, data, model) | worst).items()
        numbers = {name: value if isinstance(value, bool) else float(value) for name, value in found}
        return Fitted(model, SampledResult(self.tables(job, data, model), numbers, diagnosis.verdict))

    def write(self, job: Settings, data: Data, found: Fitted, folder: Path) -> list[Path]:
        paths = write_figures(self.figures(found.model), folder / "figures")
        save_draws(found.model.draws_, folder)
        save_result(found.result, folder)
        return paths

    def told(self, job: Settings, data: Data, found: Fitted, folder: Path) -> Told:
        return Told(found.model, self.announcement(job, data), settings_of(job, found.result.numbers))

    def show(self, job: Settings, data: Data, found: Fitted, console: Console) -> None:
        show_result(found.result, console)

    def show_places(self, folder: Path, figures: list[Path], console: Console) -> None:
        names, place = ", ".join(path.name for path in figures), shown(str(folder))
        if figures:
            console.print(f"figures: {place}/figures/ ({names})", soft_wrap=True)
        console.print(f"tables (CSV), draws (draws.zarr) and state: {place}/", soft_wrap=True)

    def show_again(self, folder: Path, console: Console, table: str | None = None) -> None:
        """Print what a finished fit found, or one of its tables by name."""
        self.fits.require(folder)
        self.fits.verify(folder)
        result = load_result(folder, self.fits.command)
        if table is None:
            return show_result(result, console)
        show_table(chosen(result, table), console)


def write_figures(figures: dict[str, Any], folder: Path) -> list[Path]:
    """Write the figures, and return their paths."""
    from orthodrome.plots import style

    folder.mkdir(exist_ok=True)
    for name, figure in figures.items():
        style.save(figure, folder / name)
    return [folder / f"{name}.png" for name in figures]


def chosen(result: SampledResult, name: str) -> NamedTable:
    """Return a table by name, or raise with the names there are."""
    from orthodrome.errors import BadInput

    if name not in result.tables:
        raise BadInput(f"there is no table {name!r}; there is {', '.join(result.tables)}")
    return result.tables[name]


def folder_of(
    job: type[Settings], command: str, kind: str, tables: tuple[str, ...], figures: tuple[str, ...]
) -> FitFolder[Settings]:
    """Return what the folders of such a command have in common."""
    return FitFolder(
        job,
        command=command,
        kind=kind,
        inputs=("job.json", "data.json"),
        results=("result.json", "summary.json"),
        ours=rf"(job|data|summary|result)\.json|({'|'.join(tables)})\.csv|figures/({'|'.join(figures)})\.(png|svg)|"
        r"draws\.zarr(\.part)?/.+",
    )
