"""`write_report`: the page of a run, from its draws, from a fitted model, or from the folder of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import shown
from orthodrome.errors import BadInput
from orthodrome.report.page import GENERATOR, page
from orthodrome.report.pictures.choice import UNLABELLED, pictures
from orthodrome.report.pictures.facts import facts
from orthodrome.report.pictures.health import health
from orthodrome.report.pictures.summaries import summaries
from orthodrome.report.pictures.traces import traces
from orthodrome.report.section import Section
from orthodrome.storage import files
from orthodrome.storage.store import read_draws

if TYPE_CHECKING:
    import xarray


def write_report(
    source: Any,
    path: str | Path,
    *,
    title: str = "",
    sections: Sequence[Section] = (),
    settings: dict[str, Any] | None = None,
    variables: Sequence[str] | None = None,
) -> Path:
    """Write one self-contained HTML page about a run.

    source: the draws of `sample`, a fitted model with `draws_`, or the folder of a finished run (`store` or
        `checkpoint`)
    path: of the page; a page of ours is replaced, any other file is left alone
    title: of the page; default: what was run
    sections: the model's own pictures, shown first; default: those that the draws and the model ask for
    settings: of the run, listed with what was run
    variables: those that are judged, traced and summarised, such as those that do not depend on labels; default: all
    returns: the path
    """
    place = Path(path)
    refuse_foreign(place)
    tree, model = draws_of(source)
    name = title or heading(tree, model)
    own, told = list(sections or pictures(tree, model)), facts(tree, settings)
    judged = only(tree, variables or UNLABELLED.get(type(model).__name__, ()))
    found = [*own, health(judged), traces(judged), summaries(judged), told]
    shown_ones = [section for section in found if section is not None]
    content = {"title": shown(name), "sections": [section.content() for section in shown_ones]}
    try:
        files.write_bytes(place, page(shown(name), verdict_line(shown_ones), content))
    except OSError as error:
        raise BadInput(f"cannot write the page {place}: {error.strerror or error}; choose another path") from error
    return place


def draws_of(source: Any) -> tuple[xarray.DataTree, Any]:
    """Return the draws, and the fitted model they come from or None."""
    import xarray

    if isinstance(source, str | os.PathLike):
        return numbered(read_draws(Path(source))), None
    if isinstance(source, xarray.DataTree) and "posterior" in source.children:
        return numbered(source), None
    draws = getattr(source, "draws_", None)
    if isinstance(draws, xarray.DataTree):
        return draws, source
    raise BadInput(f"a report is of draws, of a fitted model or of the folder of a run, not of {source!r:.60}")


def numbered(tree: xarray.DataTree) -> xarray.DataTree:
    """Return draws of topics with one numbering of them in all chains; a fitted model's have it already."""
    group = tree["posterior"].dataset
    if "topics" not in group or group["topics"].dims != ("chain", "draw", "topic", "word"):
        return tree
    from orthodrome.models.topics.chains import with_one_numbering

    return with_one_numbering(tree)


def only(tree: xarray.DataTree, variables: Sequence[str]) -> xarray.DataTree:
    """Return the draws with some variables of the posterior alone; with all, if none is named."""
    if not variables:
        return tree
    some = tree.copy()
    some["posterior"].dataset = tree["posterior"].to_dataset()[list(variables)]
    return some


def heading(tree: xarray.DataTree, model: Any) -> str:
    """Return what was run, in few words."""
    if model is not None:
        return f"{type(model).__name__}: {tree.attrs.get('sampler', 'draws')}"
    return f"{tree.attrs.get('sampler', 'Draws')} on {tree.attrs.get('manifold') or 'its own space'}"


def verdict_line(sections: list[Section]) -> str:
    """Return the verdict in a line, which is shown also without the script."""
    found = next(section.data for section in sections if section.kind == "health")
    problems = found.get("problems", [])
    return f"{problems[0]} ({len(problems) - 1} more below)" if len(problems) > 1 else str(found["verdict"])


def refuse_foreign(path: Path) -> None:
    """Raise if the path cannot be a page of ours: a folder, or another file."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder; give the path of the page, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} for the page: make it, or choose another path")
    if path.exists() and GENERATOR.encode() not in path.read_bytes()[:2000]:
        raise BadInput(f"{path} exists and is no report of orthodrome's, and is left alone; choose another path")
