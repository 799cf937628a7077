"""One self-contained HTML page with every figure beside its claims: nothing is fetched, and no text is markup."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from typing import Any

from orthodrome.experiments.support.claims.coverage import PAPERS, Item
from orthodrome.experiments.support.contract import load
from orthodrome.jobs.reproduce.results import Reproduced, counted, counts, shorten, verdict

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --page: #ffffff; --line: #d5d9e0; --soft: #f4f6f9;
  --yes: #1d6b35; --no: #a3241b; --open: #7a5200; --link: #1f4f8a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --page: #14181f; --line: #3a4250; --soft: #1d232d;
  --yes: #7fd097; --no: #ff9a90; --open: #f0c36a; --link: #9cc4f5; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 0 auto;
  max-width: 70rem; padding: 1rem; }
a { color: var(--link); } nav ul { columns: 18rem; padding-left: 1.2rem; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; background: #fff; border: 1px solid var(--line); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; min-width: 48rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; } thead th { background: var(--soft); } tbody th { font-weight: 400; }
td.word { white-space: nowrap; }
.yes { color: var(--yes); } .no { color: var(--no); font-weight: 600; } .open { color: var(--open); font-weight: 600; }
@media print { .wide { overflow: visible; } }
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
CLASSES = {"yes": "yes", "no": "no"}


def page_of(found: list[Reproduced], skipped: dict[str, str]) -> str:
    """Return the page.

    found: what was reproduced; skipped: the experiments that were not run, each with the reason
    """
    by_name = {one.name: one for one in found}
    every = [claim for one in found for claim in one.claims]
    papers = "".join(paper(title, items, by_name, skipped) for title, items in PAPERS.items())
    number = counts(every)
    summary = ", ".join(f"{word}: {count}" for word, count in number.items())
    links = "".join(
        f'<li><a href="#{escaped(one.name)}">{escaped(one.name)}</a> ({counted(one.claims)})</li>' for one in found
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>What was reproduced</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f"<header><h1>What was reproduced</h1><p>{escaped(counted(every))} ({escaped(summary)}).</p></header>"
        f'<nav aria-label="Experiments"><ul>{links}</ul></nav><main>{papers}{missing(skipped)}{no_results()}</main>'
        "</body></html>\n"
    )


def paper(title: str, items: tuple[Item, ...], by_name: dict[str, Reproduced], skipped: dict[str, str]) -> str:
    """Return the part of one paper: its experiments in the order of its figures."""
    names = list(dict.fromkeys(item.experiment for item in items if item.experiment in by_name))
    if not names:
        return ""
    parts = [experiment(by_name[name], [item.what for item in items if item.experiment == name]) for name in names]
    return f"<section><h2>{escaped(title)}</h2>{''.join(parts)}</section>"


def experiment(one: Reproduced, what: list[str]) -> str:
    """Return the figures and the claims of one experiment."""
    title = load(one.name).TITLE
    result = one.result
    about = f"{result['scale']} scale, seed {result['seed']}, {float(result['seconds']):.0f} s; {counted(one.claims)}"
    pictures = "".join(picture(path, title) for path in one.figures)
    return (
        f'<article id="{escaped(one.name)}"><h3>{escaped(one.name)}: {escaped(title)}</h3>'
        f"<p>{escaped('; '.join(what))}.<br>{escaped(about)}.</p>{pictures}{table(one.claims, one.name)}</article>"
    )


def picture(path: Path, title: str) -> str:
    """Return a figure with its image inside the page."""
    data, words = base64.b64encode(path.read_bytes()).decode("ascii"), escaped(caption(path.stem))
    image = f'<img alt="{escaped(title)}: {words}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def caption(stem: str) -> str:
    """Return the name of a figure's file as words: "figure2-left" is "Figure 2 left"."""
    words = re.sub(r"(figure|table)(\d)", r"\1 \2", re.sub("[-_]", " ", stem))
    return words[:1].upper() + words[1:]


def table(claims: list[dict[str, Any]], name: str) -> str:
    """Return claims as a table."""
    head = "".join(f'<th scope="col">{word}</th>' for word in ("claim", "paper", "measured", "holds", "why"))
    rows = "".join(
        f'<tr><th scope="row">{escaped(claim["text"])}</th><td>{escaped(shorten(claim["paper"]))}</td>'
        f"<td>{escaped(shorten(claim['measured']))}</td>"
        f'<td class="word {CLASSES.get(verdict(claim), "open")}">{escaped(verdict(claim))}</td>'
        f"<td>{escaped(claim.get('why', ''))}</td></tr>"
        for claim in claims
    )
    label = f'role="region" aria-label="Claims of {escaped(name)}" tabindex="0"'
    return f'<div class="wide" {label}><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def missing(skipped: dict[str, str]) -> str:
    """Return the list of the experiments that were not run."""
    if not skipped:
        return ""
    lines = "".join(f"<li><b>{escaped(name)}</b>: {escaped(why)}</li>" for name, why in skipped.items())
    return f"<section><h2>What was not run</h2><ul>{lines}</ul></section>"


def no_results() -> str:
    """Return the list of what is not a result, and why."""
    parts = [
        f"<h3>{escaped(title)}</h3><ul>"
        + "".join(f"<li>{escaped(item.what)}: {escaped(item.why)}</li>" for item in items if not item.experiment)
        + "</ul>"
        for title, items in PAPERS.items()
        if any(not item.experiment for item in items)
    ]
    return f"<section><h2>What is not a result</h2>{''.join(parts)}</section>"


def escaped(value: object) -> str:
    """Return a text that is no markup."""
    return html.escape(str(value), quote=True)
