"""The claims on ESS per second in Table 1 of Byrne & Girolami (2013).

Seconds are of another machine and language: what can be compared are ratios between the rows of a column, each row over
spherical HMC, and their order. Such a ratio is that of the ESS of a draw times that of the time of a draw; the time is
ESS of a draw over ESS per second, also in the printed table. A claim that fails says by which of the two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from orthodrome.experiments.support.claims.claim import Claim, too_short, unconverged

PER_SECOND = {
    "RW-MH": (6.10, 71.1, 158.0, 290.0),
    "Spherical RW": (2.48, 37.6, 51.0, 123.0),
    "Simplex HMC": (0.0079, 0.12, 611.0, 976.0),
    "Spherical HMC": (0.327, 1374.0, 1616.0, 3262.0),
}
"""ESS per second as printed in Table 1, by alpha."""
LAST = "Spherical HMC"
"""The row over which the others are taken."""
CLOSE = 0.15
"""The relative deviation at which a cell still agrees."""


def seconds_claims(
    by: Mapping[Any, Any], alpha: float, table: Mapping[str, Sequence[float]], column: int
) -> list[Claim]:
    """Return the claims on ESS per second in one column: each row over spherical HMC, and the order of the rows.

    table: the printed ESS per 100 draws
    """
    printed = {name: row[column] for name, row in PER_SECOND.items()}
    theirs = {name: table[name][column] / 100 / printed[name] for name in printed}
    entries = {name: by[name, alpha] for name in printed}
    found = {name: e.ess_per_second for name, e in entries.items()}
    ours = {name: e.ess_percent / 100 / e.ess_per_second for name, e in entries.items()}
    shortest = min(e.seconds for e in entries.values())
    claims = []
    for name in (name for name in printed if name != LAST):
        said, seen = printed[name] / printed[LAST], found[name] / found[LAST]
        text = f"alpha = {alpha:g}, {name}: ESS per second over that of {LAST}, within 15 % of the table"
        claim = Claim(f"seconds-{alpha:g}-{slug(name)}", text, said, seen, abs(seen / said - 1) <= CLOSE)
        here, there = ours[LAST] / ours[name], theirs[LAST] / theirs[name]
        why = (
            f"a draw of {LAST} takes as long as {here:.2g} draws of {name} here and {there:.2g} in the table, by other "
        )
        why += f"code on another machine; the ratio of their ESS per draw is {seen / said * there / here:.2f} times "
        claims.append(judged(claim, f"{why}the table's", [entries[name], entries[LAST]], shortest))
    order = sorted(printed, key=lambda name: -printed[name])
    seen_order = sorted(found, key=lambda name: -found[name])
    text = f"alpha = {alpha:g}: the order of the four samplers by ESS per second"
    claim = Claim(f"seconds-{alpha:g}-order", text, order, seen_order, order == seen_order)
    timed = sorted(found, key=lambda name: -entries[name].ess_percent / theirs[name])
    why = f"with the table's time of a draw, by other code on another machine, the order is {', '.join(timed)}"
    return [*claims, judged(claim, why, list(entries.values()), shortest)]


def judged(claim: Claim, why: str, entries: Sequence[Any], shortest: float) -> Claim:
    """Return a claim on time with the reason if it fails, undecided if chains have no ESS or a run cannot be timed."""
    explained = claim if claim.holds else dataclasses.replace(claim, why=why)
    return too_short(unconverged(explained, entries), shortest)


def slug(name: str) -> str:
    """Return a name of a sampler as a part of an identifier."""
    return "".join(c if c.isalnum() else "-" for c in name.lower()).replace("--", "-")
