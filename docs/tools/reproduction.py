"""The claims on the page of what was reproduced: made from `result.json` files, never written by hand.

    python docs/tools/reproduction.py RESULTS

copies the results of `orthodrome reproduce --out RESULTS` into `docs/theory/results/SCALE/NAME/result.json`. When the
site is built, `<!-- claims SCALE -->` on a page becomes the tables of what is recorded there.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from orthodrome.experiments import EXPERIMENTS
from orthodrome.experiments.support.claims.reasons import REASONS, UNKNOWN
from orthodrome.jobs.reproduce.results import Reproduced, counted, read_results
from orthodrome.jobs.reproduce.tables import claims_table, not_results_table

RESULTS = Path(__file__).parents[1] / "theory" / "results"
MARK = re.compile(r"^<!-- (claims (?P<scale>\w+)|not results) -->$", flags=re.MULTILINE)


def with_claims(markdown: str) -> str:
    """Return a page whose marks are replaced by tables."""
    return MARK.sub(
        lambda m: claims(read_results(RESULTS / m["scale"])) if m["scale"] else not_results_table(), markdown
    )


def claims(found: list[Reproduced]) -> str:
    """Return an overview of the experiments, and the claims of each, folded up."""
    every = [claim for one in found for claim in one.claims]
    lines = [f"{counted(every)}.", "", "| experiment | seed | processor seconds | claims |", "|---|---|---|---|"]
    lines += [f"| `{one.name}` | {one.result['seed']} | {seconds(one)} | {counted(one.claims)} |" for one in found]
    if left := [f"`{name}`" for name in EXPERIMENTS if name not in {one.name for one in found}]:
        lines += ["", f"No whole run of these has been recorded at this scale: {', '.join(left)}."]
    for one in found:
        inside = "\n".join(f"    {line}" for line in claims_table(one).split("\n"))
        lines += ["", f'??? abstract "{one.name}: {counted(one.claims)}"', "", inside]
    return "\n".join(lines) + "\n"


def seconds(one: Reproduced) -> str:
    """Return what the experiment took, if it is known."""
    found = one.result.get("processor_seconds")
    return "-" if found is None else f"{found:,.0f}"


def record(source: Path) -> None:
    """Copy the results of a reproduction into the documentation, by scale; reasons found since are added."""
    for one in read_results(source):
        for claim in one.result["claims"]:
            if claim["holds"] is False and claim.get("why") in UNKNOWN.values():
                claim["why"] = REASONS.get((one.name, claim["id"]), claim["why"])
        place = RESULTS / str(one.result["scale"]) / one.name / "result.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(one.result, indent=1) + "\n", encoding="utf-8")
        print(f"recorded {place.relative_to(RESULTS.parents[2])}: {counted(one.claims)}")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
