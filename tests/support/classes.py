"""Which classes of the package have given methods, read from its source."""

from __future__ import annotations

import ast
from pathlib import Path

import orthodrome


def classes_with(own: str, *others: str) -> set[str]:
    """Return the names of the classes, not abstract, that define the first method and define or inherit the others."""
    texts = (path.read_text() for path in Path(orthodrome.__file__).parent.rglob("*.py"))
    texts = (text for text in texts if "class " in text)
    nodes = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    by_name = {node.name: node for node in nodes}
    return {
        node.name
        for node in nodes
        if not is_abstract(node) and own in defined(node) and set(others) <= inherited(node, by_name)
    }


def inherited(node: ast.ClassDef, by_name: dict[str, ast.ClassDef]) -> set[str]:
    """Return the methods of a class and of those of its bases that are in the package."""
    bases = (by_name[name] for base in node.bases if (name := ast.unparse(base)) in by_name)
    return defined(node).union(*(inherited(base, by_name) for base in bases))


def is_abstract(node: ast.ClassDef) -> bool:
    methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
    marks = {ast.unparse(mark) for method in methods for mark in method.decorator_list}
    return bool({ast.unparse(base) for base in node.bases} & {"abc.ABC", "Protocol"}) or "abc.abstractmethod" in marks


def defined(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
