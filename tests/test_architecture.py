"""Imports go one way: a module uses its own group and those before it, and no two modules use each other."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "orthodrome"
GROUPS = [
    "errors pytree trees steps special random",
    "manifolds densities",
    "targets gradients schedules",
    "splitting samplers recipe",
    "parallel convergence summaries diagnostics evidence draws doors files writer store memory fingerprint checkpoint "
    "progress run",
    "corpora models",
    "plots report topics experiments terminal cli_topics cli __main__",
]
LEVEL = {module: level for level, names in enumerate(GROUPS) for module in names.split()}


def imports(text: str) -> set[str]:
    """Every module of ours that a source text imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("orthodrome.") for name in found if name.startswith("orthodrome.")}


def modules() -> dict[str, str]:
    """Dotted name inside the package -> source."""
    paths = [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths}
    return {name: path.read_text() for path, name in names.items()}


def wrong_way(name: str, text: str) -> set[str]:
    """Imports from a group after the module's own."""
    top = LEVEL[name.split(".")[0]]
    return {other for other in imports(text) if LEVEL.get(other.split(".")[0], -1) > top}


def test_every_module_has_a_place() -> None:
    assert {name.split(".")[0] for name in modules()} <= set(LEVEL)


def test_imports_go_one_way() -> None:
    assert {name: wrong for name, text in modules().items() if (wrong := wrong_way(name, text))} == {}


def test_nothing_imports_in_a_circle() -> None:
    sources = modules()
    uses = {name: {other for other in imports(text) if other in sources} - {name} for name, text in sources.items()}
    # A package's own __init__ gathers its files; a file that uses a sister goes to the sister, not to the package.
    uses = {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in uses.items()}
    graphlib.TopologicalSorter(uses).prepare()


def test_no_relative_imports() -> None:
    nodes = ((name, node) for name, text in modules().items() for node in ast.walk(ast.parse(text)))
    assert [name for name, node in nodes if isinstance(node, ast.ImportFrom) and node.level] == []


def test_a_wrong_import_is_seen() -> None:
    assert wrong_way("trees", "def f():\n    from orthodrome.run import sample\n") == {"run", "run.sample"}
    assert wrong_way("run.loop", "import orthodrome.trees") == set()
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
