"""The options of a command, declared where the command's settings are: in the fields of the job's dataclass.

    num_topics: int = option(20, "The number of topics.", least=1)

The command line is made from these fields, and the job checks itself against them, so that both say the same.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from orthodrome.errors import BadInput

KEY = "option"


@dataclasses.dataclass(frozen=True)
class Option:
    """What the command line says of a setting and lets in.

    help: for `--help`; least, most: the range of a number; choices: the words that are allowed
    names: other names than that of the field
    only: the model that has the setting, if not all have it; of: the setting that says which model it is
    shown: the default in words, if it cannot be seen
    """

    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    only: str = ""
    of: str = "model"
    shown: str = ""


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    only: str = "",
    of: str = "model",
    shown: str = "",
) -> Any:
    """Return a field of a dataclass that is an option of its command; see `Option`."""
    return dataclasses.field(
        default=default, metadata={KEY: Option(help, least, most, choices, names, only, of, shown)}
    )


def options_of(kind: Any) -> dict[str, tuple[dataclasses.Field[Any], Option]]:
    """Return the fields of a dataclass that are options, by name."""
    return {field.name: (field, field.metadata[KEY]) for field in dataclasses.fields(kind) if KEY in field.metadata}


def flag(name: str) -> str:
    """Return the option of a field as it is written on the command line."""
    return "--" + name.replace("_", "-")


def check_numbers(job: Any) -> None:
    """Raise if a number of a job is not finite, or its seed is not one that every generator takes."""
    for name in options_of(job):
        value = getattr(job, name)
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{flag(name)} is {value}; it must be a finite number")
    if not 0 <= job.seed < 2**32:
        raise BadInput(f"the seed is {job.seed}; it must be from 0 to 4294967295")


def check_owners(job: Any) -> None:
    """Raise if a setting belongs to another model than the one of the job."""
    for name, (field, about) in options_of(job).items():
        if about.only and about.only != getattr(job, about.of) and getattr(job, name) != field.default:
            own, chosen = flag(about.of), getattr(job, about.of)
            raise BadInput(f"{flag(name)} belongs to {own} {about.only}; leave it out with {own} {chosen}")
