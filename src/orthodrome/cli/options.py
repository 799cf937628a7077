"""Options of a command from the fields of its job: see `orthodrome.jobs.options`."""

from __future__ import annotations

import enum
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

from orthodrome.jobs.options import Option, flag, options_of


def takes(kind: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a command whose last argument is a job, which gives it the options of the job's fields."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[:-1]
        every = [*own, *parameters(kind)]

        @functools.wraps(command)
        def called(**given: Any) -> None:  # typer calls a command by the names of its options
            settings = {name: plain(given[name]) for name in options_of(kind)}
            command(*(given[parameter.name] for parameter in own), kind(**settings))

        # both are where typer looks
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        return called

    return decorated


def parameters(kind: Any) -> list[inspect.Parameter]:
    """Return a parameter for every field of a job that is an option."""
    hints = typing.get_type_hints(kind)
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[accepted(name, hints[name], about), described(name, about)],
        )
        for name, (field, about) in options_of(kind).items()
    ]


def described(name: str, about: Option) -> Any:
    """Return what typer is told of an option."""
    text = f"{about.help} Only with {flag(about.of)} {about.only}." if about.only else about.help
    names, default = about.names or (flag(name),), about.shown or True
    return typer.Option(*names, help=text, min=about.least, max=about.most, show_default=default)


def accepted(name: str, hint: Any, about: Option) -> Any:
    """Return the type of an option: that of its field, or one of the words that it allows."""
    if not about.choices:
        return hint
    words = enum.StrEnum(name, {word.upper(): word for word in about.choices})  # type: ignore[misc]
    return words | None if type(None) in typing.get_args(hint) else words


def plain(value: Any) -> Any:
    """Return the word of a choice, and anything else as it is."""
    return value.value if isinstance(value, enum.Enum) else value
