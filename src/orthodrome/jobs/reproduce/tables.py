"""The table of all claims, as CSV and as Markdown (for the page on what was reproduced)."""

from __future__ import annotations

from collections.abc import Iterable

from orthodrome.experiments.support.claims.coverage import PAPERS
from orthodrome.jobs.reproduce.results import Reproduced, counted, shorten, verdict
from orthodrome.jobs.sampled.result import csv_text

HEAD = ("experiment", "scale", "seed", "id", "claim", "paper", "measured", "holds", "why")


def claims_csv(found: Iterable[Reproduced]) -> str:
    """Return all claims as CSV."""
    rows = []
    for one in found:
        about = [one.name, str(one.result["scale"]), str(one.result["seed"])]
        for claim in one.claims:
            seen = [shorten(claim["paper"]), shorten(claim["measured"]), verdict(claim), str(claim.get("why", ""))]
            rows.append([*about, str(claim["id"]), str(claim["text"]), *seen])
    return csv_text(HEAD, rows)


def claims_markdown(found: list[Reproduced]) -> str:
    """Return all claims as Markdown: a table for each experiment, and what is not a result."""
    lines = [counted([claim for one in found for claim in one.claims]) + ".", ""]
    for one in found:
        scale, seed, seconds = (one.result[key] for key in ("scale", "seed", "seconds"))
        lines += [f"### `{one.name}`", "", f"`{cell(scale)}` scale, seed {cell(seed)}, {float(seconds):.0f} s.", ""]
        lines += [claims_table(one), ""]
    return "\n".join([*lines, "### What is not a result", "", not_results_table()]) + "\n"


def claims_table(one: Reproduced) -> str:
    """Return the claims of one experiment as a table of Markdown."""
    rows = [
        f"| {cell(claim['text'])} | {cell(shorten(claim['paper']))} | {cell(shorten(claim['measured']))} | "
        f"{emphasised(verdict(claim))} | {cell(claim.get('why', ''))} |"
        for claim in one.claims
    ]
    return "\n".join(["| claim | paper | measured | holds | why |", "|---|---|---|---|---|", *rows])


def not_results_table() -> str:
    """Return what of the papers is not a result, and why, as a table of Markdown."""
    rows = [
        f"| {cell(paper)} | {cell(item.what)} | {cell(item.why)} |"
        for paper, items in PAPERS.items()
        for item in items
        if not item.experiment
    ]
    return "\n".join(["| paper | what | why |", "|---|---|---|", *rows])


def emphasised(text: str) -> str:
    """Return a verdict, set off if the claim does not hold."""
    return text if text == "yes" else f"**{text}**"


def cell(value: object) -> str:
    """Return a text that is no markup in a cell of a Markdown table."""
    text = " ".join(str(value).split())
    for mark in ("\\", "`", "*", "_", "|", "[", "]"):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
