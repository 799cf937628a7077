"""Draws from a model file: the run, its tables and its figure."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orthodrome.core.display import shown
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs import fitting
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.model_file import explained, load_model, read_source
from orthodrome.jobs.sample.choosing import sampler_of, start_of
from orthodrome.jobs.sample.job import SampleJob, check_job
from orthodrome.jobs.sample.tables import numbers, traces, variables
from orthodrome.jobs.sampled.kind import chosen, write_figures
from orthodrome.jobs.sampled.result import SampledResult, load_result, save_result, show_result, show_table
from orthodrome.jobs.told import Told, settings_of
from orthodrome.storage import files

if TYPE_CHECKING:
    from rich.console import Console

FITS = FitFolder(
    SampleJob,
    command="sample",
    kind="run",
    inputs=("job.json", "model.py"),
    results=("result.json", "summary.json"),
    ours=r"(job|summary|result)\.json|model\.py|(variables|numbers)\.csv|figures/trace\.(png|svg)|draws\.zarr/.+",
    begins="MODEL.py",
)


class ModelSource(NamedTuple):
    """The file of a model, and its text when the run began."""

    path: Path
    text: str


class DrawnModel(NamedTuple):
    """The draws and what they say."""

    tree: Any
    result: SampledResult


class SampleFitting(fitting.Fitting[SampleJob, ModelSource, DrawnModel]):
    """Draws from a model that a file defines."""

    @property
    def fits(self) -> FitFolder[SampleJob]:
        return FITS

    def check(self, job: SampleJob) -> None:
        check_job(job)

    def save(self, data: ModelSource, folder: Path) -> None:
        files.write_bytes(folder / "model.py", data.text.encode("utf-8"))

    def load(self, folder: Path) -> ModelSource:
        try:
            text = (folder / "model.py").read_text("utf-8")
        except (OSError, ValueError) as error:
            raise CheckpointError(f"the model in {folder} cannot be read ({error}); start again elsewhere") from error
        return ModelSource(Path(FITS.load_job(folder).path), text)

    def announcement(self, job: SampleJob, data: ModelSource) -> str:
        return f"{job.num_chains} chains of {job.num_warmup} + {job.num_draws} from {shown(str(data.path))}"

    def learn(self, job: SampleJob, data: ModelSource, folder: Path, progress: bool) -> DrawnModel:
        if read_source(data.path) != data.text:
            raise BadInput(f"{data.path} has changed since the run began: restore it ({folder / 'model.py'} is a copy)")
        began = time.monotonic()
        tree = drawn(job, data.path, folder, progress)
        if tree.attrs["interrupted"]:
            raise KeyboardInterrupt  # what was drawn is in the checkpoint; only a whole run has a result
        return DrawnModel(tree, described(tree, round(time.monotonic() - began, 1)))

    def write(self, job: SampleJob, data: ModelSource, found: DrawnModel, folder: Path) -> list[Path]:
        from orthodrome.plots.mixture import trace_figure

        figures = write_figures({"trace": trace_figure(traces(found.tree))}, folder / "figures")
        save_result(found.result, folder)
        return figures

    def told(self, job: SampleJob, data: ModelSource, found: DrawnModel, folder: Path) -> Told:
        title = f"{found.tree.attrs['sampler']} of {data.path.name}"
        return Told(found.tree, title, settings_of(job, found.result.numbers))

    def show(self, job: SampleJob, data: ModelSource, found: DrawnModel, console: Console) -> None:
        show_result(found.result, console)

    def show_places(self, folder: Path, figures: list[Path], console: Console) -> None:
        console.print(f"tables (CSV), figures, draws (draws.zarr) and state: {shown(str(folder))}/", soft_wrap=True)


KIND = SampleFitting()


def run(job: SampleJob, path: Path, folder: Path, console: Console, progress: bool = True) -> DrawnModel:
    """Draw from the model of a file in a new folder."""
    job = dataclasses.replace(job, path=str(path.absolute()))

    def read() -> ModelSource:
        text = read_source(path)
        prepared(job, Path(job.path))  # what is wrong is told before a folder is made
        return ModelSource(Path(job.path), text)

    return fitting.fit(KIND, job, read, folder, console, progress)


def prepared(job: SampleJob, path: Path) -> tuple[Any, Any]:
    """Return the sampler and the start of a model file."""
    import jax

    from orthodrome.storage.draws import check_labels

    with jax.enable_x64(job.dtype == "float64"):
        found = load_model(path)
        with explained(path):
            sampler = sampler_of(job, found, path)
        start = start_of(job, found, sampler, path)
        with explained(path):
            check_labels({str(name): () for name in start} if isinstance(start, Mapping) else {}, None, None)
        return sampler, start


def drawn(job: SampleJob, path: Path, folder: Path, progress: bool) -> Any:
    """Return the draws, of a new run or of one that goes on."""
    import jax

    from orthodrome.run import Stop, sample

    sampler, start = prepared(job, path)
    stop = None if job.stop_ess is None else Stop(**stopping(job))
    with jax.enable_x64(job.dtype == "float64"):
        return sample(
            sampler,
            start,
            seed=job.seed,
            num_chains=job.num_chains,
            num_warmup=job.num_warmup,
            num_draws=job.num_draws,
            thin=job.thin,
            keep_warmup=job.keep_warmup,
            progress=progress,
            checkpoint=folder / "state",
            checkpoint_every=job.checkpoint_every,
            store=folder / "draws.zarr",
            stop_when=stop,
            check=False,  # the whole diagnosis follows; a quick look beside it would give another number for the ESS
        )


def stopping(job: SampleJob) -> dict[str, Any]:
    """Return the settings of an early end that the job gives."""
    return {"ess": job.stop_ess} | ({} if job.stop_rhat is None else {"rhat": job.stop_rhat})


def described(tree: Any, seconds: float) -> SampledResult:
    """Return what the draws say: tables, numbers, and whether they can be trusted."""
    from orthodrome.diagnostics import diagnose

    diagnosis = diagnose(tree)
    found = {
        "draws": float(tree.sizes.get("draw", 0) or tree["posterior"].sizes["draw"]),
        "largest R-hat": max(row["rhat"] for row in diagnosis.variables.values()),
        "smallest ESS": min(min(row["ess_bulk"], row["ess_tail"]) for row in diagnosis.variables.values()),
        "divergences": float(diagnosis.divergences),
        "seconds": seconds,
    }
    tables = {"variables": variables(tree, diagnosis), "numbers": numbers(tree)}
    return SampledResult(tables, {name: float(value) for name, value in found.items()}, diagnosis.verdict)


def show_again(folder: Path, console: Console, table: str | None) -> None:
    """Print what a finished run found, or one of its tables by name."""
    FITS.require(folder)
    FITS.verify(folder)
    result = load_result(folder, FITS.command)
    if table is None:
        return show_result(result, console)
    show_table(chosen(result, table), console)
