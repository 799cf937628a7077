"""Which classes of the package have given methods, read from its source."""

from __future__ import annotations

import ast
from pathlib import Path

import orthodrome


def classes_with(*methods: str) -> set[str]:
    """Return the names of the classes that define these methods themselves and are not abstract."""
    found = set()
    for path in Path(orthodrome.__file__).parent.rglob("*.py"):
        classes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]
        found |= {node.name for node in classes if not is_abstract(node) and set(methods) <= defined(node)}
    return found


def is_abstract(node: ast.ClassDef) -> bool:
    return bool({ast.unparse(base) for base in node.bases} & {"abc.ABC", "Protocol"})


def defined(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
