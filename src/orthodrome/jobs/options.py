"""The options of a command, declared where the command's settings are: in the fields of the job's dataclass.

    num_topics: int = option(20, "The number of topics.", least=1)

The command line is made from these fields, and the job checks itself against them, so that both say the same.
"""

from __future__ import annotations

import dataclasses
from typing import Any

KEY = "option"


@dataclasses.dataclass(frozen=True)
class Option:
    """What the command line says of a setting and lets in.

    help: for `--help`; least, most: the range of a number; choices: the words that are allowed
    names: other names than that of the field; only: the model that has the setting, if not all have it
    """

    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    only: str = ""


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    only: str = "",
) -> Any:
    """Return a field of a dataclass that is an option of its command; see `Option`."""
    return dataclasses.field(default=default, metadata={KEY: Option(help, least, most, choices, names, only)})


def options_of(kind: Any) -> dict[str, tuple[dataclasses.Field[Any], Option]]:
    """Return the fields of a dataclass that are options, by name."""
    return {field.name: (field, field.metadata[KEY]) for field in dataclasses.fields(kind) if KEY in field.metadata}


def flag(name: str) -> str:
    """Return the option of a field as it is written on the command line."""
    return "--" + name.replace("_", "-")
