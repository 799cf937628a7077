"""What to cite: the BibTeX of the papers behind samplers, manifolds, models and checks that were used."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

import orthodrome
from orthodrome.errors import BadInput
from orthodrome.interop.papers import CITES, PAPERS


def citation(*used: Any) -> None:
    """Print the BibTeX of this package and of the papers behind what was used.

    used: draws, fitted models, samplers, targets, manifolds or densities (whatever they hold is looked at, too), or
        their names; without any, the package alone
    """
    print(bibliography(*used), end="")


def bibliography(*used: Any) -> str:
    """Return the BibTeX that `citation` prints.

    used: as in `citation`
    """
    keys = sorted({key for each in used for name in names_in(each) for key in CITES.get(name, "").split()})
    return "\n".join([software(), *(entry(key) for key in keys)])


def names_in(used: Any) -> Iterator[str]:
    """Yield the names of everything that an object is, holds or says that it was made with."""
    if isinstance(used, str):
        if used not in CITES and not hasattr(orthodrome, used):
            raise BadInput(f"nothing here is called {used!r}; names are as in the reference, such as 'GeodesicNUTS'")
        yield used
    elif isinstance(used, type) or (callable(used) and hasattr(used, "__name__")):
        yield used.__name__
    elif isinstance(used, Mapping) and "inference_library" not in getattr(used, "attrs", {}):
        for value in used.values():
            yield from names_in(value) if not isinstance(value, str) else ()
    elif "inference_library" in getattr(used, "attrs", {}):  # draws
        yield str(used.attrs.get("sampler", ""))
        yield from json.loads(used.attrs.get("manifolds", "{}")).values()
    else:
        yield from _within(used)


def _within(used: Any) -> Iterator[str]:
    yield type(used).__name__
    if "draws_" in getattr(used, "__dict__", {}):  # a fitted model
        yield from names_in(used.draws_)
    if isinstance(used, list | tuple):
        for value in used:
            yield from names_in(value)
    if dataclasses.is_dataclass(used):
        values = (getattr(used, field.name) for field in dataclasses.fields(used))
        for value in values:
            if dataclasses.is_dataclass(value) or isinstance(value, list | tuple | Mapping):
                yield from names_in(value)


def entry(key: str) -> str:
    """Return the BibTeX entry of a paper."""
    author, title, kind, place, year = PAPERS[key]
    sort = {"booktitle": "inproceedings", "journal": "article", "publisher": "book"}[kind]
    fields = {"author": author, "title": f"{{{title}}}", kind: place, "year": str(year)}
    return _written(sort, key, fields)


def software() -> str:
    """Return the entry of this package."""
    fields = {
        "author": "{The Orthodrome developers}",
        "title": "{Orthodrome: Markov chain Monte Carlo on curved and constrained spaces}",
        "version": orthodrome.__version__,
    }
    return _written("software", "orthodrome", fields)


def _written(sort: str, key: str, fields: dict[str, str]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{sort}{{{key},\n{lines}}}\n"
