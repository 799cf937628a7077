"""Execute the blocks of a page, or a script, and keep what each prints and draws: `python execute.py FILE FOLDER`.

All blocks run in one namespace, in an empty folder. As in a notebook, the value of a last line that is an expression is
shown: a figure as a picture, anything else as its text. FOLDER then has `outputs.json`, a list of
`{"text", "figures"}` for the blocks, and the pictures, whose names begin as FOLDER does up to its last dash. A script
that is no page is one block; its figure is what its function `figure` returns.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from blocks import blocks


def execute(code: str, place: str, namespace: dict[str, Any]) -> tuple[str, Any]:
    """Run a block; return what it printed and the value of its last line (None if that is no expression)."""
    linecache.cache[place] = (len(code), None, code.splitlines(keepends=True), place)
    tree = ast.parse(code, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), namespace)
    return printed.getvalue(), value


def is_figure(value: Any) -> bool:
    """Whether a value is a figure of matplotlib."""
    return any(kind.__module__.startswith("matplotlib.figure") for kind in type(value).__mro__)


def outputs(file: Path, folder: Path) -> list[dict[str, Any]]:
    """Return what every block printed and drew; pictures are written into the folder."""
    script = file.suffix == ".py"
    source = file.read_text(encoding="utf-8")
    codes = [source + "\nfigure()\n"] if script else [block.code for block in blocks(source)]
    module = types.ModuleType("page" if script else "__main__")  # dataclasses look their types up in their module
    sys.modules[module.__name__] = module
    module.__file__ = str(file)
    namespace = module.__dict__
    found = []
    for number, code in enumerate(codes):
        text, value = execute(code, f"<{file.name}, block {number + 1}>", namespace)
        figures = []
        if is_figure(value):
            figures = [f"{folder.name.rpartition('-')[0]}-{number + 1}.png"]
            value.savefig(folder / figures[0], dpi=130)
        elif value is not None:
            text += f"{value}\n"
        found.append({"text": text, "figures": figures})
    return found


def main(file: str, folder: str) -> None:
    """Run a page or script in an empty folder and write its outputs."""
    page, place = Path(file).resolve(), Path(folder).resolve()
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        found = outputs(page, place)
        os.chdir(place)
    (place / "outputs.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
