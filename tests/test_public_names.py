"""Every public name can be imported and is documented; importing the package costs next to nothing beside JAX."""

from __future__ import annotations

import ast
import inspect
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import orthodrome

SOURCE = Path(orthodrome.__file__)
NAMES = [name for name in orthodrome.__all__ if not name.startswith("__")]
DOCS = "\n".join(path.read_text() for path in (SOURCE.parents[2] / "docs").glob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_name_is_there_and_explains_itself(name: str) -> None:
    value = getattr(orthodrome, name)
    assert value.__name__ == name
    doc = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    assert doc, f"{name} has no docstring"
    assert not doc.startswith(f"{name}("), f"{name} has only the docstring that dataclasses write"


@pytest.mark.parametrize("name", NAMES)
def test_name_is_in_the_documentation(name: str) -> None:
    assert f"`{name}" in DOCS or f"{name}(" in DOCS


def test_type_checkers_see_the_same_names() -> None:
    nodes = ast.walk(ast.parse(SOURCE.read_text()))
    seen = {
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("orthodrome.")
        for alias in node.names
    }
    listed = {
        (f"orthodrome.{m}", n) for group in orthodrome.GROUPS.values() for m, ns in group.items() for n in ns.split()
    }
    assert seen == listed


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Spheer"):
        _ = orthodrome.Spheer


def test_no_module_hides_a_name() -> None:
    """A module `summary.py` would take the place of the function `summary` as soon as anything imports it."""
    folders = {path.stem for path in SOURCE.parent.iterdir()}
    assert folders & set(NAMES) == set()


def test_dir_lists_the_names() -> None:
    assert set(NAMES) <= set(dir(orthodrome))


def run_python(code: str) -> str:
    """As an installed package runs: its modules compiled once, whatever the shell says of bytecode."""
    dropped = ("COV_", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def processor_seconds() -> float:
    """Spent so far by finished child processes: unlike the clock, it does not depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(code: str, repeats: int = 3) -> float:
    """The processor time of a program, best of a few."""
    times = []
    for _ in range(repeats):
        began = processor_seconds()
        run_python(code)
        times.append(processor_seconds() - began)
    return min(times)


def test_importing_everything_costs_little_more_than_jax() -> None:
    """Even the names that a first program touches; the promise is 0.2 s beside `import jax` for the package alone."""
    jax = seconds("import jax, jax.numpy")
    alone = seconds("import orthodrome, jax, jax.numpy")
    assert alone < jax + 0.2
    touched = "from orthodrome import Sphere, Product, Target, FullGradient, GeodesicNUTS, sample"
    assert seconds(touched) < jax + 0.5


def test_help_does_not_load_jax() -> None:
    code = """
import sys
from orthodrome.cli.main import main
assert main(["--help"]) == 0 and main(["reproduce", "--help"]) == 0
heavy = {"jax", "numpy", "scipy", "xarray", "matplotlib", "arviz_stats"} & set(sys.modules)
assert not heavy, heavy
"""
    assert "reproduce" in run_python(code)


def test_heavy_packages_come_late() -> None:
    code = """
import sys
from orthodrome import Sphere, Target, FullGradient, GeodesicNUTS, sample
heavy = {"arviz_stats", "arviz_base", "matplotlib", "xarray", "zarr", "pandas"} & set(sys.modules)
assert not heavy, heavy
"""
    run_python(code)
