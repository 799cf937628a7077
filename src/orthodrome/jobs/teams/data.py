"""Who beat whom: named columns of a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from orthodrome.errors import BadInput
from orthodrome.jobs.cells import Cells, numbers, read_cells
from orthodrome.jobs.teams.job import TeamsJob
from orthodrome.models.comparison.tables import read_comparisons

MOST_PLAYERS = 20_000


class Contests(NamedTuple):
    """Contests: the names on both sides, and how often each was seen."""

    winners: list[list[str]]
    losers: list[list[str]]
    counts: list[float]

    @property
    def rows(self) -> list[tuple[list[str], list[str], float]]:
        """The rows as `PairedComparison` takes them."""
        return list(zip(self.winners, self.losers, self.counts, strict=True))

    @property
    def players(self) -> list[str]:
        """All names, in the order of their first contest."""
        return list(dict.fromkeys(name for sides in (self.winners, self.losers) for side in sides for name in side))


def read_contests(job: TeamsJob, path: Path) -> Contests:
    """Return the contests of a file, checked."""
    cells = read_cells(path, job.encoding, None, None)
    sides = [column(cells, name, path) for name in (job.winners, job.losers)]
    if job.winners == job.losers:
        raise BadInput(f"--winners and --losers are both the column {job.winners!r}")
    wanted = job.count if job.count is not None else "count" if "count" in cells.columns else None
    counts = [1.0] * len(cells.texts)
    if wanted is not None:
        texts = [[text] for text in column(cells, wanted, path)]
        counts = numbers(texts, (wanted,), cells.at, path, "say the column of counts with --count")[:, 0].tolist()
    winners, losers = ([split(text, job.separator) for text in side] for side in sides)
    found = Contests(winners, losers, counts)
    check_contests(found, cells.at, path)
    return found


def column(cells: Cells, name: str, path: Path) -> list[str]:
    """Return a column by name."""
    from orthodrome.jobs.cells import place

    return [row[place(list(cells.columns), name, path)] for row in cells.texts]


def split(text: str, separator: str) -> list[str]:
    """Return the names in a cell."""
    if separator == "none":
        return [text] if text else []
    parts = text.split() if separator == " " else text.split(separator)
    return [name for part in parts if (name := part.strip())]


def check_contests(found: Contests, at: list[int], path: Path) -> None:
    """Raise if a row is no contest, with its line, or if there are too many players."""
    for line, row in zip(at, found.rows, strict=True):
        try:
            read_comparisons([row])
        except BadInput as error:
            raise BadInput(f"{path}, line {line}: {str(error).removeprefix('row 1: ')}") from None
    if not found.counts or not any(found.counts):
        raise BadInput(f"{path} has no contest: there is nothing to compare")
    if len(found.players) > MOST_PLAYERS:
        raise BadInput(
            f"{path} has {len(found.players):,} players, more than {MOST_PLAYERS:,}: is it the right column?"
        )
