"""Where a command reads and writes, looked at before anything heavy is imported: the usual slips answer at once."""

from __future__ import annotations

from pathlib import Path

from orthodrome.errors import BadInput


def check_places(input: Path | None, output: Path) -> None:
    """Raise if the input is not there or an empty file, or if the output is a file; None: there is no input."""
    if input is not None and not input.exists():
        raise BadInput(f"there is no {input}; give a file that is there")
    if input is not None and input.is_file() and not input.stat().st_size:
        raise BadInput(f"{input} is empty (0 bytes); give a file with data")
    if output.exists() and not output.is_dir():
        raise BadInput(f"{output} is a file, not a folder; choose another --output")
