"""`directional fit | resume | show`: distributions of directions, axes and angles."""

from __future__ import annotations

from orthodrome.cli.fits import fit_commands
from orthodrome.jobs.directional.job import DirectionalJob

app = fit_commands(
    DirectionalJob,
    "directional",
    about="The distribution of directions: angles, latitudes and longitudes, unit vectors, axes, pairs of angles.",
    rows="a line for each direction",
    example="orthodrome directional fit --input sites.csv --kind latlon --output fit",
    tables="directions, parameters, rows",
)
