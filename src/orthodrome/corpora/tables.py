"""Texts in a table: a CSV file with a header and a column of texts.

The column is named with `text_column`; else it is the one called `text`, or the only one. Columns `name` (or `id`,
`title`) and `label` are read too if they are there. Fields are separated by commas, semicolons or tabs, whichever the
header has most of; quoted fields may hold line breaks, as spreadsheets write them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from orthodrome.corpora.opening import LONGEST_LINE, lines, opened
from orthodrome.corpora.texts import NAMES, Text, printable
from orthodrome.errors import BadInput

SEPARATORS = ",;\t"
"""The characters that may separate fields."""


def table_texts(path: Path, encoding: str = "utf-8", text_column: str | None = None) -> Iterator[Text]:
    """Yield the rows of a table as texts; rows without a text are skipped."""
    with opened(path, encoding, newline="") as file:
        each_line = (line for _, line in lines(file, path))
        first = next(each_line, "")
        separator = max(SEPARATORS, key=first.count)
        header = _fields(next(csv.reader([first], delimiter=separator), []))
        column = _text_column(header, text_column, path)
        reader, limit = csv.reader(each_line, delimiter=separator, strict=True), csv.field_size_limit(LONGEST_LINE)
        try:
            for row in reader:
                yield from _row(row, header, column, path, reader.line_num + 1)
        except csv.Error as error:
            raise BadInput(f"{path}, line {reader.line_num + 1}: {error}") from error
        finally:
            csv.field_size_limit(limit)


def _row(row: list[str], header: list[str], column: int, path: Path, number: int) -> Iterator[Text]:
    if len(row) not in (0, len(header)):
        raise BadInput(
            f"{path}, line {number}: {len(row)} fields, but the header has {len(header)}: is a quotation mark missing?"
        )
    if row and row[column].strip():
        named = dict(zip(header, row, strict=True))
        name = next((named[key] for key in NAMES if named.get(key)), f"line-{number}")
        yield Text(printable(name), row[column], named.get("label"))


def _fields(row: list[str]) -> list[str]:
    return [field.strip() for field in row]


def _text_column(header: list[str], wanted: str | None, path: Path) -> int:
    """Return the number of the column that holds the texts."""
    name = wanted or ("text" if "text" in header else header[0] if len(header) == 1 else None)
    if not any(header):
        raise BadInput(f"{path}, line 1: empty; it must name the columns")
    if name is not None and header.count(name) > 1:
        raise BadInput(f"{path}, line 1: {header.count(name)} columns are called {name!r}; rename them")
    if name in header:
        return header.index(name)
    there = ", ".join(map(repr, header[:12])) or "none"
    asked = f"there is no column {wanted!r}" if wanted else "say which column holds the texts (--text-column)"
    raise BadInput(f"{path}, line 1: {asked}; the columns are {there}")
