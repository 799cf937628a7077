"""What a fit found, as named tables and numbers: in the folder as CSV and JSON, in a terminal as columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orthodrome.core.display import for_csv, short, shown
from orthodrome.errors import CheckpointError
from orthodrome.storage import files

if TYPE_CHECKING:
    from rich.console import Console

MOST = 40
"""Rows of a table that are shown; the file has all of them."""


class NamedTable(NamedTuple):
    """A table: the names of its columns, and its rows of texts and numbers."""

    head: tuple[str, ...]
    rows: list[list[Any]]


class SampledResult(NamedTuple):
    """What was found; the first table is the one to look at first."""

    tables: dict[str, NamedTable]
    numbers: dict[str, float]
    verdict: str


def save_result(result: SampledResult, folder: Path) -> None:
    """Save every table as CSV, and all of it as result.json and summary.json."""
    for name, table in result.tables.items():
        files.write_bytes(folder / f"{name}.csv", csv_text(table.head, table.rows).encode("utf-8"))
    files.write_json(folder / "summary.json", {**result.numbers, "verdict": result.verdict})
    tables = {name: table._asdict() for name, table in result.tables.items()}
    files.write_json(folder / "result.json", {"tables": tables, "numbers": result.numbers, "verdict": result.verdict})


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV; numbers have six digits, and texts cannot be taken for formulas."""
    cell = lambda x: for_csv(x) if isinstance(x, str) else f"{x:.6g}" if isinstance(x, float) else x
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(for_csv, head))
    writer.writerows([cell(x) for x in row] for row in rows)
    return text.getvalue()


def load_result(folder: Path, command: str) -> SampledResult:
    """Load what `save_result` wrote, or raise if the fit is not finished."""
    try:
        content = json.loads((folder / "result.json").read_text("utf-8"))
        tables = {name: NamedTable(tuple(table["head"]), table["rows"]) for name, table in content["tables"].items()}
        return SampledResult(tables, content["numbers"], content["verdict"])
    except FileNotFoundError:
        go_on = f"go on with `orthodrome {command} resume {folder}`"
        raise CheckpointError(f"the fit in {folder} is not finished; {go_on}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"the result in {folder} cannot be read ({error}); fit again in a new folder") from error


def show_result(result: SampledResult, console: Console, name: str | None = None) -> None:
    """Print a table (the first, if none is named), the numbers and the verdict."""
    show_table(result.tables[name] if name is not None else next(iter(result.tables.values())), console)
    console.print(", ".join(number_text(key, value) for key, value in result.numbers.items()), soft_wrap=True)
    console.print(shown(result.verdict), soft_wrap=True)


def number_text(name: str, value: float) -> str:
    """Return a number with its name, or whether something is so in words."""
    return f"{name}: {'yes' if value else 'no'}" if isinstance(value, bool) else f"{name} {value:,.4g}"


def show_table(table: NamedTable, console: Console) -> None:
    """Print the first rows of a table, each text in a form that is safe in a terminal."""
    from rich.table import Table
    from rich.text import Text

    lines = Table(box=None, pad_edge=False)
    for name in table.head:
        lines.add_column(Text(short(name)))
    for row in table.rows[:MOST]:
        lines.add_row(*(Text(cell_text(value)) for value in row))
    console.print(lines)
    if len(table.rows) > MOST:
        console.print(f"and {len(table.rows) - MOST:,} more, in the CSV file")


def cell_text(value: Any) -> str:
    """Return a cell for a terminal."""
    return f"{value:.4g}" if isinstance(value, float) else short(str(value))
