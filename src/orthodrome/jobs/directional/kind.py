"""A law of directions: the model, its tables and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.jobs import fitting
from orthodrome.jobs.directional.data import DirectionRows, read_directions
from orthodrome.jobs.directional.job import DirectionalJob, check_job
from orthodrome.jobs.directional.tables import directions, parameters, rows_table
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.sampled.kind import Fitted, SampledFitting, folder_of
from orthodrome.jobs.sampled.result import NamedTable
from orthodrome.jobs.sampled.tempering import model_tempering
from orthodrome.jobs.told import Told
from orthodrome.models.directional import Directional

if TYPE_CHECKING:
    from rich.console import Console

FITS = folder_of(DirectionalJob, "directional", "directions", ("directions", "parameters", "rows"), ("directional",))

WORDS = {
    "latlon": "directions",
    "vectors": "unit vectors",
    "torus": "pairs of angles",
    "angles": "angles",
    "axes": "axes",
}
"""What the rows of each kind are called."""


class DirectionalFitting(SampledFitting[DirectionalJob, DirectionRows]):
    """A law of directions, axes or angles."""

    @property
    def fits(self) -> FitFolder[DirectionalJob]:
        return FITS

    def check(self, job: DirectionalJob) -> None:
        check_job(job)

    def plain(self, data: DirectionRows) -> dict[str, Any]:
        return data._asdict()

    def data(self, content: dict[str, Any]) -> DirectionRows:
        return DirectionRows(**content)

    def announcement(self, job: DirectionalJob, data: DirectionRows) -> str:
        return f"{len(data.rows):,} {WORDS[job.kind]}: the {job.fitted_law} law by {job.method.upper()}"

    def fitted(self, job: DirectionalJob, data: DirectionRows, progress: bool, saving: dict[str, Any]) -> Directional:
        return estimator(job, progress).fit(data.values(job.kind), **saving)

    def tables(self, job: DirectionalJob, data: DirectionRows, model: Directional) -> dict[str, NamedTable]:
        found = {"directions": directions(job, model), "parameters": parameters(model)}
        return {name: table for name, table in found.items() if table.rows} | {"rows": rows_table(job, data, model)}

    def numbers(self, job: DirectionalJob, data: DirectionRows, model: Directional) -> dict[str, float]:
        from orthodrome.models.directional.uniformity import bingham_test, rayleigh_test

        found: dict[str, float] = {"rows": len(data.rows), "tempered": model.tempered_}
        values = data.values(job.kind)
        if job.kind == "axes":
            found["p of uniform axes (Bingham)"] = bingham_test(values).p_value
        elif job.kind != "torus":
            found["p of uniform directions (Rayleigh)"] = rayleigh_test(values).p_value
        return found | {"mean log density of the rows": model.score(values)}

    def told(self, job: DirectionalJob, data: DirectionRows, found: Fitted, folder: Path) -> Told:
        told = super().told(job, data, found, folder)
        if job.units != "hours":
            return told
        from orthodrome.report.pictures.directional import directional, in_hours

        return told._replace(sections=tuple(in_hours(directional(found.model))))

    def figures(self, model: Directional) -> dict[str, Any]:
        from orthodrome.plots.directional import plot_directional

        several = model.law in ("sine-mixture", "cosine-mixture")  # one centre to draw the torus about
        drawn = model.x_.shape[1:] in ((2,), (3,), (2, 2)) and not several
        return {"directional": plot_directional(model)} if drawn else {}


KIND = DirectionalFitting()


def estimator(job: DirectionalJob, progress: bool) -> Directional:
    """Return the model that the job asks for."""
    names = ("components", "scale", "weight_concentration", "method")
    run = ("num_chains", "num_warmup", "num_draws", "dtype")
    settings: dict[str, Any] = {name: getattr(job, name) for name in (*names, *run)}
    settings["tempering"] = model_tempering(job.tempering)
    return Directional(job.fitted_law, **settings, random_state=job.seed, progress=progress)


def fit(job: DirectionalJob, path: Path, folder: Path, console: Console, progress: bool = True) -> Fitted:
    """Fit the rows of a file in a new folder."""

    def read() -> DirectionRows:
        data = read_directions(job, path)
        estimator(job, False).check(data.values(job.kind))
        return data

    return fitting.fit(KIND, job, read, folder, console, progress)
