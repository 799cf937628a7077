"""The reference by group: every public name with its signature, its docstring, its parameters and its methods."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import escaped, parsed

import orthodrome

ROOT = Path(__file__).parents[2]
WIDTH = 88
WITH_GROUP = {"targets": "targets and gradients", "gradients": "targets and gradients", "checks": "recipe"}
"""The packages whose names are on the page of a group that has another name."""


@cache
def groups() -> dict[str, list[tuple[str, str]]]:
    """Return the names by page, each with where it is imported from."""
    found = {
        group: [("orthodrome", n) for names in homes.values() for n in names.split()]
        for group, homes in orthodrome.GROUPS.items()
    }
    for package in orthodrome.PACKAGES:
        exported = getattr(importlib.import_module(f"orthodrome.{package}"), "__all__", [])
        others = [(f"orthodrome.{package}", name) for name in exported if name not in orthodrome.__all__]
        if others:
            found.setdefault(WITH_GROUP.get(package, package), []).extend(others)
    return found


def path_of(group: str) -> str:
    """Return the path of a group's page."""
    return f"reference/api/{group.replace(' ', '-')}.md"


def menu() -> list[tuple[str, str]]:
    """Return titles and paths."""
    return [(group.capitalize(), path_of(group)) for group in groups()]


def pages() -> dict[str, str]:
    """Return the pages by their paths."""
    return {path_of(group): page(group, names) for group, names in groups().items()}


def page(group: str, names: list[tuple[str, str]]) -> str:
    """Return the page of a group."""
    entries = [entry(home, name) for home, name in names]
    return f"# {group.capitalize()}\n\n" + "\n".join(entries)


def entry(home: str, name: str) -> str:
    """Return what is said of one name."""
    value = getattr(importlib.import_module(home), name)
    if not (inspect.isclass(value) or callable(value)):
        return f"## `{name}` {{ #{name} }}\n\n`from {home} import {name}`\n"
    parameters = signature_of(value)
    known = set(parameters.parameters) if parameters else set()
    doc = parsed(value, known | fields(value))
    file = Path(inspect.getsourcefile(inspect.unwrap(value)) or "").resolve()
    where = f" in `{file.relative_to(ROOT)}`" if file.is_relative_to(ROOT) else ""
    parts = [f"## `{name}` {{ #{name} }}", f"`from {home} import {name}`{where}"]
    if parameters is not None and not (inspect.isclass(value) and issubclass(value, BaseException)):
        parts.append(f"```py\n{written(name, parameters)}\n```")
    parts.append(doc.text)
    if doc.parameters:
        parts.append(table(doc.parameters))
    if inspect.isclass(value):
        parts.append(methods(value))
    return "\n\n".join(part for part in parts if part) + "\n"


def fields(value: Any) -> set[str]:
    """Return the names of attributes that a class declares."""
    return set(getattr(value, "__annotations__", {})) if inspect.isclass(value) else set()


def signature_of(value: Any) -> inspect.Signature | None:
    """Return the signature, or None where Python knows none."""
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


def written(name: str, signature: inspect.Signature) -> str:
    """Return a call with its parameters, one on a line if they do not fit on one, without quotes around types."""
    parts = [plain(str(p)) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    kinds = [p.kind for p in signature.parameters.values() if p.name not in ("self", "cls")]
    only = inspect.Parameter.KEYWORD_ONLY
    if only in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(only), "*")
    result = signature.return_annotation
    end = ")" if result in (inspect.Signature.empty, None, "None") else f") -> {plain(shown_type(result))}"
    line = f"{name}({', '.join(parts)}{end}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + end


def shown_type(annotation: Any) -> str:
    """Return a type as it is written."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def plain(text: str) -> str:
    """Return a parameter without quotes around its type and without addresses of functions."""
    text = re.sub(r": '([^']*)'", r": \1", text)
    text = re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", text)
    text = re.sub(r"<factory>", "...", text)
    return text.replace("'", '"')


def table(rows: list[tuple[str, str]]) -> str:
    """Return the parameters as a table."""
    lines = [f"| `{names}` | {text} |" for names, text in rows]
    return "\n".join(["| parameter | meaning |", "|---|---|", *lines])


def methods(value: type) -> str:
    """Return the public methods and properties that the package defines, each with the first sentence of its text."""
    rows = []
    for name, member in inspect.getmembers(value):
        owner = next((kind for kind in value.__mro__ if name in vars(kind)), object)
        if name.startswith("_") or not owner.__module__.startswith("orthodrome"):
            continue
        if isinstance(member, property):
            rows.append(f"| `{name}` | {sentence(member)} |")
        elif callable(member) and not inspect.isclass(member):
            signature = signature_of(member)
            call = ", ".join(p for p in signature.parameters if p not in ("self", "cls")) if signature else ""
            rows.append(f"| `{name}({call})` | {sentence(member)} |")
    lines = ["| method | what it does |", "|---|---|", *rows]
    return "\n".join(['??? abstract "methods and properties"', "", *(f"    {line}" for line in lines)]) if rows else ""


def sentence(value: Any) -> str:
    """Return the first sentence of a docstring on one line."""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return escaped(re.split(r"(?<=\.)\s", text)[0])
