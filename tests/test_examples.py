"""The numbered examples run as they are, in an empty folder, and say something; the fast suite reads what they import.

The README's example, which is much like the first of them, is always run.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("[0-9][0-9]_*.py"))
every = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


@pytest.mark.slow
@every
def test_example(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip()


@every
def test_what_an_example_imports_is_there(path: Path) -> None:
    tree = ast.parse(path.read_text())
    wanted = [
        (node.module, name.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
    ]
    ours = [(module, name) for module, name in wanted if module and module.split(".")[0] == "orthodrome"]
    assert ours, "an example is of this package"
    assert [(m, name) for m, name in ours if not hasattr(importlib.import_module(m), name)] == []


def test_examples_are_numbered_without_gaps() -> None:
    assert [int(path.stem[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
