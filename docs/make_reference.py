"""Make `reference.md`: every public name with the first sentence of its docstring, by group and by package."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import orthodrome

PAGE = Path(__file__).parent / "reference" / "reference.md"
HEAD = """# All public names

Made by `docs/make_reference.py` from the names that the package and its parts export; `help(name)` has the rest.

## At the top

What a first program and the papers' vocabulary need: `from orthodrome import NAME`.
"""
PACKAGES = """
## In packages

The rest is imported from its package: `from orthodrome.gradients import LatentGradient`.
"""


def first_sentence(value: object) -> str:
    """Return the first sentence of a docstring on one line, safe inside a table."""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", text)[0].replace("|", "\\|")


def table(names: list[str], home: ModuleType) -> str:
    """Return a table of names."""
    rows = [f"| `{name}` | {first_sentence(getattr(home, name))} |" for name in names]
    return "\n".join(["| name | what it is |", "|---|---|", *rows]) + "\n"


def others(package: str) -> list[str]:
    """Return the names that a package exports and the top level does not."""
    exported = getattr(importlib.import_module(f"orthodrome.{package}"), "__all__", [])
    return [name for name in exported if name not in orthodrome.__all__]


def page() -> str:
    """Return the text of the page."""
    groups = {
        group: [n for names in homes.values() for n in names.split()] for group, homes in orthodrome.GROUPS.items()
    }
    top = "".join(f"\n### {group.capitalize()}\n\n{table(names, orthodrome)}" for group, names in groups.items())
    found = {package: names for package in orthodrome.PACKAGES if (names := others(package))}
    rest = "".join(
        f"\n### `orthodrome.{package}`\n\n{table(names, importlib.import_module(f'orthodrome.{package}'))}"
        for package, names in found.items()
    )
    return HEAD + top + PACKAGES + rest


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
