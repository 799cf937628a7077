"""Tables of who beat whom, and what they say about strengths p on a simplex.

A row is (winners W, losers L, count c): its likelihood is (sum_W p / sum_{W or L} p)^c. The partial observations of a
multinomial are rows too (Byrne & Girolami 2013, section 5.2): a marginal one, known only to lie in S, has the losers
"everyone else"; a conditional one, x among T, as in a case-cohort design, has the losers "the rest of T". Equal sets
are gathered, so that

    log likelihood = sum over sets s of power_s log(sum_{i in s} p_i).
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.errors import BadInput

Team = str | Sequence[str]
Row = tuple[Sequence[str], Sequence[str], float]


class Comparisons(NamedTuple):
    """Comparisons of players, gathered by sets.

    players: their names
    sets: (number of sets, players) of 0 and 1
    powers: one for each set
    """

    players: tuple[str, ...]
    sets: NDArray[np.float64]
    powers: NDArray[np.float64]


def read_comparisons(table: Any, players: Sequence[str] | None = None) -> Comparisons:
    """Read comparisons.

    A team is a list of names or one text of names between spaces; without a count a row counts once.

    table: a CSV file, a mapping of columns (or a DataFrame) with winners, losers and count, or a list of rows
    players: all names, in the order wanted; None: those in the table, sorted
    """
    if isinstance(table, type) or not isinstance(table, str | Path | Iterable):
        raise BadInput(f"the table is {table!r:.60}; give a CSV file, columns by name, or a list of (winners, losers)")
    rows = [_checked(number, row) for number, row in enumerate(_rows(table), start=1)]
    if not rows:
        raise BadInput("the table has no rows: there is nothing to compare")
    seen = sorted({name for winners, losers, _ in rows for name in (*winners, *losers)}, key=_natural)
    known = tuple(seen) if players is None else tuple(players)
    if len(set(known)) < len(known):
        raise BadInput(f"players contains a name twice: {', '.join(n for n, c in Counter(known).items() if c > 1)}")
    unknown = [name for name in seen if name not in known]
    if unknown:
        raise BadInput(f"the table has unknown players: {', '.join(unknown)}; players has {', '.join(known)}")
    if len(known) < 2:
        raise BadInput(f"there is only one player, {known[0]}; a comparison takes two")
    return _gathered(rows, known)


def marginal(inside: Team, players: Sequence[str], count: float = 1) -> Row:
    """Return the row of an observation that is only known to be one of `inside`.

    inside: the players one of whom was observed
    players: all of them
    count: how often
    """
    chosen = _team(inside)
    return chosen, [name for name in players if name not in chosen], count


def conditional(observed: Team, among: Team, count: float = 1) -> Row:
    """Return the row of an observation when only some could occur (cases of a case-cohort design).

    observed: the player, or players one of whom was observed
    among: those who could occur
    count: how often
    """
    chosen, possible = _team(observed), _team(among)
    strangers = [name for name in chosen if name not in possible]
    if strangers:
        raise BadInput(f"{', '.join(strangers)} was observed, but is not among {', '.join(possible)}")
    return chosen, [name for name in possible if name not in chosen], count


def _rows(table: Any) -> Iterable[Any]:
    if isinstance(table, str | Path):
        return _from_file(Path(table))
    if isinstance(table, Mapping) or hasattr(table, "columns"):  # a DataFrame is a mapping in all but name
        return _from_columns(table)
    return table


def _from_file(path: Path) -> Iterable[Any]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows, head = list(reader), reader.fieldnames or []
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    return _from_columns({name: [row[name] for row in rows] for name in head})


def _from_columns(columns: Any) -> Iterable[Any]:
    missing = [name for name in ("winners", "losers") if name not in columns]
    if missing:
        raise BadInput(
            f"the table lacks the column(s) {', '.join(missing)}; it needs winners, losers and, optionally, count"
        )
    winners, losers = list(columns["winners"]), list(columns["losers"])
    counts = list(columns["count"]) if "count" in columns else [1] * len(winners)
    return zip(winners, losers, counts, strict=True)


def _checked(number: int, row: Any) -> Row:
    winners, losers = _team(row[0]), _team(row[1])
    count = row[2] if len(row) > 2 else 1
    try:
        value = float(count)
    except (TypeError, ValueError):
        raise BadInput(f"row {number}: the count {count!r} is not a number") from None
    if not np.isfinite(value) or value < 0:
        raise BadInput(f"row {number}: the count is {count}; counts are 0 or more")
    if not winners or not losers:
        raise BadInput(f"row {number}: {'winners' if not winners else 'losers'} is empty; a set has two sides")
    twice = [name for name in winners if name in losers]
    if twice:
        raise BadInput(f"row {number}: {', '.join(twice)} plays on both sides")
    again = [name for team in (winners, losers) for name, times in Counter(team).items() if times > 1]
    if again:
        raise BadInput(f"row {number}: {', '.join(again)} is named twice on one side")
    return winners, losers, value


def _team(team: Any) -> list[str]:
    return team.split() if isinstance(team, str) else [str(name) for name in team]


def _natural(name: str) -> tuple[str, int, str]:
    """Return a sort key that puts p2 before p10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or -1), name


def _gathered(rows: Sequence[Row], players: tuple[str, ...]) -> Comparisons:
    powers: defaultdict[frozenset[str], float] = defaultdict(float)
    for winners, losers, count in rows:
        powers[frozenset(winners)] += count
        powers[frozenset((*winners, *losers))] -= count
    kept = {team: power for team, power in powers.items() if power != 0 and len(team) < len(players)}
    ordered = sorted(kept, key=lambda team: (len(team), sorted(players.index(name) for name in team)))
    sets = np.array([[float(name in team) for name in players] for team in ordered]).reshape(-1, len(players))
    return Comparisons(players, sets, np.array([float(kept[team]) for team in ordered]))
