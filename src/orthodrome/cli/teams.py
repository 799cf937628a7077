"""`compare-teams fit | resume | show`: strengths of players or teams from who beat whom."""

from __future__ import annotations

from orthodrome.cli.fits import fit_commands
from orthodrome.jobs.teams.job import TeamsJob

app = fit_commands(
    TeamsJob,
    "teams",
    about="Strengths of players or teams from winners and losers.",
    rows="a line with the winners and the losers of each contest",
    example="orthodrome compare-teams fit --input sets.csv --winners winners --output fit",
    tables="strengths, contests",
)
