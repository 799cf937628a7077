"""What `orthodrome directional fit` can be asked to do. The fields are the options."""

from __future__ import annotations

import dataclasses

from orthodrome.errors import BadInput
from orthodrome.jobs.options import check_numbers, flag, option
from orthodrome.jobs.sampled.job import RunSettings
from orthodrome.jobs.sampled.tempering import model_tempering, tempering_option

LAWS = {
    "angles": ("von-mises-fisher", "mixture", "bingham", "bingham-von-mises-fisher"),
    "latlon": ("von-mises-fisher", "mixture", "bingham", "bingham-von-mises-fisher"),
    "vectors": ("von-mises-fisher", "mixture", "bingham", "bingham-von-mises-fisher"),
    "axes": ("bingham",),
    "torus": ("sine", "cosine", "sine-mixture", "cosine-mixture"),
}
"""The laws of each kind of data, its default first."""
UNITS = {"radians": 1.0, "degrees": 0.017453292519943295, "hours": 0.2617993877991494}
"""The unit of an angle in radians; an hour is the 24th part of a turn."""
MIXTURES = ("mixture", "sine-mixture", "cosine-mixture")


@dataclasses.dataclass(frozen=True)
class DirectionalJob(RunSettings):
    """The settings of a fit. Each field says what it is in its `help`."""

    kind: str = option(
        "angles",
        "What a row is. angles: one angle; latlon: latitude and longitude (or inclination and declination); vectors: "
        "a unit vector; axes: a line without a sign (one angle, latitude and longitude, or a unit vector); torus: two "
        "angles.",
        choices=tuple(LAWS),
    )
    columns: str | None = option(
        None, "The columns, separated by commas; latitude before longitude (else found by their names, or all)."
    )
    units: str | None = option(
        None, "Of angles (else radians; latitude and longitude: degrees); hours are of a day.", choices=tuple(UNITS)
    )
    normalize: bool = option(False, "Divide every vector by its length.")
    law: str | None = option(
        None,
        "The distribution (else von-mises-fisher; axes: bingham; torus: sine).",
        choices=tuple(dict.fromkeys(word for words in LAWS.values() for word in words)),
    )
    components: int = option(2, "The components of a mixture.", least=2, most=1000)
    scale: float = option(100.0, "Of the prior: the mean of concentrations.")
    weight_concentration: float = option(1.0, "Of the Dirichlet prior of a mixture's weights.")
    method: str = option("nuts", "The sampler, tuned in the warm-up.", choices=("nuts", "hmc"))
    tempering: str = tempering_option("chains of the laws sine and cosine")
    num_warmup: int = option(500, "Transitions of each chain before its first draw; they tune the sampler.", least=1)

    @property
    def fitted_law(self) -> str:
        """The law, or the default of the kind."""
        return LAWS[self.kind][0] if self.law is None else self.law

    @property
    def unit(self) -> float:
        """The unit of angles in radians; those of the geographer are in degrees unless said otherwise."""
        return UNITS[self.units or ("degrees" if self.kind == "latlon" else "radians")]


def check_job(job: DirectionalJob) -> None:
    """Raise if a setting is invalid, before anything is read or written."""
    check_numbers(job)
    model_tempering(job.tempering)
    if job.fitted_law not in LAWS[job.kind]:
        raise BadInput(f"--kind {job.kind} has no law {job.law!r}; it has {', '.join(LAWS[job.kind])}")
    for name in ("scale", "weight_concentration"):
        if getattr(job, name) <= 0:
            raise BadInput(f"{flag(name)} is {getattr(job, name):g}; it must be above 0")
    if job.normalize and job.kind not in ("vectors", "axes"):
        raise BadInput(f"--normalize is for vectors; leave it out with --kind {job.kind}")
    if job.units is not None and job.kind == "vectors":
        raise BadInput("--units is for angles; leave it out with --kind vectors")
