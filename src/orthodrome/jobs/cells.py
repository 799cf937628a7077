"""Named columns of a CSV file: as numbers, or as categories. A cell that is wrong is named with its line and column."""

from __future__ import annotations

import csv
import difflib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.corpora.opening import LONGEST_LINE, lines, opened
from orthodrome.errors import BadInput

SEPARATORS, SHOWN = ",;\t", 5
"""The characters that may separate fields, and the lines that an error names."""
QUOTED, DECIMAL_COMMA = re.compile(r'"[^"]*"'), re.compile(r"[-+]?\d+,\d+")


class Cells(NamedTuple):
    """The chosen columns of a table: their names, the names of the rows, the texts row by row, and their lines."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    texts: list[list[str]]
    at: list[int]


def read_cells(path: Path, encoding: str, columns: str | None, name_column: str | None) -> Cells:
    """Read the chosen columns of a table as texts; separators are commas, semicolons or tabs."""
    with opened(path, encoding, newline="") as file:
        each_line = (line for _, line in lines(file, path))
        first = next(each_line, "")
        if not first.strip():
            raise BadInput(f"{path} is empty, or begins with an empty line; its first line must name the columns")
        separator = max(SEPARATORS, key=QUOTED.sub("", first).count)  # a quoted name may hold any of them
        header = [field.strip() for field in next(csv.reader([first], delimiter=separator), [])]
        reader, limit = csv.reader(each_line, delimiter=separator, strict=True), csv.field_size_limit(LONGEST_LINE)
        try:
            lined = [(reader.line_num + 1, row) for row in reader if row]
        except csv.Error as error:
            hint = "is a quotation mark left open, or does text follow one?"
            raise BadInput(f"{path}, line {reader.line_num + 1}: {error}; {hint}") from error
        finally:
            csv.field_size_limit(limit)
    check_lengths(lined, header, path)
    chosen = choose(header, columns, name_column, path)
    named = None if name_column is None else place(header, name_column, path)
    names = tuple(row[named] if named is not None else f"line-{number}" for number, row in lined)
    texts = [[row[column].strip() for column in chosen] for _, row in lined]
    return Cells(tuple(header[column] for column in chosen), names, texts, [number for number, _ in lined])


def check_lengths(lined: list[tuple[int, list[str]]], header: list[str], path: Path) -> None:
    """Raise if a line has more or fewer fields than the header."""
    for number, row in lined:
        if len(row) != len(header):
            raise BadInput(f"{path}, line {number}: {len(row)} fields, but the header has {len(header)}")


def choose(header: list[str], columns: str | None, name_column: str | None, path: Path) -> list[int]:
    """Return the places of the columns that are asked for, or of all but that of the names."""
    if columns is None:
        return [n for n, name in enumerate(header) if name != name_column]
    wanted = [name.strip() for name in next(csv.reader([columns]), [])]
    return [place(header, name, path) for name in dict.fromkeys(wanted)]


def check_once(columns: Iterable[str], path: Path) -> None:
    """Raise if two of the columns that are used have one name: nothing that is said of them could be told apart."""
    doubled = [(name, count) for name, count in Counter(columns).items() if count > 1]
    if doubled:
        name, count = doubled[0]
        raise BadInput(f"{path}: {count} columns are called {name!r}; rename them, or choose others with --columns")


def place(header: list[str], name: str, path: Path) -> int:
    """Return the place of a column, or raise with similar names if it is not there once."""
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise BadInput(f"{path}, line 1: {header.count(name)} columns are called {name!r}; rename them")
    like = difflib.get_close_matches(name, header, 3) or header[:12]
    raise BadInput(f"{path}, line 1: there is no column {name!r}; there is {', '.join(map(repr, like))}")


def numbers(
    cells: list[list[str]], columns: tuple[str, ...], at: list[int], path: Path, remedy: str = "choose --columns"
) -> Reals:
    """Return cells as numbers; a cell that is none, or not finite, is named, with what to do about it."""
    found = np.empty((len(cells), len(columns)))
    for row, texts in enumerate(cells):
        try:
            found[row] = [float(text or "nan") for text in texts]
        except ValueError:
            column = next(n for n, text in enumerate(texts) if not is_number(text))
            if DECIMAL_COMMA.fullmatch(texts[column]):
                remedy = "write decimal points, not commas"
            raise BadInput(
                f"{path}, line {at[row]}, column {columns[column]!r}: {texts[column][:40]!r} is no number; {remedy}"
            ) from None
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if bad.size:
        first = columns[int(np.argmin(np.isfinite(found[bad[0]])))]
        raise BadInput(f"{path}, {named(bad, at)}: empty or not finite (first in column {first!r}); remove such rows")
    return found


def is_number(text: str) -> bool:
    """Return whether a cell is empty or a number."""
    try:
        float(text or "nan")
        return True
    except ValueError:
        return False


def coded(cells: list[list[str]], columns: tuple[str, ...], at: list[int], path: Path) -> tuple[Any, Any]:
    """Return cells as codes 0, 1, ..., and each column's texts in the order of their codes."""
    bad = np.array([n for n, texts in enumerate(cells) if not all(texts)], np.int64)
    if bad.size:
        column = columns[cells[bad[0]].index("")]
        raise BadInput(f"{path}, {named(bad, at)}: empty (first in column {column!r}); remove or fill such rows")
    levels = tuple(tuple(ordered({texts[n] for texts in cells})) for n in range(len(columns)))
    codes = [{text: code for code, text in enumerate(column)} for column in levels]
    table = np.array([[codes[n][text] for n, text in enumerate(texts)] for texts in cells], np.int64)
    return table, levels


def ordered(texts: set[str]) -> list[str]:
    """Return texts in their order: that of numbers, if all of them are numbers."""
    return sorted(texts, key=float) if all(map(is_number, texts)) else sorted(texts)


def named(rows: Any, at: list[int]) -> str:
    """Return the lines of some rows in words."""
    shown = ", ".join(str(at[row]) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"line{'s' if len(rows) > 1 else ''} {shown}{more}"
