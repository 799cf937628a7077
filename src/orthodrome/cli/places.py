"""Where a command reads and writes, looked at before anything heavy is imported: two usual slips answer at once.

A file that is not there, and a path that cannot be, are told by the job itself, after its settings.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from orthodrome.errors import BadInput


def check_places(input: Path | None, output: Path) -> None:
    """Raise if the input is an empty file, or if the output is a file; None: there is no input."""
    with contextlib.suppress(OSError):
        if input is not None and input.is_file() and not input.stat().st_size:
            raise BadInput(f"{input} is empty (0 bytes); give a file with data")
        if output.exists() and not output.is_dir():
            raise BadInput(f"{output} is a file, not a folder; choose another --output")
