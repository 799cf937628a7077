"""A Python file of the user's that defines a model: executed, with errors that name its line."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orthodrome.errors import BadInput, OrthodromeError

NAME = "orthodrome_model"
"""The name of the file as a module."""


def read_source(path: Path) -> str:
    """Return the text of a model file."""
    from orthodrome.corpora.opening import opened, whole  # the readers of matrices come along, and --help is quick

    if not path.exists():
        raise BadInput(f"there is no {path}; give a Python file that defines the model")
    if path.suffix != ".py":
        raise BadInput(f"{path} is no Python file; its name must end in .py")
    with opened(path) as file:
        return whole(file, path)


def load_model(path: Path) -> dict[str, Any]:
    """Execute a model file, and return what it defines by name.

    Files and modules beside it are found, as when it is run by Python itself.
    """
    source = read_source(path)
    try:
        code = compile(source, str(path), "exec")
    except (SyntaxError, ValueError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise BadInput(f"{path}{where}: {getattr(error, 'msg', None) or error}") from error
    spec = importlib.util.spec_from_loader(NAME, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[NAME] = module  # dataclasses and pickles look their module up
    with beside(path), explained(path):
        exec(code, module.__dict__)
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


@contextlib.contextmanager
def beside(path: Path) -> Iterator[None]:
    """Find modules in the folder of a file."""
    folder = str(path.absolute().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the file raises into one line that names its line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        mine = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {mine[-1]}" if mine else ""
        kind = "" if isinstance(error, OrthodromeError) else f"{type(error).__name__}: "
        said = " ".join(str(error).split()) or "no reason given"
        named = said.startswith(str(path)) and not kind  # our own errors may name the file already
        raise BadInput(said if named else f"{path}{where}: {kind}{said}") from error


def needed(found: dict[str, Any], name: str, path: Path, hint: str) -> Any:
    """Return what the file calls by a name, or raise."""
    if name not in found:
        raise BadInput(f"{path} defines no `{name}`; {hint}")
    return found[name]
