"""A docstring of the house style as Markdown: sentences, equations (indented), and parameters (`name, name: text`)."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

PARAMETER = re.compile(r"^(?P<names>\*{0,2}[A-Za-z_]\w*(?:, \*{0,2}[A-Za-z_]\w*)*): (?P<text>\S.*)$")


class Parsed(NamedTuple):
    """The text of a docstring, and its parameters with what is said of them."""

    text: str
    parameters: list[tuple[str, str]]


def parsed(value: Any, known: set[str]) -> Parsed:
    """Return the parts of a docstring; a line `name: text` is a parameter only if the name is known."""
    lines = (inspect.getdoc(value) or "").split("\n")
    text: list[str] = []
    found: list[tuple[str, str]] = []
    inside = False
    for line in lines:
        match = PARAMETER.match(line)
        if match and known & {name.strip("*") for name in match["names"].split(", ")}:
            for names, said in separated(match["names"], match["text"], known):
                found.append((names, said))
            inside = True
        elif inside and line.startswith("    "):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            inside = False
            text.append(line)
    return Parsed(escaped("\n".join(text).strip()), [(names, escaped(said)) for names, said in found])


def separated(names: str, text: str, known: set[str]) -> list[tuple[str, str]]:
    """Return the parameters of one line: several may share it, `a: this; b: that`."""
    parts = re.split(r"; (?=(\w+(?:, \w+)*): )", text)
    found = [(names, parts[0])]
    for name, rest in zip(parts[1::2], parts[2::2], strict=True):
        said = rest.removeprefix(f"{name}: ")
        if set(name.split(", ")) <= known:
            found.append((name, said))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}; {rest}")
    return found


def escaped(text: str) -> str:
    """Return text in which nothing but code in backticks and indented lines is Markdown."""
    return "\n".join(line if line.startswith("    ") else inline(line) for line in text.split("\n"))


def inline(line: str) -> str:
    """Return a line with the marks of Markdown escaped outside backticks."""
    parts = line.split("`")
    return "`".join(part if n % 2 else re.sub(r"([\\*_<>\[\]$|])", r"\\\1", part) for n, part in enumerate(parts))
