"""Tables as people have them: separators inside quotes, marks of encodings, and cells that are wrong are told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.jobs.cells import numbers, read_cells


def read(folder: Path, content: bytes, columns: str | None = None) -> np.ndarray:
    path = folder / "in.csv"
    path.write_bytes(content)
    cells = read_cells(path, "utf-8", columns, None)
    return numbers(cells.texts, cells.columns, cells.at, path)


def test_separators_inside_quoted_names_do_not_count(tmp_path: Path) -> None:
    rows = b'"price, EUR";"size, m, or so"\n1.5;2\n3;4\n'
    np.testing.assert_array_equal(read(tmp_path, rows), [[1.5, 2], [3, 4]])
    np.testing.assert_array_equal(read(tmp_path, rows, columns='"price, EUR"'), [[1.5], [3]])
    np.testing.assert_array_equal(read(tmp_path, "\ufeffa\tb\r\n1\t2\r\n\r\n".encode()), [[1, 2]])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\na,b\n1,2\n", "begins with an empty line"),
        (b"a;b\n1,5;2\n", "'1,5' is no number; write decimal points, not commas"),
        (b"a;b\nx;2\n", "'x' is no number; choose --columns"),
        ("a,b\n1,2\n".encode("utf-16"), r"give its encoding \(utf-16\?\)"),
        ("\u00e4,b\n1,2\n".encode("latin-1"), r"give its encoding \(latin-1\?\)"),
    ],
)
def test_what_is_wrong_is_said_with_its_remedy(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        read(tmp_path, content)


def test_a_quotation_mark_that_is_left_open_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n"1,2\n3,4\n')
    with pytest.raises(BadInput, match="unexpected end of data; is a quotation mark left open"):
        read_cells(tmp_path / "a.csv", "utf-8", None, None)
