"""Run experiments, say what each found, and write the page of all of them.

OUT/NAME/               of each experiment (see `experiments.support.contract`)
OUT/all/index.html      every figure beside its claims
OUT/all/claims.csv      all claims; claims.md: the same as Markdown
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import shown
from orthodrome.errors import BadInput, OrthodromeError
from orthodrome.experiments import EXPERIMENTS
from orthodrome.experiments.support import contract
from orthodrome.jobs.reproduce.lanes import EndedChild, in_lanes, options_of
from orthodrome.jobs.reproduce.page import page_of
from orthodrome.jobs.reproduce.results import counted, read_result, read_results, shorten, verdict
from orthodrome.jobs.reproduce.tables import claims_csv, claims_markdown
from orthodrome.storage import files

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"yes": "green", "no": "red"}


def run_one(
    name: str,
    scale: str,
    seed: int,
    out: Path,
    data: Path | None,
    console: Console,
    progress: bool = True,
    most: int | None = None,
) -> None:
    """Run one experiment and print its claims, or the first `most` of them."""
    console.print(f"\n{name}: {contract.load(name).TITLE}", style="bold")
    result = contract.reproduce(name, scale=scale, seed=seed, out=out, data=data, progress=progress)
    show_claims(result, out / name, console, most)


def run_all(
    scale: str, seed: int, out: Path, data: Path | None, console: Console, progress: bool = True, lanes: int = 1
) -> bool:
    """Run every experiment that can be run, write the page, and return whether none broke off.

    lanes: how many at a time; 1: one after the other in this process, which shows their progress
    """
    contract.check_seed(seed)
    skipped: dict[str, str] = {}
    for name in EXPERIMENTS:
        try:
            contract.find_data(contract.load(name), data)
        except BadInput as error:
            skipped[name] = str(error)
            console.print(f"\n{name} is left out: {shown(str(error))}", soft_wrap=True)
    wanted = [name for name in EXPERIMENTS if name not in skipped]
    if lanes > 1:
        console.print(f"\n{len(wanted)} experiments, {lanes} at a time; each is shown when it has ended")
        ended = in_lanes(wanted, lanes, options_of(scale, seed, out, data))
    else:
        ended = (attempted(name, scale, seed, out, data, console, progress) for name in wanted)
    broken = {}
    for name, problem in ended:
        if problem:  # one that breaks off does not take the others with it
            broken[name] = f"broke off: {problem}"
            console.print(f"{name} {shown(broken[name])}", soft_wrap=True, style="red")
        elif lanes > 1:
            console.print(f"\n{name}: {contract.load(name).TITLE}", style="bold")
            show_claims(read_result(name, out / name).result, out / name, console)
    write_page(out, console, skipped | broken)
    return not broken


def attempted(
    name: str, scale: str, seed: int, out: Path, data: Path | None, console: Console, progress: bool
) -> EndedChild:
    """Run one experiment in this process, and return how it ended."""
    try:
        run_one(name, scale, seed, out, data, console, progress)
    except OrthodromeError as error:
        return EndedChild(name, str(error))
    except Exception as error:
        return EndedChild(name, f"{type(error).__name__}: {error}")
    return EndedChild(name, "")


def write_page(out: Path, console: Console, skipped: dict[str, str] | None = None) -> None:
    """Write the page and the tables of what was reproduced in a folder."""
    found = read_results(out)
    names = {one.name for one in found}
    left = {name: "not run in this folder" for name in EXPERIMENTS if name not in names} | (skipped or {})
    with contract.own_folder(out / "all") as folder:
        files.write_bytes(folder / "claims.csv", claims_csv(found).encode("utf-8"))
        files.write_bytes(folder / "claims.md", claims_markdown(found).encode("utf-8"))
        page = page_of(found, {name: why for name, why in left.items() if name not in names or "broke off" in why})
        files.write_bytes(folder / "index.html", page.encode("utf-8"))
    every = [claim for one in found for claim in one.claims]
    console.print(
        f"\n{counted(every)} in {len(found)} experiments; {shown(str(out / 'all' / 'index.html'))} has them all"
    )


def show_claims(result: dict[str, Any], folder: Path, console: Console, most: int | None = None) -> None:
    """Print the claims as a table, and where the files are."""
    from rich.table import Table
    from rich.text import Text

    table = Table("claim", "measured", "holds", title_justify="left", expand=False)
    for claim in result["claims"][:most]:
        word = verdict(claim)
        reason = f" ({claim['why']})" if claim.get("why") else ""
        said = Text(shown(word + reason), style=STYLES.get(word, "yellow"))
        table.add_row(Text(shown(claim["text"])), Text(shown(shorten(claim["measured"]))), said)
    console.print(table)
    console.print(
        f"{counted(result['claims'])}; {result['seconds']:.0f} s; written to {shown(str(folder))}/", soft_wrap=True
    )


def show_experiments(console: Console) -> None:
    """Print the experiments that can be reproduced."""
    from rich.table import Table

    table = Table("name", "what", "paper", "data")
    for name in EXPERIMENTS:
        module = contract.load(name)
        table.add_row(name, module.TITLE, module.PAPER, module.DATA or "none needed")
    console.print(table)
