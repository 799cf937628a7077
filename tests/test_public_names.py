"""Every public name can be imported and is documented; importing the package imports next to nothing beside JAX."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import orthodrome

SOURCE = Path(orthodrome.__file__)
NAMES = [name for name in orthodrome.__all__ if not name.startswith("__")]
PENDING = ("report", "tuning")  # `report.TableTwin` and `tuning.tuner_for` do not yet name all of their parameters
DOCS = "\n".join(path.read_text() for path in (SOURCE.parents[2] / "docs").rglob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_name_is_there_and_explains_itself(name: str) -> None:
    value = getattr(orthodrome, name)
    assert value.__name__ == name
    doc = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    assert doc, f"{name} has no docstring"
    assert not doc.startswith(f"{name}("), f"{name} has only the docstring that dataclasses write"


def described(value: Any) -> str:
    """Return the docstring of a function; of a class, also those of its base classes in the package."""
    owners = value.__mro__ if inspect.isclass(value) else (value,)
    return "\n".join(one.__doc__ or "" for one in owners if one.__module__.startswith("orthodrome"))


def unnamed(value: Any) -> list[str]:
    """Return the parameters that the docstring does not name; those of protocols have no names of their own."""
    text, names = described(value), set(inspect.signature(value).parameters) - {"args", "kwargs"}
    return sorted(name for name in names if not re.search(rf"\b{name}\b", text))


def public_callables() -> dict[str, Any]:
    """Return every class and function that the package and its parts export, by its path."""
    found = {name: getattr(orthodrome, name) for name in NAMES}
    for part in (name for name in orthodrome.PACKAGES if name not in PENDING):
        module = importlib.import_module(f"orthodrome.{part}")
        found |= {f"{part}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())}
    errors = {path for path, value in found.items() if inspect.isclass(value) and issubclass(value, Exception)}
    return {path: value for path, value in found.items() if callable(value) and path not in errors}


def test_every_parameter_is_described() -> None:
    """`help()` stands alone: the docstring of a name, or of its class, names every parameter."""
    found = {path: unnamed(value) for path, value in public_callables().items()}
    assert len(found) > 200 and {path: names for path, names in found.items() if names} == {}


def test_a_parameter_without_description_would_be_seen() -> None:
    """The control of the test above."""

    def short(step_size: float, num_steps: int) -> None:
        """Do nothing for some time, of the given step_size."""

    short.__module__ = "orthodrome.test"
    assert unnamed(short) == ["num_steps"]


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


LOADED = """
import sys
before = set(sys.modules)
{code}
names = {{name for name in set(sys.modules) - before if not name.split(".")[0].startswith("_")}}
print(*sorted(names - {{name for name in names if name.split(".")[0] in sys.stdlib_module_names}}))
"""


def loaded(code: str) -> set[str]:
    """The modules beyond the standard library that a program imports, in a process of its own."""
    return set(run_python(LOADED.format(code=code)).split("\n")[-2].split())


def rooms(modules: set[str]) -> set[str]:
    """The packages of ours among them."""
    return {name.split(".")[1] for name in modules if name.startswith("orthodrome.")}


def others(modules: set[str]) -> set[str]:
    """The packages of third parties among them."""
    return {name.split(".")[0] for name in modules} - {"orthodrome"}


FIRST_EXAMPLE = "from orthodrome import FullGradient, GeodesicNUTS, Product, Sphere, Target, sample"


def test_importing_the_package_imports_nothing() -> None:
    assert loaded("import orthodrome") == {"orthodrome"}


def test_a_first_program_imports_jax_and_what_a_run_needs() -> None:
    """What costs seconds or is not needed comes late: `benchmarks/first_contact.py` has the seconds."""
    jax, ours = loaded("import jax, jax.numpy"), loaded(FIRST_EXAMPLE)
    assert others(ours) <= others(jax), "beyond what JAX itself imports"
    late = {"densities", "diagnostics", "recipe", "checks", "corpora", "kernels", "models", "plots", "report"}
    assert rooms(ours) & (late | {"experiments", "jobs", "cli"}) == set()


def test_help_imports_the_command_line_only() -> None:
    program = (
        'from orthodrome.cli.main import main\nassert main(["--help"]) == 0 and main(["reproduce", "--help"]) == 0'
    )
    seen = loaded(program)
    assert rooms(seen) == {"cli", "core", "errors", "jobs"}  # of `jobs` the dataclasses of options only
    assert others(seen) & {"jax", "numpy", "scipy", "xarray", "matplotlib", "arviz_stats", "numba", "sklearn"} == set()


def test_a_heavy_import_would_be_seen() -> None:
    """The control of the tests above."""
    assert "numpy" in others(loaded("import orthodrome.core.trees")) and rooms(loaded("import orthodrome.errors")) == {
        "errors"
    }


def test_the_page_of_names_is_up_to_date() -> None:
    """`python docs/make_reference.py` makes it."""
    place = SOURCE.parents[2] / "docs" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", place)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text(encoding="utf-8") == script.page()
