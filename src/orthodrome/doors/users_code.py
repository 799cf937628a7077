"""Errors inside the user's functions: which line of theirs, and what to write instead.

A density is traced by JAX, which raises its errors far below the user's line, among some hundred frames that are not
theirs. `explaining` finds the innermost frame of the traceback that belongs neither to this package nor to an installed
library, and says what JAX wants there.
"""

from __future__ import annotations

import contextlib
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

import jax

import orthodrome
from orthodrome.errors import BadInput, OrthodromeError

ROOTS = tuple(
    str(Path(folder).resolve())
    for folder in {*orthodrome.__path__, *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))}
)
REMEDIES: tuple[tuple[type[Exception], str], ...] = (
    (
        jax.errors.TracerBoolConversionError,
        "a Python `if`, `and` or `while` cannot look at the value of a parameter: write jnp.where(condition, a, b)",
    ),
    (
        jax.errors.TracerArrayConversionError,
        "NumPy cannot compute with parameters: write jnp in place of np",
    ),
    (
        jax.errors.ConcretizationTypeError,
        "float(), int() and round() cannot look at the value of a parameter: keep the array, and write jnp in place of "
        "np and math",
    ),
    (
        jax.errors.TracerIntegerConversionError,
        "a parameter cannot be the index of a list: use jnp.take, or an array of jnp",
    ),
    (
        jax.errors.NonConcreteBooleanIndexError,
        "an array cannot be cut by a condition on parameters: write jnp.where(condition, a, b)",
    ),
)


@contextlib.contextmanager
def explaining(name: str) -> Iterator[None]:
    """Turn what a user's function, called `name`, raises inside this context into a `BadInput` that names its line."""
    try:
        yield
    except OrthodromeError:
        raise
    except Exception as error:
        line = users_line(error) or ""
        raise BadInput(f"`{name}` fails{line}: {_first_line(error)}{_remedy(error)}") from error


def users_line(error: BaseException) -> str | None:
    """Return where the user's own code raised an error, as ` at file:line (the line)`; None if none of it did."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith("<frozen") and not _installed(frame.filename)]
    if not theirs:
        return None
    last = theirs[-1]
    source = f" ({last.line})" if last.line else ""
    return f" at {Path(last.filename).name}:{last.lineno}{source}"


def _installed(filename: str) -> bool:
    return str(Path(filename).resolve()).startswith(ROOTS)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__


def _remedy(error: BaseException) -> str:
    return next((f"; {text}" for kind, text in REMEDIES if isinstance(error, kind)), "")
