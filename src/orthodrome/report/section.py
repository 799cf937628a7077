"""A section of a page: a picture as plain numbers, a sentence that says how to read it, and the same as a table.

`kind` names the function of the page's script that draws the picture from `data`. The table is the picture's twin: what
a picture says to the eye, the table says to a screen reader, a printer and a spreadsheet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from orthodrome.report.packing import plain

MOST_ROWS = 1000
"""The largest number of rows of a table in a page; the files of the run have all of them."""


@dataclasses.dataclass(frozen=True)
class TableTwin:
    """A table: a caption, the names of its columns, and rows of texts and numbers."""

    caption: str
    head: Sequence[str]
    rows: Iterable[Sequence[Any]]

    def content(self) -> dict[str, Any]:
        """Return what the page's script reads."""
        rows = [list(row) for row in self.rows]
        cut = f" (the first {MOST_ROWS:,} of {len(rows):,} rows)" if len(rows) > MOST_ROWS else ""
        return {"caption": self.caption + cut, "head": list(self.head), "rows": plain(rows[:MOST_ROWS])}


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of a page.

    kind: the function of the page's script that draws it; title: its heading; text: how to read it
    data: what is drawn, plain numbers, texts and packed arrays; table: the same as a table, None if it is one already
    """

    kind: str
    title: str
    text: str
    data: dict[str, Any]
    table: TableTwin | None = None

    def content(self) -> dict[str, Any]:
        """Return what the page's script reads."""
        found = {"kind": self.kind, "title": self.title, "text": self.text, "data": plain(self.data)}
        return found if self.table is None else found | {"table": self.table.content()}
